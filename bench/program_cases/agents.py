"""Programs that act: many small computations with Python between them."""

import numpy as np

from .program import program


@program("dqn")
def dqn(t, numbers, small):
    """A batch of transitions from a memory, and a target network that follows slowly."""
    nn = t.nn
    batch, hidden = (4, 5) if small else (64, 128)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer1 = nn.Linear(4, hidden)
            self.layer2 = nn.Linear(hidden, hidden)
            self.layer3 = nn.Linear(hidden, 2)

        def forward(self, x):
            x = nn.functional.relu(self.layer1(x))
            x = nn.functional.relu(self.layer2(x))
            return self.layer3(x)

    policy, target = numbers.filled(Net()), Net()
    target.load_state_dict(policy.state_dict())
    optimizer = t.optim.AdamW(policy.parameters(), lr=1e-3, amsgrad=True)
    criterion = nn.SmoothL1Loss()
    memory = [
        tuple(t.tensor(numbers.rng.normal(size=(1, 4)).astype(np.float32)) for _ in range(2))
        for _ in range(batch)
    ]

    def step():
        states = t.cat([state for state, _ in memory])
        following = t.cat([after for _, after in memory])
        actions, rewards = numbers.below(2, batch, 1), numbers.uniform(batch)
        values = policy(states).gather(1, actions)
        with t.no_grad():
            best = target(following).max(1).values
        expected = best * 0.99 + rewards
        loss = criterion(values, expected.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        t.nn.utils.clip_grad_value_(policy.parameters(), 100)
        optimizer.step()
        ours, theirs = policy.state_dict(), target.state_dict()
        for key in ours:
            theirs[key] = ours[key] * 0.005 + theirs[key] * 0.995
        target.load_state_dict(theirs)
        return loss.item()

    return step


@program("actor-critic", draws=True)
def actor_critic(t, numbers, small):
    """Steps of an episode, each an action that is drawn and read; then one update."""
    nn, F = t.nn, t.nn.functional
    turns = 3 if small else 10

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1 = nn.Linear(4, 128)
            self.action_head = nn.Linear(128, 2)
            self.value_head = nn.Linear(128, 1)

        def forward(self, x):
            x = F.relu(self.affine1(x))
            return F.softmax(self.action_head(x), dim=-1), self.value_head(x)

    model = numbers.filled(Policy())
    optimizer = t.optim.Adam(model.parameters(), lr=3e-2)

    def step():
        saved, rewards = [], []
        state = numbers.rng.normal(size=4).astype(np.float32)
        for _ in range(turns):
            probabilities, value = model(t.from_numpy(state))
            m = t.distributions.Categorical(probabilities)
            action = m.sample()
            saved.append((m.log_prob(action), value))
            state = state + (0.1 if action.item() else -0.1)
            rewards.append(float(np.exp(-np.abs(state[0]))))
        R, returns = 0.0, []
        for r in rewards[::-1]:
            R = r + 0.99 * R
            returns.insert(0, R)
        returns = t.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        policy_losses, value_losses = [], []
        for (log_prob, value), R in zip(saved, returns, strict=True):
            advantage = R - value.item()
            policy_losses.append(-log_prob * advantage)
            value_losses.append(F.smooth_l1_loss(value, R.reshape(1)))
        optimizer.zero_grad()
        loss = t.stack(policy_losses).sum() + t.stack(value_losses).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("reinforce", draws=True)
def reinforce(t, numbers, small):
    """An episode's actions drawn from Categorical, and the gradient of their logarithms."""
    nn, F = t.nn, t.nn.functional
    turns = 3 if small else 10
    policy = numbers.filled(
        nn.Sequential(nn.Linear(4, 32), nn.Dropout(p=0.6), nn.ReLU(), nn.Linear(32, 2))
    )
    optimizer = t.optim.Adam(policy.parameters(), lr=1e-2)

    def step():
        log_probs, rewards = [], []
        state = numbers.rng.normal(size=4).astype(np.float32)
        for _ in range(turns):
            probs = F.softmax(policy(t.from_numpy(state).float().unsqueeze(0)), dim=1)
            m = t.distributions.Categorical(probs)
            action = m.sample()
            log_probs.append(m.log_prob(action))
            state = state + (0.1 if action.item() else -0.1)
            rewards.append(float(np.exp(-np.abs(state[0]))))
        returns = t.tensor(np.cumsum(rewards[::-1])[::-1].astype(np.float32))
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = [-log_prob * R for log_prob, R in zip(log_probs, returns, strict=True)]
        optimizer.zero_grad()
        loss = t.cat(loss).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step
