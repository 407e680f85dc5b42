"""A variational autoencoder; its noise comes from a fixed generator."""

import argparse

import numpy as np
import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F

parser = argparse.ArgumentParser(description="VAE example")
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--no-accel", action="store_true", help="disables accelerator")
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()

torch.manual_seed(args.seed)
if not args.no_accel and torch.cuda.is_available():
    device = torch.device("cuda")
else:
    device = torch.device("cpu")

noise = np.random.RandomState(args.seed)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc21 = nn.Linear(32, 4)
        self.fc22 = nn.Linear(32, 4)
        self.fc3 = nn.Linear(4, 32)
        self.fc4 = nn.Linear(32, 64)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.from_numpy(noise.randn(*std.shape)).to(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 64))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


pixels = np.random.RandomState(7)
shapes = pixels.rand(6, 8, 8) > 0.5
images = torch.tensor(shapes[pixels.randint(0, 6, 64)], dtype=torch.float32).unsqueeze(1)
train_loader = torch.utils.data.DataLoader(images, batch_size=args.batch_size, shuffle=False)

model = VAE().to(device)
for parameter in model.parameters():
    parameter.data = torch.from_numpy(pixels.randn(*parameter.shape) * 0.1).float()
optimizer = optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(1, args.epochs + 1):
    model.train()
    train_loss = 0
    for batch_idx, data in enumerate(train_loader):
        data = data.to(device)
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        print(f"Train Epoch: {epoch} [{batch_idx}] loss: {loss.item() / len(data):.6f}")
    print("====> Epoch: {} Average: {:.4f}".format(epoch, train_loss / len(train_loader.dataset)))

with torch.no_grad():
    sample = torch.from_numpy(noise.randn(8, 4).astype(np.float32)).to(device)
    sample = model.decode(sample).cpu()
    print("samples", sample.view(8, 1, 8, 8).size())
