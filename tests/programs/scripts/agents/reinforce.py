"""REINFORCE with a categorical policy; its actions are drawn from fixed uniform numbers."""

import argparse
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

parser = argparse.ArgumentParser(description="REINFORCE example")
parser.add_argument("--gamma", type=float, default=0.99, metavar="G")
parser.add_argument("--seed", type=int, default=543, metavar="N")
args = parser.parse_args()
rng = np.random.default_rng(args.seed)
torch.manual_seed(args.seed)


class Pole:
    """A pole that falls over, roughly."""

    def reset(self):
        self.state = rng.uniform(-0.05, 0.05, 4)
        self.age = 0
        return self.state, {}

    def step(self, action):
        x, v, angle, spin = self.state
        force = 1.0 if action == 1 else -1.0
        spin += 0.1 * (9.8 * np.sin(angle) - force * np.cos(angle))
        angle += 0.1 * spin
        v += 0.1 * force
        x += 0.1 * v
        self.state = np.array([x, v, angle, spin])
        self.age += 1
        return self.state, 1.0, abs(angle) > 0.5 or self.age >= 15, False, {}


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 16)
        self.dropout = nn.Dropout(p=0.0)
        self.affine2 = nn.Linear(16, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = self.affine1(x)
        x = self.dropout(x)
        x = F.relu(x)
        action_scores = self.affine2(x)
        return F.softmax(action_scores, dim=1)


env = Pole()
policy = Policy()
for p in policy.parameters():
    p.data.copy_(torch.from_numpy(rng.uniform(-0.3, 0.3, p.shape)))
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()


def select_action(state):
    state = torch.from_numpy(state).float().unsqueeze(0)
    probs = policy(state)
    m = Categorical(probs)
    assert m.sample().shape == (1,)
    action = torch.tensor([int(rng.random() < 0.5)])
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R = 0
    policy_loss = []
    returns = deque()
    for r in policy.rewards[::-1]:
        R = r + args.gamma * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return policy_loss.item()


running_reward = 10
for i_episode in range(1, 9):
    state, _ = env.reset()
    ep_reward = 0
    for t in range(1, 100):
        action = select_action(state)
        state, reward, done, _, _ = env.step(action)
        policy.rewards.append(reward)
        ep_reward += reward
        if done:
            break
    running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
    print(
        "Episode {}\tLast reward: {:.2f}\tloss {:.5f}".format(
            i_episode, ep_reward, finish_episode()
        )
    )
