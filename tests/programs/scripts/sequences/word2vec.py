"""Skip-grams with negative sampling, on sparse embeddings."""

import collections

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

TEXT = """the king rules the land and the queen rules the sea while the farmer tills the land
and the sailor sails the sea and the king and the queen eat the bread of the farmer""".split()


class SkipGramDataset(Dataset):
    def __init__(self, words, window=2, negatives=3, seed=0):
        self.rng = np.random.default_rng(seed)
        counts = collections.Counter(words)
        self.vocab = [w for w, _ in counts.most_common()]
        self.index = {w: i for i, w in enumerate(self.vocab)}
        frequency = np.array([counts[w] for w in self.vocab]) ** 0.75
        self.unigram = frequency / frequency.sum()
        self.negatives = negatives
        ids = [self.index[w] for w in words]
        self.pairs = [
            (ids[i], ids[j])
            for i in range(len(ids))
            for j in range(max(0, i - window), min(len(ids), i + window + 1))
            if i != j
        ]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, idx):
        u, v = self.pairs[idx]
        return u, v, self.rng.choice(len(self.vocab), self.negatives, p=self.unigram)

    @staticmethod
    def collate(batches):
        all_u = [u for u, _, _ in batches]
        all_v = [v for _, v, _ in batches]
        all_neg_v = np.stack([neg for _, _, neg in batches])
        return torch.LongTensor(all_u), torch.LongTensor(all_v), torch.from_numpy(all_neg_v)


class SkipGramModel(nn.Module):
    def __init__(self, emb_size, emb_dimension):
        super(SkipGramModel, self).__init__()
        self.u_embeddings = nn.Embedding(emb_size, emb_dimension)
        self.v_embeddings = nn.Embedding(emb_size, emb_dimension)
        initrange = 1.0 / emb_dimension
        rng = np.random.default_rng(1)
        start = rng.uniform(-initrange, initrange, (emb_size, emb_dimension))
        self.u_embeddings.weight.data.copy_(torch.from_numpy(start))
        self.v_embeddings.weight.data.copy_(torch.from_numpy(start[::-1].copy()))

    def forward(self, pos_u, pos_v, neg_v):
        emb_u = self.u_embeddings(pos_u)
        emb_v = self.v_embeddings(pos_v)
        emb_neg_v = self.v_embeddings(neg_v)

        score = torch.sum(torch.mul(emb_u, emb_v), dim=1)
        score = torch.clamp(score, max=10, min=-10)
        score = -F.logsigmoid(score)

        neg_score = torch.bmm(emb_neg_v, emb_u.unsqueeze(2)).squeeze()
        neg_score = torch.clamp(neg_score, max=10, min=-10)
        neg_score = -torch.sum(F.logsigmoid(-neg_score), dim=1)
        return torch.mean(score + neg_score)


dataset = SkipGramDataset(TEXT)
dataloader = DataLoader(dataset, batch_size=32, shuffle=False, collate_fn=dataset.collate)
model = SkipGramModel(len(dataset.vocab), 10)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, len(dataloader))

running = 0.0
for i, sample_batched in enumerate(dataloader):
    if len(sample_batched[0]) > 1:
        pos_u, pos_v, neg_v = (t.to("cpu") for t in sample_batched)
        optimizer.zero_grad()
        loss = model.forward(pos_u, pos_v, neg_v)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running = running * 0.9 + loss.item() * 0.1
        print("loss: %.6f" % loss.item())

vectors = model.u_embeddings.weight.cpu().data.numpy()
print("%d %d" % vectors.shape)
for wid, w in list(enumerate(dataset.vocab))[:3]:
    print(w, len(vectors[wid]))
