"""Translation of small numbers into words, with attention and teacher forcing."""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SOS_token = 0
EOS_token = 1
MAX_LENGTH = 6
WORDS = "zero one two three four five six seven eight nine".split()


class Lang:
    def __init__(self, name):
        self.name = name
        self.word2index = {}
        self.index2word = {0: "SOS", 1: "EOS"}
        self.n_words = 2

    def addSentence(self, sentence):
        for word in sentence.split(" "):
            if word not in self.word2index:
                self.word2index[word] = self.n_words
                self.index2word[self.n_words] = word
                self.n_words += 1


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(EncoderRNN, self).__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)

    def forward(self, input):
        return self.gru(self.embedding(input))


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super(BahdanauAttention, self).__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long, device=device).fill_(SOS_token)
        decoder_hidden = encoder_hidden
        decoder_outputs = []
        attentions = []
        for i in range(MAX_LENGTH):
            decoder_output, decoder_hidden, attn_weights = self.forward_step(
                decoder_input, decoder_hidden, encoder_outputs
            )
            decoder_outputs.append(decoder_output)
            attentions.append(attn_weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)
            else:
                _, topi = decoder_output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        decoder_outputs = F.log_softmax(torch.cat(decoder_outputs, dim=1), dim=-1)
        return decoder_outputs, decoder_hidden, torch.cat(attentions, dim=1)

    def forward_step(self, input, hidden, encoder_outputs):
        embedded = self.embedding(input)
        query = hidden.permute(1, 0, 2)
        context, attn_weights = self.attention(query, encoder_outputs)
        output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
        return self.out(output), hidden, attn_weights


random.seed(0)
pairs = []
for _ in range(32):
    number = random.randint(10, 9999)
    pairs.append((" ".join(str(number)), " ".join(WORDS[int(d)] for d in str(number))))
input_lang, output_lang = Lang("digits"), Lang("words")
for digits, words in pairs:
    input_lang.addSentence(digits)
    output_lang.addSentence(words)
print("Counted words:", input_lang.n_words, output_lang.n_words)

input_ids = np.zeros((len(pairs), MAX_LENGTH), dtype=np.int32)
target_ids = np.zeros((len(pairs), MAX_LENGTH), dtype=np.int32)
for idx, (inp, tgt) in enumerate(pairs):
    inp_ids = [input_lang.word2index[w] for w in inp.split(" ")] + [EOS_token]
    tgt_ids = [output_lang.word2index[w] for w in tgt.split(" ")] + [EOS_token]
    input_ids[idx, : len(inp_ids)] = inp_ids
    target_ids[idx, : len(tgt_ids)] = tgt_ids
train_data = TensorDataset(
    torch.LongTensor(input_ids).to(device), torch.LongTensor(target_ids).to(device)
)
print(len(RandomSampler(train_data)))
loader = DataLoader(train_data, sampler=SequentialSampler(train_data), batch_size=16)

encoder = EncoderRNN(input_lang.n_words, 12).to(device)
decoder = AttnDecoderRNN(12, output_lang.n_words).to(device)
weights = np.random.default_rng(0)
for module in (encoder, decoder):
    for p in module.parameters():
        p.data.copy_(torch.from_numpy(weights.normal(0, 0.2, p.shape)).to(p.dtype))
encoder_optimizer = optim.Adam(encoder.parameters(), lr=0.01)
decoder_optimizer = optim.Adam(decoder.parameters(), lr=0.01)
criterion = nn.NLLLoss()

for epoch in range(1, 5):
    for input_tensor, target_tensor in loader:
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        encoder_outputs, encoder_hidden = encoder(input_tensor)
        decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, target_tensor)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        print("(%d %d%%) loss %.6f" % (epoch, epoch / 4 * 100, loss.item()))

with torch.no_grad():
    encoder_outputs, encoder_hidden = encoder(train_data[0][0].unsqueeze(0))
    decoder_outputs, decoder_hidden, attention = decoder(encoder_outputs, encoder_hidden)
    _, topi = decoder_outputs.topk(1)
    decoded_ids = topi.squeeze()
    decoded_words = [output_lang.index2word[idx.item()] for idx in decoded_ids]
print(len(decoded_words), "words, attention", attention.shape)
