"""A character-level RNN language model with its LSTM's state carried by hand."""

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_

text = "the quick brown fox jumps over the lazy dog; the dog sleeps, and the fox is gone. " * 3
chars = sorted(set(text))
char2int = {ch: i for i, ch in enumerate(chars)}
int2char = dict(enumerate(chars))
encoded = np.array([char2int[ch] for ch in text])


def one_hot_encode(arr, n_labels):
    one_hot = np.zeros((arr.size, n_labels), dtype=np.float32)
    one_hot[np.arange(one_hot.shape[0]), arr.flatten()] = 1.0
    return one_hot.reshape((*arr.shape, n_labels))


def get_batches(arr, batch_size, seq_length):
    batch_size_total = batch_size * seq_length
    n_batches = len(arr) // batch_size_total
    arr = arr[: n_batches * batch_size_total].reshape((batch_size, -1))
    for n in range(0, arr.shape[1], seq_length):
        x = arr[:, n : n + seq_length]
        y = np.zeros_like(x)
        try:
            y[:, :-1], y[:, -1] = x[:, 1:], arr[:, n + seq_length]
        except IndexError:
            y[:, :-1], y[:, -1] = x[:, 1:], arr[:, 0]
        yield x, y


train_on_gpu = torch.cuda.is_available()


class CharRNN(nn.Module):
    def __init__(self, tokens, n_hidden=16, n_layers=2, drop_prob=0.0):
        super().__init__()
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.chars = tokens
        self.lstm = nn.LSTM(len(tokens), n_hidden, n_layers, dropout=drop_prob, batch_first=True)
        self.dropout = nn.Dropout(drop_prob)
        self.fc = nn.Linear(n_hidden, len(tokens))

    def forward(self, x, hidden):
        r_output, hidden = self.lstm(x, hidden)
        out = self.dropout(r_output)
        out = out.contiguous().view(-1, self.n_hidden)
        return self.fc(out), hidden

    def init_hidden(self, batch_size):
        weight = next(self.parameters()).data
        hidden = (
            weight.new(self.n_layers, batch_size, self.n_hidden).zero_(),
            weight.new(self.n_layers, batch_size, self.n_hidden).zero_(),
        )
        if train_on_gpu:
            hidden = tuple(h.cuda() for h in hidden)
        return hidden


net = CharRNN(chars)
rng = np.random.default_rng(3)
for name, p in net.named_parameters():
    p.data.copy_(torch.from_numpy(rng.uniform(-0.25, 0.25, p.shape).astype(np.float32)))
if train_on_gpu:
    net.cuda()
net.train()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
criterion = nn.CrossEntropyLoss()
print(net)

for e in range(3):
    h = net.init_hidden(4)
    for x, y in get_batches(encoded, 4, 15):
        inputs, targets = torch.from_numpy(one_hot_encode(x, len(chars))), torch.from_numpy(y)
        if train_on_gpu:
            inputs, targets = inputs.cuda(), targets.cuda()
        h = tuple([each.data for each in h])
        net.zero_grad()
        output, h = net(inputs, h)
        loss = criterion(output, targets.view(-1).long())
        loss.backward()
        clip_grad_norm_(net.parameters(), 5)
        opt.step()
        print("Epoch: {}/{}...".format(e + 1, 3), "loss: {:.6f}...".format(loss.item()))


def predict(net, char, h=None):
    x = torch.from_numpy(one_hot_encode(np.array([[char2int[char]]]), len(chars)))
    h = tuple([each.data for each in h])
    out, h = net(x, h)
    p = nn.functional.softmax(out, dim=1).data
    p, top_ch = p.topk(3)
    return int2char[top_ch.numpy().squeeze()[0]], h


net.eval()
h = net.init_hidden(1)
said = ["t"]
for _ in range(10):
    char, h = predict(net, said[-1], h)
    said.append(char)
print("said", len("".join(said)), "characters")
