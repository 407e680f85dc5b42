"""Programs with fully connected networks and an optimiser."""

import math
from itertools import pairwise

from .program import program


@program("mlp")
def mlp(t, numbers, small):
    """Digits with three layers."""
    nn = t.nn
    batch, pixels, hidden = (4, 6, 5) if small else (64, 784, 128)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(pixels, hidden)
            self.fc2 = nn.Linear(hidden, hidden)
            self.fc3 = nn.Linear(hidden, 10)

        def forward(self, x):
            x = nn.functional.relu(self.fc1(x))
            x = nn.functional.relu(self.fc2(x))
            return self.fc3(x)

    model = numbers.filled(Net())
    criterion = nn.CrossEntropyLoss()
    optimizer = t.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = numbers.normal(batch, pixels), numbers.below(10, batch)

    def step():
        optimizer.zero_grad()
        outputs = model(images)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        _, predicted = t.max(outputs, 1)
        correct = (predicted == labels).sum().item()
        return loss.item() + 0 * correct

    return step


@program("autoencoder")
def autoencoder(t, numbers, small):
    """Images squeezed through three numbers and back."""
    nn = t.nn
    batch, pixels = (4, 12) if small else (64, 784)
    sizes = [pixels, 8, 3] if small else [pixels, 128, 64, 12, 3]
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    for a, b in pairwise(sizes[::-1]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    model = numbers.filled(nn.Sequential(*layers[:-1], nn.Sigmoid()))
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
    images = numbers.uniform(batch, pixels)

    def step():
        loss = nn.functional.mse_loss(model(images), images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("weight decay and schedule")
def schedule(t, numbers, small):
    """AdamW with groups of parameters, clipped gradients and a rate that falls."""
    nn = t.nn
    d, h = (4, 5) if small else (64, 128)
    model = numbers.filled(
        nn.Sequential(nn.Linear(d, h), nn.LayerNorm(h), nn.GELU(), nn.Linear(h, h), nn.LayerNorm(h),
                      nn.GELU(), nn.Linear(h, 1))
    )  # fmt: skip
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = t.optim.AdamW(groups, lr=1e-3)
    scheduler = t.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1000)
    x, y = numbers.normal(64, d), numbers.normal(64, 1)

    def step():
        loss = nn.functional.smooth_l1_loss(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        return loss.item()

    return step


@program("nerf")
def nerf(t, numbers, small):
    """Points and directions to colours: sines of each coordinate, a deep network, and the light
    that is gathered along a ray."""
    nn = t.nn
    rays, samples, width, bands = (2, 3, 8, 2) if small else (64, 16, 64, 6)

    def encoded(x):
        out = [x]
        for j in range(bands):
            out.append(t.sin(2**j * x))
            out.append(t.cos(2**j * x))
        return t.cat(out, dim=-1)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            size = 3 + 6 * bands
            self.first = nn.Sequential(nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width),
                                       nn.ReLU())  # fmt: skip
            self.second = nn.Sequential(nn.Linear(size + width, width), nn.ReLU(),
                                        nn.Linear(width, width + 1))  # fmt: skip
            self.colour = nn.Sequential(nn.Linear(width + size, width // 2), nn.ReLU(),
                                        nn.Linear(width // 2, 3), nn.Sigmoid())  # fmt: skip

        def forward(self, o, d):
            x, v = encoded(o), encoded(d)
            h = self.first(x)
            h = self.second(t.cat((h, x), dim=1))
            h, sigma = h[:, :-1], nn.functional.relu(h[:, -1])
            return self.colour(t.cat((h, v), dim=1)), sigma

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=5e-4)
    origins, directions = numbers.normal(rays, 3), numbers.normal(rays, 3)
    target = numbers.uniform(rays, 3)

    def step():
        z = t.linspace(2.0, 6.0, samples).expand(rays, samples)
        delta = t.cat((z[:, 1:] - z[:, :-1], t.full((rays, 1), 1e10)), -1)
        x = origins.unsqueeze(1) + z.unsqueeze(2) * directions.unsqueeze(1)
        d = directions.expand(samples, rays, 3).transpose(0, 1).reshape(-1, 3)
        colours, sigma = model(x.reshape(-1, 3), d)
        alpha = 1 - t.exp(-sigma.reshape(z.shape) * delta)
        passed = t.cumprod(1 - alpha + 1e-10, dim=1)
        passed = t.cat((t.ones(rays, 1), passed[:, :-1]), dim=-1)
        weights = (passed * alpha).unsqueeze(2)
        c = (weights * colours.reshape(rays, samples, 3)).sum(dim=1)
        loss = ((c - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("siamese")
def siamese(t, numbers, small):
    """Pairs that are alike or not, with a loss of the cosine."""
    nn = t.nn
    batch, d = (4, 6) if small else (64, 128)
    tower = numbers.filled(
        nn.Sequential(nn.Linear(d, d), nn.BatchNorm1d(d), nn.ReLU(), nn.Linear(d, 16))
    )
    optimizer = t.optim.RMSprop(tower.parameters(), lr=1e-3)
    a, b = numbers.normal(batch, d), numbers.normal(batch, d)
    same = 2 * numbers.below(2, batch) - 1

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cosine_embedding_loss(tower(a), tower(b), same, margin=0.2)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("physics")
def physics(t, numbers, small):
    """A network as the solution of an equation: derivatives by the input in the loss."""
    nn = t.nn
    h = 4 if small else 32
    model = numbers.filled(nn.Sequential(nn.Linear(1, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(),
                                         nn.Linear(h, 1)))  # fmt: skip
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    start = t.zeros(1, 1, requires_grad=True)
    x = t.linspace(0, 1, 30).view(-1, 1).requires_grad_(True)
    mu, k = 4.0, 400 / (math.pi**2)

    def step():
        optimizer.zero_grad()
        u = model(start)
        first = (t.squeeze(u) - 1) ** 2
        u = model(x)
        ones = t.ones_like(u)
        du = t.autograd.grad(u, x, ones, create_graph=True)[0]
        d2u = t.autograd.grad(du, x, ones, create_graph=True)[0]
        rest = t.mean((d2u + mu * du + k * u) ** 2)
        loss = first + 1e-4 * rest
        loss.backward()
        optimizer.step()
        return loss.item()

    return step
