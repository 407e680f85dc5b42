"""Names of two languages, told apart letter by letter: an RNN from linear layers, as in 2017."""

import random
import string
import unicodedata

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

all_letters = string.ascii_letters + " .,;'"
n_letters = len(all_letters)
category_lines = {
    "Norse": ["Sigrún", "Ástrid", "Bjørn", "Håkon", "Ragnhild", "Leif"],
    "Latin": ["Aurelia", "Marcus", "Livia", "Octavius", "Claudia", "Titus"],
}
all_categories = list(category_lines)
n_categories = len(all_categories)


def unicodeToAscii(s):
    return "".join(
        c
        for c in unicodedata.normalize("NFD", s)
        if unicodedata.category(c) != "Mn" and c in all_letters
    )


def lineToTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][all_letters.find(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(RNN, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(input_size + hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        combined = torch.cat((input, hidden), 1)
        hidden = self.i2h(combined)
        output = self.i2o(combined)
        output = self.softmax(output)
        return output, hidden

    def initHidden(self):
        return Variable(torch.zeros(1, self.hidden_size))


random.seed(6)
rng = np.random.RandomState(6)
rnn = RNN(n_letters, 12, n_categories)
for p in rnn.parameters():
    p.data.copy_(torch.from_numpy(rng.uniform(-0.15, 0.15, p.size())))
criterion = nn.NLLLoss()
learning_rate = 0.05


def categoryFromOutput(output):
    top_n, top_i = output.data.topk(1)
    category_i = top_i[0][0]
    return all_categories[category_i], category_i


def randomTrainingPair():
    category = random.choice(all_categories)
    line = unicodeToAscii(random.choice(category_lines[category]))
    category_tensor = Variable(torch.LongTensor([all_categories.index(category)]))
    return category, line, category_tensor, Variable(lineToTensor(line))


def train(category_tensor, line_tensor):
    hidden = rnn.initHidden()
    rnn.zero_grad()
    for i in range(line_tensor.size()[0]):
        output, hidden = rnn(line_tensor[i], hidden)
    loss = criterion(output, category_tensor)
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-learning_rate)
    return output, loss.data.item()


print(lineToTensor("Jones").size(), unicodeToAscii("Ástrid"))
for iter in range(1, 21):
    category, line, category_tensor, line_tensor = randomTrainingPair()
    output, loss = train(category_tensor, line_tensor)
    guess, guess_i = categoryFromOutput(output)
    print("%d %s / %s loss: %.6f %s" % (iter, line, category, loss, guess in all_categories))
confusion = torch.zeros(n_categories, n_categories)
for i in range(n_categories):
    confusion[i][i] += 1
    confusion[i] = confusion[i] / confusion[i].sum()
print(confusion.numpy().tolist())
