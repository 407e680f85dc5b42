"""Programs with attention over tokens."""

import math

from .program import program


@program("gpt")
def gpt(t, numbers, small):
    """A small GPT, with heads, mask and generation of a batch as one writes them by hand."""
    nn, F = t.nn, t.nn.functional
    words, block, dim, heads, depth, batch = (11, 4, 8, 2, 1, 2) if small else (65, 32, 64, 4, 3, 8)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn = nn.Linear(dim, 3 * dim)
            self.c_proj = nn.Linear(dim, dim)
            mask = t.tril(t.ones(block, block)).view(1, 1, block, block)
            self.register_buffer("bias", mask)

        def forward(self, x):
            B, T, C = x.size()
            q, k, v = self.c_attn(x).split(dim, dim=2)
            k = k.view(B, T, heads, C // heads).transpose(1, 2)
            q = q.view(B, T, heads, C // heads).transpose(1, 2)
            v = v.view(B, T, heads, C // heads).transpose(1, 2)
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
            att = F.softmax(att, dim=-1)
            y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
            return self.c_proj(y)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
            self.attn = Attention()
            self.c_fc, self.c_proj = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            h = self.c_fc(self.ln_2(x))
            h = 0.5 * h * (1.0 + t.tanh(math.sqrt(2.0 / math.pi) * (h + 0.044715 * t.pow(h, 3.0))))
            return x + self.c_proj(h)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(words, dim), nn.Embedding(block, dim)
            self.h = nn.ModuleList([Block() for _ in range(depth)])
            self.ln_f = nn.LayerNorm(dim)
            self.lm_head = nn.Linear(dim, words, bias=False)

        def forward(self, idx, targets):
            pos = t.arange(0, idx.size(1), dtype=t.long).unsqueeze(0)
            x = self.wte(idx) + self.wpe(pos)
            for each in self.h:
                x = each(x)
            logits = self.lm_head(self.ln_f(x))
            loss = F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )
            return logits, loss

    model = numbers.filled(Net())
    optimizer = t.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95))
    text = numbers.below(words, 1000)

    def step():
        ix = numbers.rng.integers(0, 1000 - block - 1, batch).tolist()
        x = t.stack([text[i : i + block] for i in ix])
        y = t.stack([text[i + 1 : i + block + 1] for i in ix])
        _, loss = model(x, y)
        model.zero_grad(set_to_none=True)
        loss.backward()
        t.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


@program("transformer encoder")
def encoder(t, numbers, small):
    """nn.TransformerEncoder with a table of sines, that sorts sentences in two classes."""
    nn = t.nn
    words, dim, length, batch, depth = (20, 8, 4, 2, 1) if small else (500, 64, 24, 8, 2)

    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            at = t.arange(length).float().unsqueeze(1)
            rate = t.exp(t.arange(0, dim, 2).float() * (-math.log(10000.0) / dim))
            table = t.zeros(length, dim)
            table[:, 0::2] = t.sin(at * rate)
            table[:, 1::2] = t.cos(at * rate)
            self.register_buffer("table", table)

        def forward(self, x):
            return x + self.table[: x.size(1)]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(words, dim)
            self.positions = Positions()
            layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, depth)
            self.head = nn.Linear(dim, 2)

        def forward(self, x):
            h = self.positions(self.embedding(x) * math.sqrt(dim))
            return self.head(self.encoder(h).mean(dim=1))

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=1e-4)
    x, y = numbers.below(words, batch, length), numbers.below(2, batch)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("letters mlp")
def letters_mlp(t, numbers, small):
    """The next letter of a name from the letters before it: one hidden layer."""
    nn = t.nn
    letters, context, emb, hidden, batch = (27, 2, 3, 4, 4) if small else (27, 3, 10, 200, 32)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(letters + 1, emb)
            self.mlp = nn.Sequential(nn.Linear(context * emb, hidden), nn.Tanh(),
                                     nn.Linear(hidden, letters))  # fmt: skip

        def forward(self, idx, targets):
            embs = []
            for _ in range(context):
                embs.append(self.wte(idx))
                idx = t.roll(idx, 1, 1)
                idx[:, 0] = letters
            logits = self.mlp(t.cat(embs, -1))
            return nn.functional.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )

    model = numbers.filled(Net())
    optimizer = t.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.01)
    x, y = numbers.below(letters, batch, 8), numbers.below(letters, batch, 8)

    def step():
        loss = model(x, y)
        model.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step
