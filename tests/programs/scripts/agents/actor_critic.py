"""Actor-critic for a continuous action: a normal policy, squashed, with entropy."""

from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])
rng = np.random.default_rng(60)


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(3, 16)
        self.action_head = nn.Linear(16, 1)
        self.value_head = nn.Linear(16, 1)
        self.log_std = nn.Parameter(torch.full((1,), -0.5))
        self.saved_actions = []
        self.rewards = []
        self.entropies = []

    def forward(self, x):
        x = torch.tanh(self.affine1(x))
        return self.action_head(x), self.value_head(x)


model = Policy()
for name, p in model.named_parameters():
    if name != "log_std":
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
optimizer = optim.Adam(model.parameters(), lr=1e-2)


def select_action(state):
    mean, value = model(torch.from_numpy(state).float())
    base = Normal(mean, model.log_std.exp())
    squashed = TransformedDistribution(base, [TanhTransform()])
    assert squashed.rsample().shape == (1,)
    action = torch.tanh(torch.from_numpy(rng.normal(0, 0.7, 1)).float())
    model.saved_actions.append(SavedAction(squashed.log_prob(action).sum(), value))
    model.entropies.append(base.entropy().sum())
    return action.item()


def finish_episode():
    R = 0
    policy_losses, value_losses, returns = [], [], []
    for r in model.rewards[::-1]:
        R = r + 0.95 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss = loss - 0.01 * torch.stack(model.entropies).sum()
    loss.backward()
    optimizer.step()
    model.rewards.clear()
    model.saved_actions.clear()
    model.entropies.clear()
    return loss


for episode in range(7):
    position, speed = rng.uniform(-1, 1), 0.0
    for t in range(12):
        push = select_action(np.array([position, speed, np.cos(position)]))
        speed = 0.9 * speed + 0.3 * push
        position += speed
        model.rewards.append(-(position**2) - 0.1 * push**2)
    loss = finish_episode()
    print(f"episode {episode} loss {loss.item():.5f}")
print("log_std moved:", abs(model.log_std.item() + 0.5) > 1e-4)
