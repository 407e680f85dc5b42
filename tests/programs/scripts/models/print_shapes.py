"""Shapes, sizes, strides and numbers of elements, as they are printed."""

import torch
from torch import nn

x = torch.zeros(2, 3, 4)
print(x.shape)
print(x.size(), x.size(0), x.size(-1), x.dim(), x.ndim, x.numel(), x.nelement(), len(x))
print(x.shape == (2, 3, 4), x.shape == torch.Size([2, 3, 4]), x.shape[1:], x.shape[-1])
print(tuple(x.shape), list(x.shape), x.shape.numel())
print(torch.Size([2, 3]) + torch.Size([4]), torch.Size((5,)), torch.Size([]))
b, c, t = x.shape
print(b, c, t, f"{x.shape}", "%s" % (x.shape,))
print(x.stride(), x.stride(0), x.is_contiguous(), x.transpose(0, 1).contiguous().stride())
print(x.permute(2, 0, 1).shape, x.view(-1, 4).shape, x.unsqueeze(1).shape, x.flatten(1).shape)
print(x.mean(dim=1).shape, x.sum((0, 2)).shape, x.max(dim=-1, keepdim=True).values.shape)
print([part.shape for part in x.split([1, 2], dim=1)], [part.shape for part in x.chunk(3, 2)])
print(x.expand(5, 2, 3, 4).shape, x.repeat(1, 2, 1).shape, x.new_ones(3).shape)
print(torch.stack([x, x], -1).shape, torch.cat([x, x], 1).shape, x[None, ..., 0].shape)
print(torch.broadcast_shapes((2, 1), (3,)), torch.einsum("bct,bdt->bcd", x, x).shape)
print(x.element_size(), x.nbytes, x.element_size() * x.nelement(), x.storage_offset())
print(x.layout, x.requires_grad, x.is_leaf, x.grad_fn, x.dtype)
print(torch.device("cpu"), torch.device("cuda", 1), torch.device("cuda:0").index)

for layer, shape in (
    (nn.Conv2d(3, 8, 3, stride=2, padding=1), (2, 3, 9, 9)),
    (nn.ConvTranspose2d(3, 4, 4, 2, 1), (2, 3, 5, 5)),
    (nn.MaxPool2d(3, 2, ceil_mode=True), (1, 2, 8, 8)),
    (nn.AdaptiveAvgPool2d((2, None)), (1, 2, 8, 7)),
    (nn.Unfold(3, padding=1), (1, 2, 5, 5)),
    (nn.Upsample(scale_factor=2), (1, 1, 3, 3)),
    (nn.Conv1d(4, 6, 3, dilation=2, groups=2), (1, 4, 12)),
):
    print(type(layer).__name__, layer(torch.zeros(shape)).shape)
output, (hidden, cell) = nn.LSTM(5, 7, num_layers=2, bidirectional=True)(torch.zeros(3, 2, 5))
print(output.shape, hidden.shape, cell.shape)

top = torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2)
print(*top, top.values.shape)
values, indices = top
print(values, indices, *torch.sort(torch.tensor([2, 1]), descending=True))
print(*torch.tensor([[1, 5], [7, 2]]).max(dim=1))
print(torch.tensor([0, 1, 0, 2]).nonzero(), torch.tensor([0, 1, 0]).nonzero(as_tuple=True))
print(torch.unique(torch.tensor([3, 1, 3]), return_counts=True))
print(torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max, torch.iinfo(torch.int8).min)
try:
    torch.zeros(2, 3) @ torch.zeros(2, 3)
except RuntimeError:
    print("shapes do not fit: RuntimeError")
try:
    torch.zeros(2).view(3)
except RuntimeError:
    print("no such view: RuntimeError")
try:
    torch.zeros(2)[5]
except IndexError:
    print("outside: IndexError")
