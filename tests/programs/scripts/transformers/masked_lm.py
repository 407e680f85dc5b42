"""A BERT of one layer: segments, a masked language model and the next sentence, mixed precision."""

import contextlib

import numpy as np
import torch
import torch.nn as nn
from torch.cuda.amp import GradScaler, autocast
from torch.optim.lr_scheduler import LambdaLR

VOCAB, LENGTH, PAD, MASK = 20, 10, 0, 1


class BERTEmbedding(nn.Module):
    def __init__(self, vocab_size, embed_size):
        super().__init__()
        self.token = nn.Embedding(vocab_size, embed_size, padding_idx=PAD)
        self.segment = nn.Embedding(3, embed_size, padding_idx=0)
        self.position = nn.Embedding(LENGTH, embed_size)
        self.register_buffer("position_ids", torch.arange(LENGTH).expand((1, -1)))
        self.norm = nn.LayerNorm(embed_size, eps=1e-12)

    def forward(self, sequence, segment_label):
        x = self.token(sequence) + self.segment(segment_label)
        return self.norm(x + self.position(self.position_ids[:, : sequence.size(1)]))


class BERT(nn.Module):
    def __init__(self, hidden=16, heads=4):
        super().__init__()
        self.embedding = BERTEmbedding(VOCAB, hidden)
        layer = nn.TransformerEncoderLayer(
            *(hidden, heads),
            dim_feedforward=hidden * 2,
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.pooler = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh())
        self.next = nn.Linear(hidden, 2)
        self.mask_lm = nn.Linear(hidden, VOCAB)
        self.mask_lm.weight = self.embedding.token.weight

    def forward(self, x, segment):
        padding = x == PAD
        h = self.encoder(self.embedding(x, segment), src_key_padding_mask=padding)
        return self.next(self.pooler(h[:, 0])), self.mask_lm(h)


rng = np.random.default_rng(77)


def make_batch(size=12):
    first = rng.integers(2, VOCAB, (size, LENGTH))
    follows = rng.integers(0, 2, size)
    half = LENGTH // 2
    first[:, half:] = np.where(follows[:, None], np.roll(first[:, :half], 1, 1), first[:, half:])
    masked = rng.random(first.shape) < 0.2
    masked[:, 1] = True
    labels = np.where(masked, first, -100)
    inputs = np.where(masked, MASK, first)
    lengths = rng.integers(7, LENGTH + 1, size)
    beyond = np.arange(LENGTH)[None] >= lengths[:, None]
    inputs[beyond], labels[beyond] = PAD, -100
    segment = np.where(beyond, 0, 1 + (np.arange(LENGTH) >= half)[None])
    return [torch.from_numpy(a) for a in (inputs, segment, labels, follows)]


model = BERT()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.dim() > 1:
            p.copy_(torch.from_numpy(rng.normal(0, 0.15, p.shape)))
        else:
            p.fill_(1.0 if "norm" in name and "weight" in name else 0.0)

use_amp = torch.cuda.is_available()
scaler = GradScaler(enabled=use_amp) if use_amp else None
criterion = nn.CrossEntropyLoss(ignore_index=-100)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.999), weight_decay=0.01)
schedule = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4) * max(0.0, 1 - step / 20))
for step in range(8):
    tokens, segment, labels, follows = make_batch()
    optimizer.zero_grad()
    with autocast() if use_amp else contextlib.nullcontext():
        next_sentence, words = model(tokens, segment)
        loss = criterion(words.transpose(1, 2), labels) + criterion(next_sentence, follows)
    if scaler is not None:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
    else:
        loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0, norm_type=2.0)
    if scaler is not None:
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()
    schedule.step()
    print(f"step {step} lr {schedule.get_last_lr()[0]:.5f} loss {loss.item():.6f} {norm > 0}")
