"""An autoencoder in the older style: legacy arguments, typed tensors, resize by view, in-place."""

import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
import torch.utils.data as Data
from torch.autograd import Variable

warnings.filterwarnings("ignore")
EPOCH, BATCH_SIZE, LR = 3, 20, 0.01
random = np.random.RandomState(30)
Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor


class AutoEncoder(nn.Module):
    def __init__(self):
        super(AutoEncoder, self).__init__()
        self.encoder = nn.Sequential(
            nn.Linear(6 * 6, 16),
            nn.Tanh(),
            nn.Linear(16, 8),
            nn.Tanh(),
            nn.Linear(8, 3),
        )
        self.decoder = nn.Sequential(
            nn.Linear(3, 8),
            nn.Tanh(),
            nn.Linear(8, 16),
            nn.Tanh(),
            nn.Linear(16, 6 * 6),
            nn.Sigmoid(),
        )

    def forward(self, x):
        encoded = self.encoder(x)
        decoded = self.decoder(encoded)
        return encoded, decoded


pictures = Tensor(random.rand(4, 6, 6).tolist())
chosen = torch.LongTensor(random.randint(0, 4, 60).tolist())
train_data = torch.index_select(pictures, 0, chosen)
train_data.add_(Tensor(60, 6, 6).copy_(torch.from_numpy(random.randn(60, 6, 6) * 0.05)))
train_data.clamp_(0, 1)
train_loader = Data.DataLoader(dataset=train_data, batch_size=BATCH_SIZE, shuffle=False)

autoencoder = AutoEncoder()
for m in autoencoder.modules():
    if isinstance(m, nn.Linear):
        m.weight.data.copy_(torch.from_numpy(random.uniform(-0.5, 0.5, m.weight.data.size())))
        m.bias.data.fill_(0)

optimizer = optim.Adam(autoencoder.parameters(), lr=LR)
loss_func = nn.MSELoss(size_average=True)
summed = nn.MSELoss(size_average=False)
each = nn.MSELoss(reduce=False)

for epoch in range(EPOCH):
    for step, x in enumerate(train_loader):
        b_x = Variable(x.view(-1, 6 * 6))
        b_y = Variable(x.view(-1, 6 * 6))
        encoded, decoded = autoencoder(b_x)
        loss = loss_func(decoded, b_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("Epoch: ", epoch, "| train loss: %.5f" % loss.data.numpy())

view_data = Variable(train_data[:5].view(-1, 36).type(torch.FloatTensor))
encoded, decoded = autoencoder(view_data)
print("sum of loss: %.5f" % summed(decoded, view_data).item(), each(decoded, view_data).size())
values = encoded.data.numpy()
print(values.shape, encoded.data[:, 0].numpy().dtype)
print(torch.cat([encoded, encoded], 1).size(1), torch.stack([view_data] * 2).dim())
