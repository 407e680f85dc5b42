"""A small GPT that learns sums, with a trainer that has call-backs and a configuration."""

import time
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import Dataset
from torch.utils.data.dataloader import DataLoader


class NewGELU(nn.Module):
    def forward(self, x):
        inner = np.sqrt(2.0 / np.pi).item() * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = nn.MultiheadAttention(config.n_embd, config.n_head, batch_first=True)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = nn.ModuleDict(
            dict(
                c_fc=nn.Linear(config.n_embd, 4 * config.n_embd),
                c_proj=nn.Linear(4 * config.n_embd, config.n_embd),
                act=NewGELU(),
                dropout=nn.Dropout(0.0),
            )
        )
        m = self.mlp
        self.mlpf = lambda x: m.dropout(m.c_proj(m.act(m.c_fc(x))))
        mask = torch.ones(config.block_size, config.block_size, dtype=torch.bool).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        h = self.ln_1(x)
        t = x.shape[1]
        x = x + self.attn(h, h, h, attn_mask=self.mask[:t, :t], need_weights=False)[0]
        x = x + self.mlpf(self.ln_2(x))
        return x


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Parameter(torch.zeros(1, config.block_size, config.n_embd))
        self.blocks = nn.Sequential(*[Block(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def configure_optimizers(self, train_config):
        decay, no_decay = set(), set()
        whitelist = (torch.nn.Linear, nn.MultiheadAttention)
        for mn, m in self.named_modules():
            for pn, p in m.named_parameters(recurse=False):
                fpn = "%s.%s" % (mn, pn) if mn else pn
                if pn.endswith("weight") and isinstance(m, whitelist):
                    decay.add(fpn)
                else:
                    no_decay.add(fpn)
        param_dict = {pn: p for pn, p in self.named_parameters()}
        assert not decay & no_decay
        assert not param_dict.keys() - (decay | no_decay)
        optim_groups = [
            {"params": [param_dict[pn] for pn in sorted(list(decay))], "weight_decay": 0.1},
            {"params": [param_dict[pn] for pn in sorted(list(no_decay))], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(optim_groups, lr=train_config.lr, betas=(0.9, 0.95))

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe[:, : idx.size(1)]
        logits = self.head(self.ln_f(self.blocks(x)))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )
        return logits, loss


class Trainer:
    def __init__(self, config, model, train_dataset):
        self.config = config
        self.model = model
        self.train_dataset = train_dataset
        self.callbacks = defaultdict(list)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = self.model.to(self.device)
        self.iter_num = 0
        self.iter_dt = 0.0

    def add_callback(self, onevent, callback):
        self.callbacks[onevent].append(callback)

    def run(self):
        model, config = self.model, self.config
        self.optimizer = model.configure_optimizers(config)
        loader = DataLoader(self.train_dataset, batch_size=config.batch_size, num_workers=0)
        model.train()
        before = time.time()
        data_iter = iter(loader)
        while self.iter_num < config.max_iters:
            try:
                batch = next(data_iter)
            except StopIteration:
                data_iter = iter(loader)
                batch = next(data_iter)
            x, y = [t.to(self.device) for t in batch]
            logits, self.loss = model(x, y)
            model.zero_grad(set_to_none=True)
            self.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_norm_clip)
            self.optimizer.step()
            for callback in self.callbacks["on_batch_end"]:
                callback(self)
            self.iter_num += 1
            self.iter_dt, before = time.time() - before, time.time()


class AdditionDataset(Dataset):
    """Sums of two digits, the result reversed."""

    def __init__(self, ndigit=2):
        self.ndigit = ndigit
        self.ixes = torch.from_numpy(np.random.RandomState(1337).permutation(100**1 * 100)[:80])

    def __len__(self):
        return self.ixes.nelement()

    def __getitem__(self, idx):
        nd = 10**self.ndigit
        a, b = self.ixes[idx].item() // nd, self.ixes[idx].item() % nd
        render = f"%0{self.ndigit}d" % a + f"%0{self.ndigit}d" % b
        render += (f"%0{self.ndigit + 1}d" % (a + b))[::-1]
        dix = [int(s) for s in render]
        x = torch.tensor(dix[:-1], dtype=torch.long)
        y = torch.tensor(dix[1:], dtype=torch.long)
        y[: self.ndigit * 2 - 1] = -1
        return x, y


config = SimpleNamespace(vocab_size=10, block_size=6, n_layer=2, n_head=2, n_embd=16)
model = GPT(config)
rng = np.random.RandomState(0)
for name, p in model.named_parameters():
    if p.dim() >= 2:
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.15, p.shape)).float())
    elif name.endswith("bias"):
        torch.nn.init.zeros_(p)
trainer = Trainer(
    SimpleNamespace(lr=5e-3, batch_size=16, max_iters=8, grad_norm_clip=1.0),
    model,
    AdditionDataset(),
)
trainer.add_callback(
    "on_batch_end", lambda t: print(f"iter {t.iter_num} train loss {t.loss.item():.5f}")
)
trainer.run()

model.eval()
with torch.no_grad():
    x, y = AdditionDataset()[0]
    logits, _ = model(x[None, :4])
    print("first digit among ten:", 0 <= logits[0, -1].argmax(-1).item() < 10)
