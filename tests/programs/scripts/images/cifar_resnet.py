"""A small ResNet on pictures that are flipped and cropped with tensor operations."""

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

device = "cuda" if torch.cuda.is_available() else "cpu"
cudnn.benchmark = True
best_acc = 0


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super(BasicBlock, self).__init__()
        self.conv1 = nn.Conv2d(
            in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False
        )
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(
                    in_planes, self.expansion * planes, kernel_size=1, stride=stride, bias=False
                ),
                nn.BatchNorm2d(self.expansion * planes),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, block, num_blocks, num_classes=10):
        super().__init__()
        self.in_planes = 4
        self.conv1 = nn.Conv2d(3, 4, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.layer1 = self._make_layer(block, 4, num_blocks[0], stride=1)
        self.layer2 = self._make_layer(block, 8, num_blocks[1], stride=2)
        self.layer3 = self._make_layer(block, 16, num_blocks[2], stride=2)
        self.linear = nn.Linear(16 * block.expansion, num_classes)

    def _make_layer(self, block, planes, num_blocks, stride):
        strides = [stride] + [1] * (num_blocks - 1)
        layers = []
        for stride in strides:
            layers.append(block(self.in_planes, planes, stride))
            self.in_planes = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer3(self.layer2(self.layer1(out)))
        out = F.avg_pool2d(out, 4)
        out = out.view(out.size(0), -1)
        return self.linear(out)


def initialise(m, rng=np.random.RandomState(0)):
    if isinstance(m, nn.Conv2d):
        fan_in = m.in_channels * m.kernel_size[0] * m.kernel_size[1]
        w = rng.randn(*m.weight.shape) * np.sqrt(2.0 / fan_in)
        m.weight.data.copy_(torch.from_numpy(w))
    elif isinstance(m, nn.Linear):
        m.weight.data = torch.tensor(rng.randn(*m.weight.shape) * 0.1, dtype=torch.float32)
        m.bias.data.zero_()
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.ones_(m.weight)
        nn.init.constant_(m.bias, 0)


def augment(images, rng):
    """Flips and crops, each picture by itself."""
    flip = torch.from_numpy(rng.rand(len(images)) < 0.5)
    images = torch.where(flip[:, None, None, None], images.flip(-1), images)
    padded = F.pad(images, (2, 2, 2, 2), mode="reflect")
    offsets = rng.randint(0, 5, (len(images), 2)).tolist()
    return torch.stack([p[:, y : y + 16, x : x + 16] for p, (y, x) in zip(padded, offsets)])


rng = np.random.RandomState(3)
prototypes = rng.rand(10, 3, 16, 16)
labels = torch.from_numpy(rng.randint(0, 10, 64))
pictures = torch.tensor(prototypes[labels.numpy()] + 0.2 * rng.randn(64, 3, 16, 16)).float()
mean = pictures.mean(dim=(0, 2, 3), keepdim=True)
std = pictures.std(dim=(0, 2, 3), keepdim=True)
pictures = (pictures - mean) / std

net = ResNet(BasicBlock, [1, 1, 1]).to(device)
net.apply(initialise)
if device == "cuda":
    net = torch.nn.DataParallel(net)

criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)

for epoch in range(4):
    net.train()
    train_loss, correct, total = 0.0, 0, 0
    for start in range(0, 64, 32):
        inputs = augment(pictures[start : start + 32], rng).to(device)
        targets = labels[start : start + 32].to(device)
        optimizer.zero_grad(set_to_none=True)
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        _, predicted = outputs.max(1)
        total += targets.size(0)
        correct += predicted.eq(targets).sum().item()
    scheduler.step()
    print(f"epoch {epoch} loss {train_loss / 2:.6f} acc {100.0 * correct / total:.2f}%")
    print("learning rate %.5f" % scheduler.get_last_lr()[0])

net.eval()
with torch.inference_mode():
    print(f"final loss {criterion(net(pictures.to(device)), labels.to(device)).item():.6f}")
