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


def _changed(change: Any) -> Any:
    """A case's function: a copy of the input, changed in place, through which gradients go."""

    def run(x: Any) -> Any:
        made = x * 1.5
        change(made)
        return made

    return run


def other(x: Any) -> Any:
    """Positive numbers that follow from x and pass no gradient to it."""
    return x.detach().exp() + 0.5


IN_PLACE: dict[str, Any] = {
    "add_": lambda x: x.add_(2).add_(other(x), alpha=3),
    "sub_": lambda x: x.sub_(other(x), alpha=0.5),
    "mul_": lambda x: x.mul_(other(x)),
    "div_": lambda x: x.div_(3.0).add_(1),
    "zero_": lambda x: x[0].zero_(),
    "fill_": lambda x: x.view(-1)[3:9].fill_(2.5),
    "copy_": lambda x: x[:, 1].copy_(other(x)[:, 2]),
    "clamp_": lambda x: x.clamp_(-0.5, 0.5),
    "masked_fill_": lambda x: x.masked_fill_(other(x) > 1.3, 7.0),
    "transpose": lambda x: x.transpose(0, 2)[1].mul_(-1),
    "permute": lambda x: x.permute(2, 0, 1)[0, 1].add_(4),
    "unsqueeze": lambda x: x.unsqueeze(0)[0, 1].add_(4),
    "chunk": lambda x: x.data.chunk(2, dim=2)[1].zero_(),
    "split": lambda x: x.data.split([1, 2], dim=1)[1].mul_(3),
    "unbind": lambda x: x.data.unbind(1)[2].neg_(),
    "narrow": lambda x: x.narrow(2, 1, 2).add_(9),
    "data": lambda x: x.data.mul_(2),
    "lerp_": lambda x: x.lerp_(other(x), 0.3),
    "addcmul_": lambda x: x.addcmul_(other(x), other(x), value=0.5),
    "addcdiv_": lambda x: x.addcdiv_(other(x), other(x), value=0.5),
    "setitem": lambda x: x.__setitem__((slice(None), 1), other(x)[:, 0]),
    "setitem-number": lambda x: x.__setitem__((0, slice(1, None), -1), 3.0),
    "setitem-mask": lambda x: x.__setitem__(other(x) > 1.2, -1.0),
}  # fmt: skip
for _name, _function in IN_PLACE.items():
    case(f"in place {_name}", lambda t, f=_function: _changed(f), (2, 3, 4))

MORE: dict[str, Any] = {
    "add-alpha": lambda x: x.add(x.exp(), alpha=2),
    "sub-alpha": lambda x: x.sub(1, alpha=0.5),
    "mul": lambda x: x.mul(x).div(3).neg().square(),
    "div-floor": lambda x: x.div(0.3, rounding_mode="floor") * x,
    "div-trunc": lambda x: x.div(0.3, rounding_mode="trunc") * x,
    "rsqrt": lambda x: (x * x + 1).rsqrt() + (x * x + 1).reciprocal(),
    "logs": lambda x: (x * x + 1).log2() + (x * x + 1).log10() + (x * x).log1p() + x.expm1(),
    "trigonometry": lambda x: x.sin() + x.cos() * x.atan() + x.erf(),
    "rounding": lambda x: (x.floor() + x.ceil() + x.trunc() + x.round() + x.sign()) * x,
    "maximum": lambda x: x.maximum(x * 2) + x.minimum(x * x),
    "clip": lambda x: x.clip(-1, 1) + x.clamp_min(0.1) + x.clamp_max(0.2),
    "lerp": lambda x: x.lerp(x * x, 0.25),
    "addcmul": lambda x: x.addcmul(x, x.exp(), value=0.5).addcdiv(x, x.exp(), value=2),
    "addmm": lambda x: x[0].addmm(x[0] @ x[0].t(), x[1], beta=0.5, alpha=2),
    "mv": lambda x: x[0].mv(x[1, 0]) + x[0, 0].dot(x[1, 1]),
    "outer": lambda x: x[0, 0].outer(x[1, 1]),
    "isfinite": lambda x: (x / (x > 0).float()).isfinite().float() * x,
    "isnan": lambda x: ((x - x) / (x - x)).isnan(),
    "where": lambda x: x.where(x > 0, x * x),
    "isclose": lambda x: x.isclose(x + 1e-9),
    "any": lambda x: (x > 1).any(dim=1),
    "all": lambda x: (x > -1).all(),
    "prod": lambda x: x.prod(dim=2),
    "amax": lambda x: x.amax(dim=(0, 2)) - x.amin(dim=1, keepdim=True).sum(),
    "norm": lambda x: x.norm() + x.norm(1, dim=1).sum() + x.norm(3.0) + x.norm(float("inf")),
    "logsumexp": lambda x: x.logsumexp(dim=(0, 1)),
    "cumsum": lambda x: x.cumsum(1) + x.cumprod(dim=2),
    "sort": lambda x: tuple(x.sort(dim=1, descending=True)),
    "argsort": lambda x: x.argsort(dim=-1),
    "topk": lambda x: tuple(x.topk(2, dim=2)),
    "topk-smallest": lambda x: tuple(x.topk(2, dim=1, largest=False)),
    "narrow": lambda x: x.narrow(2, 1, 2) + x.select(2, -1).unsqueeze(-1),
    "flip": lambda x: x.flip(0, 2) + x.flip([1]),
    "roll": lambda x: x.roll(1, 2) + x.roll((1, -1), (0, 1)) + x.roll(5),
    "tril": lambda x: x.tril() + x.triu(1),
    "diag": lambda x: x[0].diag().diag(1) * 2 + x[0].diag(1).diag(-1),
    "diagonal": lambda x: x.diagonal(1, 1, 2) * 2,
    "diagonal-below": lambda x: x.diagonal(-1, 2, 0) * 2,
    "repeat_interleave": lambda x: x.repeat_interleave(2, dim=1),
    "movedim": lambda x: x.movedim(0, -1) * 2,
    "swapaxes": lambda x: x.swapaxes(0, 1) * 2,
    "unflatten": lambda x: x.unflatten(2, (2, -1)) * 2,
    "view_as": lambda x: x.view_as(x.reshape(6, 4)) + x.reshape_as(x.view(6, 4)),
    "new_zeros": lambda x: x.new_zeros(2, 3) + x.new_ones((3,)) + x.new_full((2, 1), 4.0) * x.sum(),
    "new_tensor": lambda x: x.new_tensor([1, 2, 3, 4]) * x,
    "to": lambda x: (x * 3).to(dtype=(x > 0).dtype).to(x.dtype) * x.to(x),
    "is_leaf": lambda x: x * float(x.is_leaf) + (x * 2).is_leaf,
}  # fmt: skip
for _name, _function in MORE.items():
    case(f"x.{_name}", lambda t, f=_function: f, (2, 3, 4))

places = classes("places", (2, 2, 4), 3)
case("x.scatter", lambda t: lambda x, i, s: x.scatter(1, i, s), (2, 3, 4), places[:, :1], (2, 1, 4))
case("x.scatter-number", lambda t: lambda x, i: x.scatter(1, i, 5.0), (2, 3, 4), places)
case("x.scatter_add", lambda t: lambda x, i, s: x.scatter_add(1, i, s), (2, 3, 4), places,
     (2, 2, 4))  # fmt: skip
case("x.index_select", lambda t: lambda x, i: x.index_select(1, i), (2, 3, 4), places[0, 0])
case("x.index_add", lambda t: lambda x, i, s: x.index_add(1, i, s, alpha=2), (2, 3, 4),
     places[0, 0], (2, 4, 4))  # fmt: skip
