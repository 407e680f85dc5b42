"""Transfer: a pretrained trunk is loaded in part, frozen, tuned, and stopped early."""

import time
from copy import deepcopy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import lr_scheduler


class SEBlock(nn.Module):
    def __init__(self, channels, reduction=2):
        super().__init__()
        self.fc = nn.Sequential(
            nn.Conv2d(channels, channels // reduction, 1),
            nn.ReLU6(inplace=True),
            nn.Conv2d(channels // reduction, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x):
        return x * self.fc(x.mean((2, 3), keepdim=True))


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        hidden = int(round(inp * expand_ratio))
        self.use_res_connect = stride == 1 and inp == oup
        self.conv = nn.Sequential(
            nn.Conv2d(inp, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            SEBlock(hidden),
            nn.Conv2d(hidden, oup, 1, bias=False),
            nn.BatchNorm2d(oup),
        )

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class SmallNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 4, 3, 1, 1), InvertedResidual(4, 4, 1, 2), InvertedResidual(4, 6, 2, 2)
        )
        self.fc = nn.Linear(6, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")
                if m.bias is not None:
                    nn.init.zeros_(m.bias)
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)
            elif isinstance(m, nn.Linear):
                nn.init.trunc_normal_(m.weight, std=0.02)

    def forward(self, x):
        return self.fc(F.adaptive_avg_pool2d(self.features(x), (1, 1)).flatten(1))


rng = np.random.default_rng(55)
pretrained = SmallNet(7)
numbers = {k: v for k, v in pretrained.state_dict().items()}
for k, v in numbers.items():
    if v.dim() > 1:
        numbers[k] = torch.as_tensor(rng.normal(0, 0.4, v.shape)).float()
    elif k.endswith("num_batches_tracked"):
        numbers[k] = torch.tensor(10)
pretrained.load_state_dict(numbers)

model = SmallNet(3)
mine = model.state_dict()
kept = {k: v for k, v in pretrained.state_dict().items() if v.shape == mine[k].shape}
result = model.load_state_dict(kept, strict=False)
print("missing", result.missing_keys, "unexpected", result.unexpected_keys)
for param in model.features[:2].parameters():
    param.requires_grad = False
num_ftrs = model.fc.in_features
model.fc = nn.Linear(num_ftrs, 3)
model.fc.weight.data.copy_(torch.as_tensor(rng.normal(0, 0.3, (3, num_ftrs))))
model.fc.bias.data.zero_()
print(sum(p.requires_grad for p in model.parameters()), "of", len(list(model.parameters())))

labels = torch.as_tensor(rng.integers(0, 3, 36))
kinds = rng.random((3, 3, 8, 8))
images = torch.as_tensor(kinds[labels] + 0.2 * rng.random((36, 3, 8, 8))).float()
dataloaders = {
    "train": [(images[:12], labels[:12]), (images[12:24], labels[12:24])],
    "val": [(images[24:], labels[24:])],
}
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(
    [p for p in model.parameters() if p.requires_grad], lr=0.05, momentum=0.9
)
scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=0)
since = time.time()
best_model_wts, best_loss, waited = deepcopy(model.state_dict()), float("inf"), 0
for epoch in range(5):
    for phase in ["train", "val"]:
        model.train() if phase == "train" else model.eval()
        running_loss, running_corrects, count = 0.0, 0, 0
        for inputs, targets in dataloaders[phase]:
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(inputs)
                _, preds = torch.max(outputs, 1)
                loss = criterion(outputs, targets)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running_loss += loss.item() * inputs.size(0)
            running_corrects += torch.sum(preds == targets.data)
            count += inputs.size(0)
        epoch_loss = running_loss / count
        accuracy = running_corrects.double() / count
        print(f"{phase} loss: {epoch_loss:.6f} sensible: {0 <= accuracy.item() <= 1}")
        if phase == "val":
            scheduler.step(epoch_loss)
            if epoch_loss < best_loss:
                best_loss, waited = epoch_loss, 0
                best_model_wts = deepcopy(model.state_dict())
            else:
                waited += 1
    if waited >= 4:
        break
assert time.time() - since < 600
model.load_state_dict(best_model_wts)
model.eval()
with torch.no_grad():
    print(f"Best val loss: {criterion(model(images[24:]), labels[24:]).item():.6f}")
print(model.features[1].conv[1].num_batches_tracked.item())
