"""Programs with recurrent layers, and convolutions in their place."""

from .program import program


@program("lstm language model")
def language_model(t, numbers, small):
    """Words that follow words: two layers of LSTM, whose state goes on from step to step."""
    nn = t.nn
    words, emb, hidden, length, batch = (20, 4, 5, 3, 2) if small else (500, 64, 64, 20, 16)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Embedding(words, emb)
            self.rnn = nn.LSTM(emb, hidden, 2)
            self.decoder = nn.Linear(hidden, words)

        def forward(self, tokens, state):
            output, state = self.rnn(self.encoder(tokens), state)
            decoded = self.decoder(output).view(-1, words)
            return nn.functional.log_softmax(decoded, dim=1), state

    model = numbers.filled(Net())
    criterion = nn.NLLLoss()
    data, targets = numbers.below(words, length, batch), numbers.below(words, length * batch)
    state = (t.zeros(2, batch, hidden), t.zeros(2, batch, hidden))

    def step():
        nonlocal state
        model.zero_grad()
        state = tuple(each.detach() for each in state)
        output, state = model(data, state)
        loss = criterion(output, targets)
        loss.backward()
        t.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-0.5)
        return loss.item()

    return step


@program("gru tagger")
def tagger(t, numbers, small):
    """A tag for each word of a sentence: a GRU that reads both ways."""
    nn = t.nn
    words, tags, emb, hidden, length, batch = (20, 3, 4, 5, 3, 2) if small else (
        1000, 12, 32, 32, 16, 8)  # fmt: skip

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(words, emb)
            self.gru = nn.GRU(emb, hidden, batch_first=True, bidirectional=True)
            self.out = nn.Linear(2 * hidden, tags)

        def forward(self, x):
            output, _ = self.gru(self.embedding(x))
            return self.out(output)

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    x, y = numbers.below(words, batch, length), numbers.below(tags, batch, length)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x).view(-1, tags), y.view(-1))
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("sine with cells")
def cells(t, numbers, small):
    """Waves continued by LSTM cells, a Python loop over time."""
    nn = t.nn
    batch, length, hidden = (2, 4, 3) if small else (16, 20, 32)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell1 = nn.LSTMCell(1, hidden)
            self.cell2 = nn.LSTMCell(hidden, hidden)
            self.linear = nn.Linear(hidden, 1)

        def forward(self, x):
            outputs = []
            h1, c1 = t.zeros(x.size(0), hidden), t.zeros(x.size(0), hidden)
            h2, c2 = t.zeros(x.size(0), hidden), t.zeros(x.size(0), hidden)
            for piece in x.split(1, dim=1):
                h1, c1 = self.cell1(piece, (h1, c1))
                h2, c2 = self.cell2(h1, (h2, c2))
                outputs.append(self.linear(h2))
            return t.cat(outputs, dim=1)

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=1e-2)
    waves = t.sin(0.3 * t.arange(length + 1).float() + numbers.normal(batch, 1))
    x, y = waves[:, :-1], waves[:, 1:]

    def step():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("tcn")
def tcn(t, numbers, small):
    """Convolutions over time that see the past alone."""
    nn = t.nn
    batch, length, width, levels = (2, 8, 3, 2) if small else (16, 100, 24, 4)

    class Block(nn.Module):
        def __init__(self, before, dilation):
            super().__init__()
            self.padding = 2 * dilation
            self.conv1 = nn.Conv1d(before, width, 3, padding=self.padding, dilation=dilation)
            self.conv2 = nn.Conv1d(width, width, 3, padding=self.padding, dilation=dilation)
            self.beside = nn.Conv1d(before, width, 1) if before != width else None
            self.relu = nn.ReLU()

        def forward(self, x):
            out = self.relu(self.conv1(x)[:, :, : -self.padding])
            out = self.relu(self.conv2(out)[:, :, : -self.padding])
            return self.relu(out + (x if self.beside is None else self.beside(x)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            blocks = [Block(2 if n == 0 else width, 2**n) for n in range(levels)]
            self.blocks = nn.Sequential(*blocks)
            self.linear = nn.Linear(width, 1)

        def forward(self, x):
            return self.linear(self.blocks(x)[:, :, -1])

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=4e-3)
    x, y = numbers.normal(batch, 2, length), numbers.normal(batch, 1)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        t.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step
