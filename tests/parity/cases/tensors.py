"""Methods of tensors, and PyTorch's names of functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import case, classes

UNARY = {
    "view": lambda x: x.view(3, -1),
    "view-tuple": lambda x: x.view((6, 4)),
    "reshape": lambda x: x.reshape(-1),
    "flatten": lambda x: x.flatten(),
    "flatten-some": lambda x: x.flatten(1),
    "flatten-first": lambda x: x.flatten(0, 1),
    "permute": lambda x: x.permute(2, 0, 1),
    "permute-tuple": lambda x: x.permute((1, 0, 2)),
    "transpose": lambda x: x.transpose(0, -1),
    "t": lambda x: x[0].t(),
    "T": lambda x: x[0].T,
    "mT": lambda x: x.mT,
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(),
    "squeeze-one": lambda x: x.unsqueeze(1).unsqueeze(0).squeeze(0),
    "squeeze-none": lambda x: x.squeeze(1),
    "expand": lambda x: x.unsqueeze(0).expand(5, -1, 3, 4),
    "expand-longer": lambda x: x.expand(2, -1, -1, -1),
    "expand_as": lambda x: x[:1].expand_as(x),
    "repeat": lambda x: x.repeat(2, 1, 1, 3),
    "chunk": lambda x: x.chunk(3, dim=2),
    "chunk-fewer": lambda x: x.chunk(5, dim=1),
    "split": lambda x: x.split(3, dim=-1),
    "split-sizes": lambda x: x.split([1, 2], dim=1),
    "unbind": lambda x: x.unbind(1),
    "contiguous": lambda x: x.contiguous().cpu() * 2,
    "clone": lambda x: x.clone() * x,
    "data": lambda x: x.data * x,
    "float": lambda x: (x > 0).float() * x,
    "int": lambda x: (x * 3).int(),
    "long": lambda x: (x * 3).long(),
    "bool": lambda x: (x * 2).int().bool().int(),
    "half": lambda x: x.half().float(),
    "double": lambda x: x.double().exp().float(),
    "type_as": lambda x: (x > 0).type_as(x) * x,
    "size": lambda x: x * x.size(0) + x.size()[2] + x.dim() + x.numel(),
    "sum": lambda x: x.sum(),
    "sum-dim": lambda x: x.sum(dim=(0, 2), keepdim=True),
    "mean": lambda x: x.mean(dim=1),
    "mean-position": lambda x: x.mean(-1),
    "max": lambda x: x.max(),
    "max-dim": lambda x: tuple(x.max(dim=1)),
    "min-dim": lambda x: tuple(x.min(dim=-1, keepdim=True)),
    "max-ties": lambda x: x.relu().max(dim=2).values,
    "min-names": lambda x: x.min(dim=0).values * 2,
    "argmax": lambda x: x.argmax(),
    "argmax-dim": lambda x: x.argmax(dim=1, keepdim=True),
    "argmin": lambda x: x.argmin(1),
    "std": lambda x: x.std(),
    "std-dim": lambda x: x.std(dim=(0, 1), keepdim=True),
    "var": lambda x: x.var(dim=1, unbiased=False),
    "var-correction": lambda x: x.var(dim=2, correction=2),
    "exp": lambda x: x.exp(),
    "log": lambda x: (x.abs() + 0.1).log(),
    "sqrt": lambda x: x.abs().sqrt(),
    "pow": lambda x: x.pow(3),
    "clamp": lambda x: x.clamp(-0.5, 0.6),
    "clamp-min": lambda x: x.clamp(min=0.1),
    "clamp-max": lambda x: x.clamp(max=0.1),
    "relu": lambda x: x.relu(),
    "sigmoid": lambda x: x.sigmoid(),
    "tanh": lambda x: x.tanh(),
    "softmax": lambda x: x.softmax(dim=1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "matmul": lambda x: x.matmul(x.transpose(1, 2)),
    "mm": lambda x: x[0].mm(x[1].t()),
    "bmm": lambda x: x.bmm(x.transpose(1, 2)),
    "masked_fill": lambda x: x.masked_fill(x > 0.3, -1.5),
    "masked_fill-broadcast": lambda x: x.masked_fill(x[:1] > 0, 0),
    "is_floating_point": lambda x: x * float(x.is_floating_point() and not x.int().bool().dim()),
}
for _name, _call in UNARY.items():
    case(f"tensor.{_name}", lambda t, call=_call: call, (2, 3, 4))

for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    case(
        f"tensor.{_name}",
        lambda t, n=_name: lambda x, y: getattr(x, n)(y).int(),
        classes("left", (3, 4), 3),
        classes("right", (3, 4), 3),
    )
case("tensor.gather", lambda t: lambda x, i: x.gather(1, i), (3, 5), classes("at", (3, 4), 5))
case("tensor.gather-few", lambda t: lambda x, i: x.gather(0, i), (3, 5), classes("in", (2, 4), 3))

FUNCTIONS: dict[str, Any] = {
    "tensor": lambda t, x: x * t.tensor([[1.5], [2.0]]) + t.tensor(2, dtype=t.float),
    "tensor-grad": lambda t, x: x * t.tensor([3.0], requires_grad=True),
    "from_numpy": lambda t, x: x + t.from_numpy(np.ones((2, 3), np.float32)),
    "cat": lambda t, x: t.cat([x, x * 2], dim=1),
    "stack": lambda t, x: t.stack((x, x * 2), dim=-1),
    "zeros": lambda t, x: t.zeros(2, 3) + t.ones((2, 3)) * x + t.zeros(3, dtype=t.float),
    "clamp": lambda t, x: t.clamp(x, min=-0.3, max=0.3),
    "mm": lambda t, x: t.mm(x, t.transpose(x, 0, 1)),
    "bmm": lambda t, x: t.bmm(t.unsqueeze(x, 0), t.unsqueeze(x.t(), 0)),
    "flatten": lambda t, x: t.flatten(x),
    "permute": lambda t, x: t.permute(x, (1, 0)),
    "chunk": lambda t, x: t.chunk(x, 2, dim=1),
    "masked_fill": lambda t, x: t.masked_fill(x, x > 0, 1.0) if t.is_tensor(x) else None,
    "sum": lambda t, x: t.sum(x, dim=1, keepdim=True),
    "mean": lambda t, x: t.mean(x, dim=0),
    "argmax": lambda t, x: t.argmax(x, dim=1),
    "long": lambda t, x: t.tensor([1, 2], dtype=t.long),
}
for _name, _call in FUNCTIONS.items():
    case(f"t.{_name}", lambda t, call=_call: lambda x: call(t, x), (2, 3))
case(
    "t.no_grad",
    lambda t: lambda x: no_gradient(t, x) * x,
    (2, 3),
)


def no_gradient(t: Any, x: Any) -> Any:
    with t.no_grad():
        return x.exp()


case("nn.CosineSimilarity", lambda t: t.nn.CosineSimilarity(dim=2), (2, 3, 4), (2, 3, 4))
case("nn.PairwiseDistance", lambda t: t.nn.PairwiseDistance(keepdim=True), (3, 4), (3, 4))
case("nn.PairwiseDistance-1", lambda t: t.nn.PairwiseDistance(p=1.0), (3, 4), (3, 4))
case("F.normalize-dim", lambda t: lambda x: t.nn.functional.normalize(x, dim=-1), (3, 4))
