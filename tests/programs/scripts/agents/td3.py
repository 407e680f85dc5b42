"""A deterministic policy gradient with twin critics, in the manner of TD3."""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super(Actor, self).__init__()
        self.l1 = nn.Linear(state_dim, 16)
        self.l2 = nn.Linear(16, action_dim)
        self.max_action = max_action

    def forward(self, state):
        return self.max_action * torch.tanh(self.l2(F.relu(self.l1(state))))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super(Critic, self).__init__()
        self.q1 = nn.Sequential(nn.Linear(state_dim + action_dim, 16), nn.Mish(), nn.Linear(16, 1))
        self.q2 = nn.Sequential(nn.Linear(state_dim + action_dim, 16), nn.Mish(), nn.Linear(16, 1))

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.q1(sa), self.q2(sa)

    def Q1(self, state, action):
        return self.q1(torch.cat([state, action], 1))


class ReplayBuffer(object):
    def __init__(self, state_dim, action_dim, max_size=64):
        rng = np.random.default_rng(3)
        self.state = rng.normal(size=(max_size, state_dim))
        self.action = rng.uniform(-1, 1, (max_size, action_dim))
        self.next_state = self.state + 0.1 * np.tile(self.action, (1, state_dim // action_dim))
        self.reward = -(self.next_state**2).sum(1, keepdims=True)
        self.not_done = (rng.random((max_size, 1)) < 0.9).astype(float)
        self.rng = rng
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def sample(self, batch_size):
        ind = self.rng.integers(0, len(self.state), size=batch_size)
        return (
            torch.FloatTensor(self.state[ind]).to(self.device),
            torch.FloatTensor(self.action[ind]).to(self.device),
            torch.FloatTensor(self.next_state[ind]).to(self.device),
            torch.FloatTensor(self.reward[ind]).to(self.device),
            torch.FloatTensor(self.not_done[ind]).to(self.device),
        )


rng = np.random.default_rng(9)
actor, critic = Actor(4, 2, 1.0), Critic(4, 2)
for network in (actor, critic):
    for p in network.parameters():
        p.data.copy_(torch.from_numpy(rng.uniform(-0.4, 0.4, p.shape)))
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
buffer = ReplayBuffer(4, 2)
tau, discount, policy_noise, noise_clip = 0.05, 0.97, 0.2, 0.5

for it in range(1, 11):
    state, action, next_state, reward, not_done = buffer.sample(24)
    with torch.no_grad():
        fixed = torch.from_numpy(rng.normal(size=action.shape)).to(action)
        noise = (fixed * policy_noise).clamp(-noise_clip, noise_clip)
        next_action = (actor_target(next_state) + noise).clamp(-1.0, 1.0)
        target_Q1, target_Q2 = critic_target(next_state, next_action)
        target_Q = reward + not_done * discount * torch.min(target_Q1, target_Q2)
    current_Q1, current_Q2 = critic(state, action)
    critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    print(f"critic loss {critic_loss.item():.5f}")
    if it % 2 == 0:
        actor_loss = -critic.Q1(state, actor(state)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        for net, slow in ((critic, critic_target), (actor, actor_target)):
            for param, target_param in zip(net.parameters(), slow.parameters()):
                target_param.data.copy_(tau * param.data + (1 - tau) * target_param.data)
        print(f"actor loss {actor_loss.item():.6f}")

with torch.no_grad():
    for param, target_param in zip(actor.parameters(), actor_target.parameters()):
        target_param.lerp_(param, 1.0)
    print(torch.equal(actor(state), actor_target(state)))
