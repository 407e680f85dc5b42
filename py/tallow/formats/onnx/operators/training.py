"""Derivatives, and single optimizer steps for any number of tensors: ai.onnx.preview.training."""

from __future__ import annotations

from collections.abc import Callable

from .... import functions as f
from ....errors import GradientError, OnnxFormatError, OnnxUnsupportedError
from ....grad_mode import enable_grad
from ....tensor import Tensor
from ..call import Call
from ..read.gradients import DOMAIN
from ..records import GraphRecord
from ..registry import operator


@operator("Gradient", domain=DOMAIN)
def gradient(call: Call, *inputs: Tensor) -> list[Tensor]:
    """The derivatives of the sum of "y" by each of "xs", where these and "zs" have the values of
    the inputs. It is 0 where y does not depend on an x.

    read/gradients.py finds the part of the graph that makes y.
    """
    from ....autodiff.everything import vjp  # only models with this operator need it

    xs, zs = _strings(call, "xs"), _strings(call, "zs", ())
    y = call.get("y", str)
    names = (*xs, *zs)
    if len(inputs) != len(names):
        raise OnnxFormatError(f"it has {len(inputs)} inputs for the {len(names)} of xs and zs")
    if len(set(names)) != len(names):
        raise OnnxFormatError(f"xs and zs name a tensor twice: {', '.join(names)}")
    graph = call.get("graph", GraphRecord, None)
    if graph is None or not graph.is_part:
        raise OnnxUnsupportedError("its xs, zs and y are not names of its own graph")

    def function(*values: Tensor) -> Tensor:
        return call.built(graph, [*values, *inputs[len(xs) :]])[0]

    try:
        with enable_grad():
            value, pull = vjp(function, *inputs[: len(xs)])
            return list(pull(f.ones(value.shape, value.dtype)))
    except GradientError as error:
        raise OnnxUnsupportedError(f"{y!r} can't be differentiated: {error}") from error


def _strings(call: Call, name: str, *default: tuple[str, ...]) -> tuple[str, ...]:
    found = call.get(name, tuple, *default)
    if not all(isinstance(each, str) for each in found):
        raise OnnxFormatError(f"the attribute {name!r} is not a list of names: {found}")
    return found


def _each(
    call: Call, tensors: tuple[Tensor, ...], kinds: int, step: Callable[..., tuple[Tensor, ...]]
) -> list[Tensor]:
    """step(value, gradient, state ...) for each tensor; inputs and outputs are sorted by kind."""
    if not tensors or len(tensors) % kinds:
        raise OnnxFormatError(f"{len(tensors)} tensors do not divide into {kinds} kinds")
    count = len(tensors) // kinds
    groups = [tensors[i::count] for i in range(count)]
    for group in groups:
        if any(x.shape != group[0].shape for x in group):
            raise OnnxFormatError(f"shapes differ: {', '.join(str(x.shape) for x in group)}")
    made = [step(*group) for group in groups]
    return [x.astype(tensors[0].dtype) for kind in zip(*made, strict=True) for x in kind]


def _scalar(x: Tensor, what: str) -> Tensor:
    if x.size != 1:
        raise OnnxFormatError(f"{what} must be one number, but its shape is {x.shape}")
    return f.reshape(x, ())


@operator("Adagrad", domain=DOMAIN)
def adagrad(call: Call, r: Tensor, t: Tensor, *tensors: Tensor) -> list[Tensor]:
    """Duchi et al. 2011, "Adaptive subgradient methods"."""
    rate, count = _scalar(r, "R"), _scalar(t, "T").astype(r.dtype)
    rate = rate / (count * call.get("decay_factor", float, 0.0) + 1.0)
    norm = call.get("norm_coefficient", float, 0.0)
    epsilon = call.get("epsilon", float, 1e-6)

    def step(x: Tensor, gradient: Tensor, square: Tensor) -> tuple[Tensor, ...]:
        gradient = gradient + x * norm
        square = square + gradient * gradient
        return x - gradient * rate / (f.sqrt(square) + epsilon), square

    return _each(call, tensors, 3, step)


@operator("Adam", domain=DOMAIN)
def adam(call: Call, r: Tensor, t: Tensor, *tensors: Tensor) -> list[Tensor]:
    """Kingma and Ba 2014."""
    rate, count = _scalar(r, "R"), _scalar(t, "T").astype(r.dtype)
    alpha, beta = call.get("alpha", float, 0.9), call.get("beta", float, 0.999)
    norm = call.get("norm_coefficient", float, 0.0)
    after = call.get("norm_coefficient_post", float, 0.0)
    epsilon = call.get("epsilon", float, 1e-6)
    later = f.maximum(count, 1.0)  # the first update needs no correction
    corrected = rate * f.sqrt(1.0 - f.pow(beta, later)) / (1.0 - f.pow(alpha, later))
    rate = f.where(count > 0, corrected, rate)

    def step(x: Tensor, gradient: Tensor, mean: Tensor, square: Tensor) -> tuple[Tensor, ...]:
        gradient = gradient + x * norm
        mean = mean * alpha + gradient * (1.0 - alpha)
        square = square * beta + gradient * gradient * (1.0 - beta)
        x = x - mean * rate / (f.sqrt(square) + epsilon)
        return x * (1.0 - after), mean, square

    return _each(call, tensors, 4, step)


@operator("Momentum", domain=DOMAIN)
def momentum(call: Call, r: Tensor, t: Tensor, *tensors: Tensor) -> list[Tensor]:
    """Sutskever et al. 2013, "On the importance of initialization and momentum"."""
    rate, count = _scalar(r, "R"), _scalar(t, "T")
    alpha, beta = call.get("alpha", float), call.get("beta", float)
    norm = call.get("norm_coefficient", float)
    mode = call.get("mode", str)
    if mode not in ("standard", "nesterov"):
        raise OnnxFormatError(f"mode {mode!r} is neither standard nor nesterov")
    share = f.where(count > 0, beta, 1.0).astype(r.dtype)

    def step(x: Tensor, gradient: Tensor, velocity: Tensor) -> tuple[Tensor, ...]:
        gradient = gradient + x * norm
        velocity = velocity * alpha + gradient * share
        move = velocity if mode == "standard" else gradient + velocity * alpha
        return x - move * rate, velocity

    return _each(call, tensors, 3, step)
