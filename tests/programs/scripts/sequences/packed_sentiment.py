"""Sentences of different lengths, packed, through a GRU in both directions."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import BatchSampler, DataLoader, Dataset, Sampler


class Sentences(Dataset):
    def __init__(self, n=40):
        rng = np.random.default_rng(10)
        self.items = []
        for _ in range(n):
            tokens = rng.integers(1, 12, rng.integers(3, 9))
            label = int((tokens > 6).sum() > (tokens <= 6).sum())
            self.items.append((torch.from_numpy(tokens), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class ByLength(Sampler):
    """Short ones first, so that batches need little padding."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return iter(sorted(range(len(self.dataset)), key=lambda i: (len(self.dataset[i][0]), i)))

    def __len__(self):
        return len(self.dataset)


def collate(batch):
    tokens, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in tokens])
    return pad_sequence(tokens, batch_first=True, padding_value=0), lengths, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 6, padding_idx=0)
        self.gru = nn.GRU(6, 8, batch_first=True, bidirectional=True)
        self.head = nn.Linear(32, 1)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(
            self.embedding(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        output, hidden = self.gru(packed)
        output, back = pad_packed_sequence(output, batch_first=True)
        assert back.tolist() == lengths.tolist()
        mask = (tokens != 0).unsqueeze(-1)
        pooled = output.masked_fill(~mask, float("-inf")).max(dim=1).values
        last = torch.cat((hidden[-2], hidden[-1]), dim=-1)
        return self.head(torch.cat([pooled, last], -1)).squeeze(-1)


dataset = Sentences()
batches = BatchSampler(ByLength(dataset), batch_size=8, drop_last=False)
loader = DataLoader(dataset, batch_sampler=batches, collate_fn=collate)
model = Classifier()
rng = np.random.default_rng(0)
with torch.no_grad():
    for p in model.parameters():
        p.uniform_(-1, 1)
        p.copy_(torch.from_numpy(rng.uniform(-0.3, 0.3, p.shape)))
    model.embedding.weight[0] = 0
optimizer = torch.optim.NAdam(model.parameters(), lr=0.02)
for epoch in range(3):
    right = 0
    for tokens, lengths, labels in loader:
        logits = model(tokens, lengths)
        loss = F.binary_cross_entropy_with_logits(logits, labels.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += ((logits > 0).long() == labels).sum().item()
        print(f"batch of {tuple(tokens.shape)} loss {loss.item():.6f}")
    print(f"{0 <= right <= len(dataset)}")
print(model.embedding.weight[0].abs().sum().item())
