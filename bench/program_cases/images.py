"""Programs that see images: batches are small, as a laptop's would be."""

from .program import program


def _training(t, model, images, labels, optimizer):
    criterion = t.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("convnet")
def convnet(t, numbers, small):
    """Digits with two convolutions."""
    nn, F = t.nn, t.nn.functional
    batch = 2 if small else 16
    side, width, hidden = (12, 2, 5) if small else (28, 16, 64)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, width, 3, 1)
            self.conv2 = nn.Conv2d(width, 2 * width, 3, 1)
            self.fc1 = nn.Linear(2 * width * ((side - 4) // 2) ** 2, hidden)
            self.fc2 = nn.Linear(hidden, 10)

        def forward(self, x):
            x = F.relu(self.conv1(x))
            x = F.relu(self.conv2(x))
            x = F.max_pool2d(x, 2)
            x = t.flatten(x, 1)
            x = F.relu(self.fc1(x))
            return F.log_softmax(self.fc2(x), dim=1)

    model = numbers.filled(Net())
    optimizer = t.optim.Adadelta(model.parameters(), lr=1.0)
    images, labels = numbers.normal(batch, 1, side, side), numbers.below(10, batch)

    def step():
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("resnet")
def resnet(t, numbers, small):
    """Residual blocks with batch normalisation."""
    nn, F = t.nn, t.nn.functional
    batch, side, widths = (2, 8, (2, 4)) if small else (8, 32, (8, 16, 32))

    class Block(nn.Module):
        def __init__(self, before, width, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(width)
            self.shortcut = nn.Sequential()
            if stride != 1 or before != width:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width)
                )

        def forward(self, x):
            out = F.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            return F.relu(out + self.shortcut(x))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, widths[0], 3, 1, 1, bias=False)
            self.bn = nn.BatchNorm2d(widths[0])
            blocks, before = [], widths[0]
            for n, width in enumerate(widths):
                blocks.append(Block(before, width, 1 if n == 0 else 2))
                before = width
            self.layers = nn.Sequential(*blocks)
            self.linear = nn.Linear(before, 10)

        def forward(self, x):
            out = self.layers(F.relu(self.bn(self.stem(x))))
            out = F.adaptive_avg_pool2d(out, 1)
            return self.linear(out.view(out.size(0), -1))

    model = numbers.filled(Net())
    optimizer = t.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    images, labels = numbers.normal(batch, 3, side, side), numbers.below(10, batch)
    return _training(t, model, images, labels, optimizer)


@program("unet")
def unet(t, numbers, small):
    """Segmentation: down, up, and the way across."""
    nn = t.nn
    batch, side, width = (1, 8, 2) if small else (2, 32, 8)

    def twice(before, after):
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
        )  # fmt: skip

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.d1, self.d2 = twice(3, width), twice(width, 2 * width)
            self.bottom = twice(2 * width, 4 * width)
            self.pool = nn.MaxPool2d(2)
            self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
            self.u2 = twice(4 * width, 2 * width)
            self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
            self.u1 = twice(2 * width, width)
            self.out = nn.Conv2d(width, 1, 1)

        def forward(self, x):
            a = self.d1(x)
            b = self.d2(self.pool(a))
            x = self.bottom(self.pool(b))
            x = self.u2(t.cat([b, self.up2(x)], dim=1))
            x = self.u1(t.cat([a, self.up1(x)], dim=1))
            return self.out(x)

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    images = numbers.normal(batch, 3, side, side)
    masks = (numbers.uniform(batch, 1, side, side) > 0.5).float()
    criterion = nn.BCEWithLogitsLoss()

    def step():
        optimizer.zero_grad()
        logits = model(images)
        p = t.sigmoid(logits)
        dice = 1 - (2 * (p * masks).sum() + 1) / (p.sum() + masks.sum() + 1)
        loss = criterion(logits, masks) + dice
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("vit")
def vit(t, numbers, small):
    """A small vision transformer, with attention written out."""
    nn = t.nn
    batch, side, patch, dim, heads, depth = (2, 8, 4, 8, 2, 1) if small else (8, 32, 8, 64, 4, 3)
    count = (side // patch) ** 2

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(dim)
            self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
            self.to_out = nn.Linear(dim, dim)
            self.scale = (dim // heads) ** -0.5

        def forward(self, x):
            b, n, _ = x.shape
            q, k, v = (
                each.view(b, n, heads, -1).transpose(1, 2)
                for each in self.to_qkv(self.norm(x)).chunk(3, dim=-1)
            )
            attention = (t.matmul(q, k.transpose(-1, -2)) * self.scale).softmax(dim=-1)
            out = t.matmul(attention, v).transpose(1, 2).reshape(b, n, dim)
            return self.to_out(out)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Linear(3 * patch * patch, dim)
            self.cls = nn.Parameter(numbers.normal(1, 1, dim))
            self.position = nn.Parameter(numbers.normal(1, count + 1, dim))
            self.layers = nn.ModuleList()
            for _ in range(depth):
                feed = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(),
                                     nn.Linear(2 * dim, dim))  # fmt: skip
                self.layers.append(nn.ModuleList([Attention(), feed]))
            self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 10))

        def forward(self, images):
            b, s = images.shape[0], side // patch
            x = images.reshape(b, 3, s, patch, s, patch).permute(0, 2, 4, 3, 5, 1)
            x = self.embed(x.reshape(b, count, -1))
            x = t.cat((self.cls.expand(b, -1, -1), x), dim=1)
            x = x + self.position[:, : count + 1]
            for attention, feed in self.layers:
                x = attention(x) + x
                x = feed(x) + x
            return self.head(x[:, 0])

    model = numbers.filled(Net())
    optimizer = t.optim.AdamW(model.parameters(), lr=1e-3)
    images, labels = numbers.normal(batch, 3, side, side), numbers.below(10, batch)
    return _training(t, model, images, labels, optimizer)
