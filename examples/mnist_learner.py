"""Digits or clothes by a learner: datasets, transforms on the device, one cycle of the rate.

PYTHONPATH=py .venv/bin/python examples/mnist_learner.py
python3 build.py run examples/mnist_learner.py --device webgpu

It takes minutes: 99.4 % of MNIST after 6 epochs. DATASET=FashionMNIST in the environment takes
clothes, 92.7 % after 16. It can also say EPOCHS=3, DATA=folder, and how many pictures train:
SAMPLES=3000; `build.py run` has --set for that.
"""

import os

import tallow as tl
from tallow import nn, optim
from tallow.data import DataLoader, Subset
from tallow.vision import datasets, transforms

tl.manual_seed(0)
name, folder = os.environ.get("DATASET", "MNIST"), os.environ.get("DATA", "data")
clothes, samples = name == "FashionMNIST", int(os.environ.get("SAMPLES", "60000"))
epochs = int(os.environ.get("EPOCHS", "16" if clothes else "6"))
train, test = (getattr(datasets, name)(folder, part, download=True) for part in (True, False))
move = transforms.RandomAffine(10, (0.1, 0.1), (0.9, 1.1), interpolation="bilinear")
change = transforms.RandomHorizontalFlip() if clothes else move  # a digit has no mirror image
layers: list[nn.Module] = [transforms.PerSample(change)]
for inputs, outputs in ((1, 16), (16, 32), (32, 64)):
    layers += [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)]
    layers += [nn.ReLU(), nn.MaxPool2d(2)]
model = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.2), nn.Linear(576, 10))
batches = DataLoader(Subset(train, range(samples)), 128, shuffle=True, drop_last=True, seed=1)
optimizer = optim.AdamW(model.parameters(), weight_decay=0.01)
schedule = optim.lr_scheduler.OneCycleLR(optimizer, 0.01, epochs * len(batches))
learner = tl.train.Learner(model, optimizer, nn.functional.cross_entropy, ["accuracy"],
                           schedule=schedule, schedule_every="step", seed=0)  # fmt: skip
found = learner.fit(batches, DataLoader(Subset(test, range(samples // 6)), 500), epochs)[-1]
right, loss = found["valid_accuracy"], found["train_loss"]
print(f"{right:.2%} right, on {next(model.parameters()).device}")
assert right > (0.92 if clothes else 0.99) if samples == 60000 else loss < 2.2
