"""Super resolution with an efficient sub-pixel network."""

from math import log10

import numpy as np
import torch
import torch.nn as nn
import torch.nn.init as init
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super(Net, self).__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 8, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(8, 8, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(8, 4, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(4, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        x = self.pixel_shuffle(self.conv4(x))
        return x

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv4.weight)


class Pictures:
    """Smooth pictures and what is left of them at half the size."""

    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        y, x = np.mgrid[0:16, 0:16] / 16
        waves = rng.uniform(1, 4, (count, 2, 1, 1))
        phase = rng.uniform(0, 6, (count, 1, 1))
        pictures = 0.5 + 0.5 * np.sin(waves[:, 0] * 3 * x + waves[:, 1] * 3 * y + phase)
        self.large = torch.from_numpy(pictures).float().unsqueeze(1)
        self.small = nn.functional.interpolate(self.large, scale_factor=0.5, mode="bilinear")


pictures = Pictures(24, 1)
training_data_loader = DataLoader(TensorDataset(pictures.small, pictures.large), batch_size=8)
pictures = Pictures(8, 2)
testing_data_loader = DataLoader(dataset=TensorDataset(pictures.small, pictures.large))

model = Net(upscale_factor=2)
rng = np.random.default_rng(4)
with torch.no_grad():
    for weight in model.parameters():
        weight.copy_(torch.tensor(rng.normal(0.0, 0.15, tuple(weight.size()))))
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)


def train(epoch):
    epoch_loss = 0
    for iteration, batch in enumerate(training_data_loader, 1):
        input, target = batch[0], batch[1]
        optimizer.zero_grad()
        loss = criterion(model(input), target)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
        print(
            "===> Epoch[{}]({}/{}): loss {:.6f}".format(
                epoch, iteration, len(training_data_loader), loss.item()
            )
        )
    print("===> Avg. loss: {:.6f}".format(epoch_loss / len(training_data_loader)))


def test():
    avg_psnr = 0
    with torch.no_grad():
        for input, target in testing_data_loader:
            prediction = model(input)
            mse = criterion(prediction, target)
            avg_psnr += 10 * log10(1 / mse.item())
    print("===> PSNR loss {:.4f} dB".format(avg_psnr / len(testing_data_loader)))


for epoch in range(1, 4):
    train(epoch)
    test()
