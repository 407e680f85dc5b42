"""A cubic for a sine: by hand, with autograd, with a Function of one's own, with nn and optim."""

import math

import numpy as np
import torch

dtype = torch.float
device = torch.device("cpu")
rng = np.random.default_rng(0)
start = rng.normal(size=4).astype(np.float32)
x = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=dtype)
y = torch.sin(x)

# By hand.
a, b, c, d = (torch.tensor(v, device=device, dtype=dtype) for v in start)
learning_rate = 1e-6
for t in range(6):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).sum().item()
    print(t, "loss", loss)
    grad_y_pred = 2.0 * (y_pred - y)
    grad_a = grad_y_pred.sum()
    grad_b = (grad_y_pred * x).sum()
    grad_c = (grad_y_pred * x**2).sum()
    grad_d = (grad_y_pred * x**3).sum()
    a -= learning_rate * grad_a
    b -= learning_rate * grad_b
    c -= learning_rate * grad_c
    d -= learning_rate * grad_d

# With autograd.
a, b, c, d = (torch.full((), v.item(), dtype=dtype, requires_grad=True) for v in start)
for t in range(6):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).sum()
    print(t, "loss", loss.item())
    loss.backward()
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad
        c -= learning_rate * c.grad
        d -= learning_rate * d.grad
        a.grad = None
        b.grad = None
        c.grad = None
        d.grad = None


# With a Function.
class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


a = torch.full((), 0.0, device=device, dtype=dtype, requires_grad=True)
b = torch.full((), -1.0, device=device, dtype=dtype, requires_grad=True)
c = torch.full((), 0.0, device=device, dtype=dtype, requires_grad=True)
d = torch.full((), 0.3, device=device, dtype=dtype, requires_grad=True)
for t in range(6):
    P3 = LegendrePolynomial3.apply
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    print(t, f"loss {loss.item():.5f}")
    loss.backward()
    with torch.no_grad():
        for w in (a, b, c, d):
            w -= 5e-5 * w.grad
            w.grad = None
assert torch.autograd.gradcheck(LegendrePolynomial3.apply, torch.ones(3).double().requires_grad_())

# With nn and optim.
p = torch.tensor([1, 2, 3])
xx = x.unsqueeze(-1).pow(p)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
model[0].weight.data.copy_(torch.from_numpy(start[None, 1:]))
model[0].bias.data.fill_(start[0].item())
loss_fn = torch.nn.MSELoss(reduction="sum")
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
for t in range(6):
    y_pred = model(xx)
    loss = loss_fn(y_pred, y)
    print(t, f"loss {loss.item():.5f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
linear_layer = model[0]
print(linear_layer.bias.shape, linear_layer.weight[:, 0].shape, linear_layer.weight.requires_grad)
