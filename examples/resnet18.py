"""ResNet-18, written out, with torchvision's names of parameters; a narrow one is trained.

PYTHONPATH=py .venv/bin/python examples/resnet18.py
python3 build.py run examples/resnet18.py --device webgpu

`tl.zoo.resnet18()` is the same network, ready made. torchvision's weights fit both at full width.
"""

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.downsample = nn.Sequential(conv, nn.BatchNorm2d(outputs))

    def forward(self, x):
        around = x if self.downsample is None else self.downsample(x)
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + around)


class ResNet18(nn.Module):
    """Images (n, 3, h, w) to scores (n, classes). width: channels after the first layer."""

    def __init__(self, classes=1000, width=64):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = self.stage(width, width, stride=1)
        self.layer2 = self.stage(width, 2 * width, stride=2)
        self.layer3 = self.stage(2 * width, 4 * width, stride=2)
        self.layer4 = self.stage(4 * width, 8 * width, stride=2)
        self.fc = nn.Linear(8 * width, classes)

    @staticmethod
    def stage(inputs, outputs, stride):
        return nn.Sequential(BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs))

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 3, stride=2, padding=1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean(dim=(2, 3)))


def stripes(count):
    """Images (count, 3, 32, 32) of noise with stripes, and which way they go: -, |, \\ or /."""
    kind = tl.randint(0, 4, (count,))
    down, right = tl.arange(32).unsqueeze(1), tl.arange(32)
    along = tl.stack([(right + 0 * down), (down + 0 * right), down + right, down - right])
    waves = tl.sin(along[kind].float() + 6 * tl.rand(count, 1, 1))
    return (waves.unsqueeze(1) + tl.randn(count, 3, 32, 32)).realize(), kind.realize()


tl.manual_seed(0)
model = ResNet18(classes=4, width=8)
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")

optimizer = optim.AdamW(model.parameters(), lr=0.003)


@tl.jit
def step(x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


@tl.jit
def share_right(x, y):
    with tl.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean()


for number in range(21):
    loss = step(*stripes(24))
    if number % 5 == 0:
        print(f"step {number:2}  loss {loss.item():.3f}")

model.eval()  # batch norm uses the means and variances that it has collected
accuracy = share_right(*stripes(128)).item()
print(f"{accuracy:.1%} of new images are right, computed on {loss.device}")
assert accuracy > 0.9
