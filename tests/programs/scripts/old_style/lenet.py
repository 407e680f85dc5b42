"""A picture classifier of 2017: inherited constructors, num_flat_features, Variable, .data."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init
import torch.optim as optim
from torch.autograd import Variable

classes = ("plane", "car", "bird", "cat")
rng = np.random.RandomState(123)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(3, 4, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(4, 6, 5)
        self.fc1 = nn.Linear(6 * 3 * 3, 20)
        self.fc2 = nn.Linear(20, 4)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.conv2(x)), (2, 2))
        x = x.view(-1, self.num_flat_features(x))
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=0.0, training=self.training)
        x = self.fc2(x)
        return x

    def num_flat_features(self, x):
        size = x.size()[1:]
        num_features = 1
        for s in size:
            num_features *= s
        return num_features


net = Net()
print(net)
for p in net.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
        p.data.copy_(torch.from_numpy(rng.uniform(-0.2, 0.2, tuple(p.size()))))
    else:
        nn.init.constant_(p, 0.1)

input = Variable(torch.from_numpy(rng.randn(1, 3, 24, 24)).float())
out = net(input)
net.zero_grad()
out.backward(torch.ones(1, 4))
print("conv1.bias.grad", net.conv1.bias.grad.size())

labels = rng.randint(0, 4, 32)
patterns = rng.rand(4, 3, 24, 24)
images = torch.from_numpy(patterns[labels] - 0.5 + 0.1 * rng.randn(32, 3, 24, 24)).float()
trainset = torch.utils.data.TensorDataset(images, torch.LongTensor(labels))
trainloader = torch.utils.data.DataLoader(trainset, batch_size=8, shuffle=False, num_workers=0)

criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(3):
    running_loss = 0.0
    for i, data in enumerate(trainloader, 0):
        inputs, labels = data
        inputs, labels = Variable(inputs), Variable(labels)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.data.item()
        if i % 2 == 1:
            print("[%d, %5d] loss: %.5f" % (epoch + 1, i + 1, running_loss / 2))
            running_loss = 0.0
print("Finished Training")

correct = 0
total = 0
for data in trainloader:
    images, labels = data
    outputs = net(Variable(images))
    _, predicted = torch.max(outputs.data, 1)
    total += labels.size(0)
    correct += (predicted == labels).sum().item()
print("in range:", 0 <= correct <= total)
class_correct = list(0.0 for i in range(4))
c = (predicted == labels).squeeze()
for i in range(8):
    class_correct[labels[i].item()] += c[i].item()
print("%s %d" % (classes[0], len(class_correct)))
