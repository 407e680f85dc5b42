"""Programs that learn a distribution."""

from .program import program


@program("vae", draws=True)
def vae(t, numbers, small):
    """A variational autoencoder."""
    nn, F = t.nn, t.nn.functional
    batch, pixels, hidden, code = (4, 12, 6, 2) if small else (64, 784, 200, 20)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(pixels, hidden)
            self.fc21, self.fc22 = nn.Linear(hidden, code), nn.Linear(hidden, code)
            self.fc3, self.fc4 = nn.Linear(code, hidden), nn.Linear(hidden, pixels)

        def forward(self, x):
            h1 = F.relu(self.fc1(x))
            mu, logvar = self.fc21(h1), self.fc22(h1)
            std = t.exp(0.5 * logvar)
            z = mu + t.randn_like(std) * std
            return t.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    data = numbers.uniform(batch, pixels)

    def step():
        optimizer.zero_grad()
        made, mu, logvar = model(data)
        bce = F.binary_cross_entropy(made, data, reduction="sum")
        kld = -0.5 * t.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = bce + kld
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("dcgan")
def dcgan(t, numbers, small):
    """Two networks against one another; the noise is NumPy's, so that losses can be compared."""
    nn = t.nn
    batch, nz, width = (2, 4, 2) if small else (8, 32, 8)
    up = lambda a, b, k, s, p: nn.ConvTranspose2d(a, b, k, s, p, bias=False)
    down = lambda a, b, k, s, p: nn.Conv2d(a, b, k, s, p, bias=False)
    generator = numbers.filled(
        nn.Sequential(
            up(nz, 2 * width, 4, 1, 0), nn.BatchNorm2d(2 * width), nn.ReLU(True),
            up(2 * width, width, 4, 2, 1), nn.BatchNorm2d(width), nn.ReLU(True),
            up(width, 1, 4, 2, 1), nn.Tanh(),
        )
    )  # fmt: skip
    judge = numbers.filled(
        nn.Sequential(
            down(1, width, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True),
            down(width, 2 * width, 4, 2, 1), nn.BatchNorm2d(2 * width),
            nn.LeakyReLU(0.2, inplace=True), down(2 * width, 1, 4, 1, 0), nn.Sigmoid(),
        )
    )  # fmt: skip
    criterion = nn.BCELoss()
    d_optimizer = t.optim.Adam(judge.parameters(), lr=2e-4, betas=(0.5, 0.999))
    g_optimizer = t.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    real = numbers.normal(batch, 1, 16, 16)

    def step():
        judge.zero_grad()
        label = t.full((batch,), 1.0)
        real_error = criterion(judge(real).view(-1), label)
        real_error.backward()
        fake = generator(numbers.normal(batch, nz, 1, 1))
        label.fill_(0.0)
        fake_error = criterion(judge(fake.detach()).view(-1), label)
        fake_error.backward()
        d_optimizer.step()
        generator.zero_grad()
        label.fill_(1.0)
        error = criterion(judge(fake).view(-1), label)
        error.backward()
        g_optimizer.step()
        return real_error.item() + fake_error.item() + error.item()

    return step


@program("diffusion")
def diffusion(t, numbers, small):
    """Noise taken from points in the plane, at a time that is drawn for each."""
    nn = t.nn
    batch, hidden, times = (4, 6, 10) if small else (128, 64, 100)
    betas = t.linspace(1e-4, 0.02, times)
    products = t.cumprod(1.0 - betas, dim=0)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Embedding(times, hidden)
            self.first = nn.Linear(2, hidden)
            self.layers = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(3)])
            self.last = nn.Linear(hidden, 2)

        def forward(self, x, at):
            h = self.first(x) + self.time(at)
            for layer in self.layers:
                h = h + nn.functional.silu(layer(h))
            return self.last(h)

    model = numbers.filled(Net())
    optimizer = t.optim.AdamW(model.parameters(), lr=1e-3)
    points = numbers.normal(batch, 2)

    def step():
        noise, at = numbers.normal(batch, 2), numbers.below(times, batch)
        kept = products[at].unsqueeze(1)
        noisy = kept.sqrt() * points + (1 - kept).sqrt() * noise
        loss = nn.functional.mse_loss(model(noisy, at), noise)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step
