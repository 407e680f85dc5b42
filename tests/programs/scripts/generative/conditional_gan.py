"""A conditional GAN: labels are embedded beside the noise; spectral norm keeps the critic calm."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable
from torch.nn.utils import parametrizations

n_classes, latent_dim, dim = 4, 5, 12
FloatTensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
LongTensor = torch.cuda.LongTensor if torch.cuda.is_available() else torch.LongTensor
np.random.seed(4)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_emb = nn.Embedding(n_classes, n_classes)

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(latent_dim + n_classes, 16, normalize=False),
            *block(16, 16),
            nn.Linear(16, dim),
            nn.Tanh(),
        )

    def forward(self, noise, labels):
        gen_input = torch.cat((self.label_emb(labels), noise), -1)
        return self.model(gen_input)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_embedding = nn.Embedding(n_classes, n_classes)
        self.model = nn.Sequential(
            nn.Linear(n_classes + dim, 16),
            nn.ELU(inplace=True),
            nn.Linear(16, 16),
            nn.Hardtanh(),
            nn.Linear(16, 1),
        )

    def forward(self, x, labels):
        return self.model(torch.cat((x.view(x.size(0), -1), self.label_embedding(labels)), -1))


generator, discriminator = Generator(), Discriminator()
for net in (generator, discriminator):
    for p in net.parameters():
        if len(p.shape) == 2:
            p.data.copy_(torch.from_numpy(np.random.randn(*p.shape) * 0.3))
        else:
            p.data.mul_(0).add_(1 if p is net.model[0].bias else 0.5)
head = discriminator.model[4]
parametrizations.weight_norm(head, dim=0)
print(sorted(name for name, _ in head.named_parameters()))

optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
adversarial_loss = torch.nn.MSELoss()
centres = np.random.uniform(-1, 1, (n_classes, dim))

for step in range(8):
    labels_now = np.random.randint(0, n_classes, 16)
    real = Variable(torch.from_numpy(centres[labels_now]).type(FloatTensor))
    labels = Variable(torch.from_numpy(labels_now).type(LongTensor))
    valid = Variable(FloatTensor(16, 1).fill_(1.0), requires_grad=False)
    fake = Variable(FloatTensor(16, 1).fill_(0.0), requires_grad=False)

    optimizer_G.zero_grad()
    z = Variable(FloatTensor(np.random.normal(0, 1, (16, latent_dim))))
    gen_labels = Variable(LongTensor(np.random.randint(0, n_classes, 16)))
    generated = generator(z, gen_labels)
    g_loss = adversarial_loss(discriminator(generated, gen_labels), valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    d_real_loss = adversarial_loss(discriminator(real, labels), valid)
    d_fake_loss = adversarial_loss(discriminator(generated.detach(), gen_labels), fake)
    d_loss = (d_real_loss + d_fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()
    print("[Batch %d] [D loss: %f] [G loss: %f]" % (step, d_loss.item(), g_loss.item()))
