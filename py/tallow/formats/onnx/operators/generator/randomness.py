"""Random operators. Their numbers come from Philox and the seed, so all devices draw the same ones.

The seed is fixed when a session is made, so every run sees the same numbers. Without a seed, each
node of each session gets its own.
"""

from __future__ import annotations

import math
import struct

from ..... import functions as f
from .....core import dtype as dt
from .....core.shape import Shape
from .....errors import OnnxFormatError
from .....functions.philox import Key, normal, uniform
from .....tensor import Tensor
from ...call import Call
from ...read.tensors import type_called
from ...registry import operator


def _key(call: Call, seed: float | None) -> Key:
    data = call.seed() if seed is None else struct.pack("<d", seed)
    first, second = struct.unpack("<2I", data)
    return first, second


def _shape(call: Call) -> Shape:
    dims = call.ints("shape")
    if any(dim < 0 for dim in dims):
        raise OnnxFormatError(f"the shape {dims} has a negative dimension")
    return dims


def _wanted(call: Call, default: dt.DType) -> dt.DType:
    number = call.get("dtype", int, None)
    return default if number is None else type_called(number)


def _normal(call: Call, shape: Shape, default: dt.DType) -> Tensor:
    mean, scale = call.get("mean", float, 0.0), call.get("scale", float, 1.0)
    numbers = normal(shape, _key(call, call.get("seed", float, None)))
    return (numbers * scale + mean).astype(_wanted(call, default))


def _uniform(call: Call, shape: Shape, default: dt.DType) -> Tensor:
    low, high = call.get("low", float, 0.0), call.get("high", float, 1.0)
    numbers = uniform(shape, _key(call, call.get("seed", float, None)))
    return (numbers * (high - low) + low).astype(_wanted(call, default))


@operator("RandomNormal")
def _random_normal(call: Call) -> Tensor:
    return _normal(call, _shape(call), dt.float32)


@operator("RandomNormalLike")
def _random_normal_like(call: Call, x: Tensor) -> Tensor:
    return _normal(call, x.shape, x.dtype)


@operator("RandomUniform")
def _random_uniform(call: Call) -> Tensor:
    return _uniform(call, _shape(call), dt.float32)


@operator("RandomUniformLike")
def _random_uniform_like(call: Call, x: Tensor) -> Tensor:
    return _uniform(call, x.shape, x.dtype)


@operator("Bernoulli", since=15)
def bernoulli(call: Call, x: Tensor) -> Tensor:
    """1 with the probability x, otherwise 0."""
    numbers = uniform(x.shape, _key(call, call.get("seed", float, None)))
    return (numbers < x.astype(dt.float32)).astype(_wanted(call, x.dtype))


@operator("Multinomial")
def multinomial(call: Call, x: Tensor) -> Tensor:
    """Classes drawn by log probabilities (batch, classes), which need not be normalized: the
    largest after adding Gumbel noise (Gumbel 1954)."""
    count = call.get("sample_size", int, 1)
    if x.ndim != 2 or not x.shape[1] or count < 0:
        raise OnnxFormatError(f"can't draw {count} samples from log probabilities {x.shape}")
    batch, classes = x.shape
    numbers = uniform((batch, count, classes), _key(call, call.get("seed", float, None)))
    noise = f.negative(f.log(f.negative(f.log(numbers))))
    drawn = f.argmax(f.expand_dims(x.astype(dt.float32), 1) + noise, axis=2)
    return drawn.astype(_wanted(call, dt.int32))


@operator("Dropout")
def dropout(
    call: Call, x: Tensor, ratio: Tensor | None = None, training: Tensor | None = None
) -> list[Tensor]:
    """In training mode, elements become 0 with the probability `ratio`; the others are scaled up.

    Outside training nothing is dropped, and the mask is all true.
    """
    seed = call.get("seed", int, None)
    call.ignore("ratio")  # from operator sets before 12, without a training mode
    kept = f.ones(x.shape, "bool" if call.opset >= 10 else x.dtype)
    if training is None:
        return [x, kept]
    chance = f.full((), 0.5) if ratio is None else f.reshape(ratio, ()).astype(dt.float32)
    mask = uniform(x.shape, _key(call, seed)) >= chance
    scaled = x.astype(dt.float32) * f.where(f.equal(chance, 1), math.inf, 1 / (1 - chance))
    dropped = f.where(mask, scaled, 0.0).astype(x.dtype)
    on = f.reshape(training, ()).astype(dt.bool_)
    return [f.where(on, dropped, x), f.where(on, mask, kept)]
