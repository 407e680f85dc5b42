"""Autodiff by hand: derivatives of numbers and functions, then a line fitted without an optimiser.

PYTHONPATH=py .venv/bin/python examples/autodiff_by_hand.py
python3 build.py run examples/autodiff_by_hand.py --device webgpu
"""

import tallow as tl

tl.manual_seed(0)


def cube(x):
    return x**3 + 2 * x


# A tensor that requires a gradient collects it in `grad`. Here it is 3 x^2 + 2.
x = tl.tensor(2.0, requires_grad=True)
cube(x).backward()
print(f"at 2 the derivative is {x.grad.item()}")

# The same of the function, and the derivative of the derivative, 6 x.
slope = tl.grad(cube)
curvature = tl.grad(slope)
print(f"as functions: {slope(x.detach()).item()} and {curvature(x.detach()).item()}")

# Points around the line y = 3 x - 1.
inputs = tl.rand(100).realize()
targets = (3 * inputs - 1 + 0.1 * tl.randn(100)).realize()

# Variables change their value by `assign`; a step of gradient descent is a function of them.
weight = tl.Variable(0.0, requires_grad=True)
bias = tl.Variable(0.0, requires_grad=True)


@tl.jit
def step(x, y):
    loss = ((weight * x + bias - y) ** 2).mean()
    loss.backward()
    for parameter in (weight, bias):
        parameter.assign(parameter.detach() - 0.5 * parameter.grad)
        parameter.grad = None  # otherwise the next gradient is added to this one
    return loss


for number in range(101):
    loss = step(inputs, targets)
    if number % 20 == 0:
        print(f"step {number:3}  loss {loss.item():.4f}")

print(f"y = {weight.item():.2f} x + {bias.item():.2f}, computed on {loss.device}")
assert x.grad.item() == slope(x.detach()).item() == 14
assert curvature(x.detach()).item() == 12
assert abs(weight.item() - 3) < 0.1 and abs(bias.item() + 1) < 0.1
