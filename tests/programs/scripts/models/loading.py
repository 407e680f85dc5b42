"""Data of one's own: sets, samplers, collation, workers, seeds; then a network on them."""

import random
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    RandomSampler,
    Sampler,
    Subset,
    SubsetRandomSampler,
    WeightedRandomSampler,
    default_collate,
    random_split,
)


class Rows(Dataset[Tuple[torch.Tensor, int]]):
    def __init__(self, rows: int, seed: int, transform: Optional[Any] = None) -> None:
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(rows, 5)).astype(np.float32)
        self.y = (self.x[:, 0] > self.x[:, 1]).astype(int) + (self.x[:, 2] > 1)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i):
        if torch.is_tensor(i):
            i = i.tolist()
        sample = {"x": self.x[i], "y": self.y[i], "name": f"row {i}", "scale": 2.0}
        return self.transform(sample) if self.transform else sample


class ToTensor:
    def __call__(self, sample):
        return {**sample, "x": torch.from_numpy(sample["x"])}


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, sample):
        sample["x"] = sample["x"] * self.factor
        return sample


class Compose:
    def __init__(self, parts: List[Any]):
        self.parts = parts

    def __call__(self, sample):
        for part in self.parts:
            sample = part(sample)
        return sample


class EvenFirst(Sampler[int]):
    def __init__(self, source: Dataset) -> None:
        self.source = source

    def __iter__(self) -> Iterator[int]:
        n = len(self.source)
        yield from range(0, n, 2)
        yield from range(1, n, 2)

    def __len__(self) -> int:
        return len(self.source)


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


def seed_everything(seed: int):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.use_deterministic_algorithms(False)


seed_everything(42)
transform = Compose([Scale(0.5), ToTensor()])
whole = ConcatDataset([Rows(20, 1, transform), Rows(12, 2, transform)])
train_part, test_part = random_split(
    whole, [0.75, 0.25], generator=torch.Generator().manual_seed(42)
)
print(len(whole), len(train_part), len(test_part))
print(sorted(train_part.indices + test_part.indices) == list(range(32)))
g = torch.Generator()
g.manual_seed(0)
shuffled = DataLoader(whole, batch_size=5, shuffle=True, generator=g, worker_init_fn=seed_worker)
print(len(shuffled), sum(len(b["y"]) for b in shuffled))
for sampler in (
    RandomSampler(whole, replacement=True, num_samples=6),
    SubsetRandomSampler(range(4, 10)),
    WeightedRandomSampler([0.1] * 16 + [0.9] * 16, 6),
):
    picked = [i for batch in DataLoader(range(32), batch_size=4, sampler=sampler) for i in batch]
    print(type(sampler).__name__, len(picked), all(0 <= i < 32 for i in picked))

loader = DataLoader(whole, batch_size=8, sampler=EvenFirst(whole), drop_last=True, pin_memory=False)
batch = next(iter(loader))
print({k: (v.shape, v.dtype) if torch.is_tensor(v) else v[:2] for k, v in batch.items()})
print(default_collate([(1, 2.0), (3, 4.0)]), default_collate([{"a": [1, 2]}, {"a": [3, 4]}]))
ragged = DataLoader([[1], [2, 3]], batch_size=2, collate_fn=lambda b: torch.tensor(sum(b, [])))
print(next(iter(ragged)))
print(next(iter(DataLoader(Subset(whole, [3, 5]), batch_size=None)))["name"])

model = nn.Sequential(nn.Linear(5, 8), nn.Hardswish(), nn.Linear(8, 3))
rng = np.random.default_rng(0)
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)))
optimizer = optim.RAdam(model.parameters(), lr=0.05)
weights = torch.tensor([1.0, 0.8, 1.5])
criterion = nn.CrossEntropyLoss(weight=weights, reduction="none")
for epoch in range(3):
    for i, batch in enumerate(loader):
        loss = criterion(model(batch["x"]), batch["y"]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"[{epoch}/{i}] loss: {loss.item():.6f}")
