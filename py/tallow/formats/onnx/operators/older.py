"""Definitions from before operator set 7 that set 7 replaced.

Two operands have the same shape, or, with `broadcast`, the second is aligned to the first from
`axis` on; `is_test` turns training mode off. Everything else is as in the later definition.
"""

from __future__ import annotations

from collections.abc import Sequence

from .... import functions as f
from ....core.shape import check_axis
from ....errors import OnnxFormatError, OnnxUnsupportedError
from ....tensor import Tensor
from ..call import Call
from ..registry import OLDEST, Result, find, older_operator


def _later(call: Call, *inputs: Tensor | None) -> Result:
    """Applies the definition of operator set 7 to the inputs."""
    return find("", call.node.op_type, OLDEST).function(call, *inputs)


def _aligned(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """y with trailing axes of length 1, so that it aligns with x from `axis` on."""
    axis = call.get("axis", int, None)
    if not call.flag("broadcast"):
        if x.shape != y.shape:
            raise OnnxFormatError(f"{x.shape} and {y.shape} differ, and broadcast is not set")
        return y
    start = x.ndim - y.ndim if axis is None else check_axis(axis, x.ndim, "axis")
    behind = x.ndim - start - y.ndim
    if start < 0 or behind < 0:
        raise OnnxFormatError(f"{y.shape} does not align with {x.shape} from axis {start} on")
    return f.reshape(y, (*y.shape, *(1,) * behind))


for _name, _since in (
    ("Add", 6), ("And", 1), ("Div", 6), ("Equal", 1), ("Greater", 1), ("Less", 1), ("Mul", 6),
    ("Or", 1), ("Pow", 1), ("Sub", 6), ("Xor", 1),
):  # fmt: skip

    @older_operator(_name, _since)
    def of_two(call: Call, x: Tensor, y: Tensor) -> Result:
        return _later(call, x, _aligned(call, x, y))


@older_operator("AveragePool", 1)
def _average_pool(call: Call, x: Tensor) -> Result:
    return _later(call, x)


@older_operator("BatchNormalization", 6)
def _batch_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor
) -> Result:
    call.ignore("consumed_inputs")
    _refuse_training(call)
    return _later(call, x, scale, bias, mean, var)


@older_operator("Dropout", 6)
def _dropout(call: Call, x: Tensor) -> Result:
    _refuse_training(call)
    return _later(call, x)


def _refuse_training(call: Call) -> None:
    if not call.flag("is_test"):
        raise OnnxUnsupportedError("it is in training mode")


@older_operator("Gemm", 6)
def _gemm(call: Call, a: Tensor, b: Tensor, c: Tensor) -> Result:
    call.ignore("broadcast")  # the later definition always broadcasts
    return _later(call, a, b, c)


@older_operator("PRelu", 6)
def prelu(call: Call, x: Tensor, slope: Tensor) -> Result:
    """One slope, or one per channel."""
    if slope.size != 1 and slope.shape != x.shape[1:2]:
        raise OnnxFormatError(f"slope {slope.shape} is not one, or one per channel of {x.shape}")
    per_channel: Sequence[int] = (-1, *(1,) * max(x.ndim - 2, 0))
    return _later(call, x, f.reshape(slope, per_channel))
