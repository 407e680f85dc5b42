"""A language model of nn.TransformerEncoder, with a causal mask and padding."""

import math
import os
from tempfile import TemporaryDirectory
from typing import Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import TransformerEncoder, TransformerEncoderLayer
from torch.utils.data import dataset

torch.set_printoptions(precision=3)


class TransformerModel(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int):
        super().__init__()
        self.model_type = "Transformer"
        self.pos_encoder = PositionalEncoding(d_model, 0.0)
        encoder_layers = TransformerEncoderLayer(d_model, nhead, d_hid, 0.0)
        self.transformer_encoder = TransformerEncoder(
            encoder_layers, nlayers, enable_nested_tensor=False
        )
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)
        self.init_weights()

    def init_weights(self) -> None:
        rng = np.random.default_rng(0)
        for name, p in self.named_parameters():
            if name.endswith("bias"):
                p.data.zero_()
            if p.dim() > 1:
                p.data.copy_(torch.from_numpy(rng.uniform(-0.15, 0.15, tuple(p.shape))))

    def forward(self, src: Tensor, src_mask: Tensor = None) -> Tensor:
        src = self.embedding(src) * math.sqrt(self.d_model)
        src = self.pos_encoder(src)
        if src_mask is None:
            src_mask = nn.Transformer.generate_square_subsequent_mask(len(src)).to(src.device)
        output = self.transformer_encoder(src, src_mask)
        return self.linear(output)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 50):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


words = "a bell rang in the town and the town woke and a bird sang in the tower of the bell".split()
vocab = {w: i for i, w in enumerate(dict.fromkeys(words))}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def data_process(raw_text_iter: dataset.IterableDataset) -> Tensor:
    data = [torch.tensor([vocab[w] for w in item], dtype=torch.long) for item in raw_text_iter]
    return torch.cat(tuple(filter(lambda t: t.numel() > 0, data)))


def batchify(data: Tensor, bsz: int) -> Tensor:
    seq_len = data.size(0) // bsz
    data = data[: seq_len * bsz]
    data = data.view(bsz, seq_len).t().contiguous()
    return data.to(device)


bptt = 7


def get_batch(source: Tensor, i: int) -> Tuple[Tensor, Tensor]:
    seq_len = min(bptt, len(source) - 1 - i)
    data = source[i : i + seq_len]
    target = source[i + 1 : i + 1 + seq_len].reshape(-1)
    return data, target


train_data = batchify(data_process([words, words[3:], [], words[::-1]]), 4)
val_data = batchify(data_process([words]), 2)
ntokens = len(vocab)
model = TransformerModel(ntokens, 12, 2, 20, 2).to(device)
criterion = nn.CrossEntropyLoss()
lr = 0.5
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.95)


def train(model: nn.Module, epoch: int) -> None:
    model.train()
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        output = model(data)
        output_flat = output.view(-1, ntokens)
        loss = criterion(output_flat, targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        cur_loss = loss.item()
        ok = math.exp(cur_loss) > 1
        print(f"| epoch {epoch:3d} | {batch:5d} | lr {scheduler.get_last_lr()[0]:02.3f} | {ok}")
        print(f"loss {cur_loss:.6f}")


def evaluate(model: nn.Module, eval_data: Tensor) -> float:
    model.eval()
    total_loss = 0.0
    with torch.no_grad():
        for i in range(0, eval_data.size(0) - 1, bptt):
            data, targets = get_batch(eval_data, i)
            total_loss += data.size(0) * criterion(model(data).view(-1, ntokens), targets).item()
    return total_loss / (len(eval_data) - 1)


best_val_loss = float("inf")
with TemporaryDirectory() as tempdir:
    best_model_params_path = os.path.join(tempdir, "best_model_params.pt")
    for epoch in range(1, 4):
        train(model, epoch)
        val_loss = evaluate(model, val_data)
        print(f"end of epoch {epoch} | valid loss {val_loss:5.4f}")
        if val_loss < best_val_loss:
            best_val_loss = val_loss
            torch.save(model.state_dict(), best_model_params_path)
        scheduler.step()
    model.load_state_dict(torch.load(best_model_params_path))
print(f"| End of training | test loss {evaluate(model, val_data):5.4f}")

with torch.no_grad():
    layer = model.transformer_encoder.layers[0]
    padding = torch.tensor([[False, False, True]])
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(3, 1, 12))).float()
    changed = x.clone()
    changed[2] = 9.0
    same = layer(x, src_key_padding_mask=padding)[:2]
    print(torch.allclose(same, layer(changed, src_key_padding_mask=padding)[:2], atol=1e-5))
