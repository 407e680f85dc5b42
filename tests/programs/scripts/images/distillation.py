"""Knowledge distillation: a small student learns from a teacher's soft answers."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split


class ConvNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(width, width * 2, 3, padding="same"),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(width * 2, 5)

    def forward(self, x):
        x = self.features(x)
        return self.classifier(x.flatten(start_dim=1))


def seed_weights(model, seed):
    rng = np.random.default_rng(seed)
    state = model.state_dict()
    for key in state:
        if key.endswith(("weight", "bias")) and state[key].dim() > 1:
            state[key] = torch.tensor(rng.normal(0, 0.3, state[key].shape), dtype=torch.float32)
        elif key.endswith("bias"):
            state[key] = torch.zeros_like(state[key])
    print(model.load_state_dict(state))


def distillation_loss(student_logits, teacher_logits, labels, T=4.0, alpha=0.7):
    soft = nn.KLDivLoss(reduction="batchmean")(
        F.log_softmax(student_logits / T, dim=1), F.softmax(teacher_logits / T, dim=1)
    )
    hard = F.cross_entropy(student_logits, labels)
    return alpha * T * T * soft + (1.0 - alpha) * hard


rng = np.random.default_rng(12)
labels = torch.from_numpy(rng.integers(0, 5, 80))
inputs = torch.from_numpy(
    (rng.normal(size=(5, 1, 8, 8))[labels.numpy()] + 0.4 * rng.normal(size=(80, 1, 8, 8))).astype(
        "f4"
    )
)
dataset = TensorDataset(inputs, labels)
lengths = [len(part) for part in random_split(dataset, [64, 16])]
print("split into", lengths)
train_set = torch.utils.data.Subset(dataset, range(64))
loader = DataLoader(train_set, batch_size=16)

teacher, student = ConvNet(8), ConvNet(2)
seed_weights(teacher, 1)
seed_weights(student, 2)
count = sum(p.numel() for p in teacher.parameters() if p.requires_grad)
print(f"{count} parameters teach {sum(p.numel() for p in student.parameters())}")

optimizer = torch.optim.Adam(teacher.parameters(), lr=0.01)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(teacher(x), y)
        loss.backward()
        optimizer.step()
    print(f"teacher loss {loss.item():.6f}")

teacher.eval()
optimizer = torch.optim.SGD(
    [
        {"params": student.features.parameters()},
        {"params": student.classifier.parameters(), "lr": 0.05},
    ],
    lr=0.02,
    momentum=0.9,
)
for epoch in range(3):
    for x, y in loader:
        with torch.no_grad():
            teacher_logits = teacher(x)
        loss = distillation_loss(student(x), teacher_logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"student loss {loss.item():.6f}")
