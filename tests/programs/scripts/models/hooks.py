"""Hooks: activations and gradients that are looked at and changed; saliency; freezing."""

import numpy as np
import torch
import torch.nn as nn

activation = {}
gradients = {}


def get_activation(name):
    def hook(model, input, output):
        activation[name] = output.detach()

    return hook


class GradCAM:
    def __init__(self, model, layer):
        self.model = model
        self.handles = [
            layer.register_forward_hook(self.save_activation),
            layer.register_full_backward_hook(self.save_gradient),
        ]

    def save_activation(self, module, input, output):
        self.activations = output

    def save_gradient(self, module, grad_input, grad_output):
        self.gradients = grad_output[0]

    def __call__(self, x, class_idx=None):
        logit = self.model(x)
        if class_idx is None:
            score = logit[:, logit.max(1)[-1]].squeeze()
        else:
            score = logit[:, class_idx].squeeze()
        self.model.zero_grad()
        score.backward()
        b, k, u, v = self.gradients.size()
        weights = self.gradients.view(b, k, -1).mean(2).view(b, k, 1, 1)
        saliency = (weights * self.activations).sum(1, keepdim=True).relu()
        saliency = nn.functional.interpolate(
            saliency, size=x.shape[-2:], mode="bilinear", align_corners=False
        )
        low, high = saliency.min(), saliency.max()
        return (saliency - low).div(high - low + 1e-8).data

    def remove(self):
        for handle in self.handles:
            handle.remove()


rng = np.random.default_rng(18)
model = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1),
    nn.Softplus(),
    nn.Conv2d(4, 4, 3, padding=1),
    nn.Softplus(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(4, 3),
)
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)))
x = torch.from_numpy(rng.normal(size=(12, 1, 6, 6))).float()
y = torch.from_numpy(rng.integers(0, 3, 12))

handles = [m.register_forward_hook(get_activation(n)) for n, m in model.named_children()]
pre = model[6].register_forward_pre_hook(lambda m, args: (args[0] * 1.5,))
for n, p in model.named_parameters():
    p.register_hook(lambda g, n=n: gradients.__setitem__(n, g.norm().item()))
halved = model[0].weight.register_hook(lambda g: g * 0.5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for step in range(5):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f}")
print(sorted(activation), activation["2"].shape, activation["6"].requires_grad)
print(sorted(gradients) == sorted(n for n, _ in model.named_parameters()))
for handle in handles:
    handle.remove()
pre.remove()
halved.remove()

cam = GradCAM(model, model[2])
shown = cam(x[:1])
cam.remove()
print(shown.shape, 0 <= shown.min().item(), shown.max().item() <= 1)

pixels = x.clone().requires_grad_()
loss = nn.functional.cross_entropy(model(pixels), y)
loss.backward()
print(f"saliency loss {pixels.grad.abs().sum().item():.5f}")
attacked = (pixels + 0.05 * pixels.grad.sign()).detach()
with torch.no_grad():
    print(f"attacked loss {nn.functional.cross_entropy(model(attacked), y).item():.6f}")

h = torch.tensor([1.0, 2.0], requires_grad=True)
middle = h * 3
middle.register_hook(lambda g: print("gradient of the middle", g) or g * 2)
middle.retain_grad()
middle.pow(2).sum().backward()
print(h.grad.tolist(), middle.grad.tolist())
for p in model[:4].parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.3)
print(len(optimizer.param_groups[0]["params"]))
model.train(False)
