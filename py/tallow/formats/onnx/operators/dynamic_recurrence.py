"""DynamicQuantizeLSTM, of onnxruntime's domain: an LSTM with weights of 8 bits.

The inputs are rounded to uint8 as a whole, the hidden states of all sequences at every step
(ops/dynamic_recurrence.py).
"""

from __future__ import annotations

from math import inf

from .... import functions as f
from ....core import dtype as dt
from ....errors import OnnxFormatError
from ....graph import make
from ....ops.dynamic_recurrence import GATES, dynamic_steps
from ....tensor import Tensor
from ..call import Call
from ..registry import operator
from .contributed import DOMAIN
from .nn.recurrent import DIRECTIONS, activations_of, check_shape
from .quantized import dynamic_quantize_matmul


@operator("DynamicQuantizeLSTM", domain=DOMAIN)
def dynamic_quantize_lstm(
    call: Call,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
    w_scale: Tensor | None = None,
    w_zero: Tensor | None = None,
    r_scale: Tensor | None = None,
    r_zero: Tensor | None = None,
) -> list[Tensor]:
    """W (directions, features, 4 * hidden) and R (directions, hidden, 4 * hidden): transposed, in
    comparison with LSTM."""
    backward = DIRECTIONS[call.choice("direction", *DIRECTIONS)]
    directions = len(backward)
    if x.ndim != 3 or w.ndim != 3 or r.ndim != 3:
        raise OnnxFormatError(f"X {x.shape}, W {w.shape} and R {r.shape} must have three axes")
    (time, batch, features), size = x.shape, r.shape[1]
    if call.get("hidden_size", int, size) != size:
        raise OnnxFormatError(f"hidden_size is {call.get('hidden_size', int)}, but R is {r.shape}")
    width = GATES * size
    check_shape("W", w, (directions, features, width))
    check_shape("R", r, (directions, size, width))
    check_shape("B", b, (directions, 2 * width))
    check_shape("P", p, (directions, 3 * size))
    check_shape("sequence_lens", sequence_lens, (batch,))
    states = []
    for state in (initial_h, initial_c):
        check_shape("an initial state", state, (directions, batch, size))
        states.append(f.zeros((directions, batch, size)) if state is None else state)
    if not time:
        raise OnnxFormatError("the sequence has no steps")
    w_scales, w_zeros = _parameters(call, "W", w, w_scale, w_zero)
    r_scales, r_zeros = _parameters(call, "R", r, r_scale, r_zero)
    if sequence_lens is None:
        lengths = f.full((batch,), time, dt.int32)
    else:
        lengths = f.clip(sequence_lens.astype(dt.int32), 0, time)
        if batch:  # what is behind the longest sequence is outside the range of the inputs
            longest = f.max(lengths)
            x = f.where(f.reshape(f.arange(time) < longest, (time, 1, 1)), x, 0.0)
    projected = dynamic_quantize_matmul(
        call,
        f.reshape(x, (time * batch, features)),
        f.reshape(f.permute_dims(w, (1, 0, 2)), (features, directions * width)),
        f.reshape(w_scales, (directions * width,)),
        f.reshape(w_zeros, (directions * width,)),
    )
    if b is not None:
        projected = projected + f.reshape(b[:, :width] + b[:, width:], (directions * width,))
    lines = f.reshape(projected, (time, batch, directions, width))
    extra = f.zeros((directions, width))
    if p is not None:
        extra = f.concat([p, extra[:, 3 * size :]], axis=1)
    options = {"clip": call.get("clip", float, 0.0), "input_forget": call.flag("input_forget")}
    activations = activations_of(call, directions, "lstm")
    turned = sequence_lens is not None and any(backward)
    made = []
    for d, back in enumerate(backward):
        line = lines[:, :, d : d + 1]
        if turned and back:  # a shorter sequence begins at its own end
            line = _turned(line, lengths)
        made.append((line, back and not turned, d))
    parts = []
    alone = len(set(activations)) > 1
    for some in [made] if not alone else [[one] for one in made]:
        at = slice(some[0][2], some[-1][2] + 1)
        operands = (
            f.concat([line for line, _, _ in some], axis=2),
            r[at],
            r_zeros[at],
            r_scales[at],
            f.stack([state[at] for state in states]),
            extra[at],
            lengths,
        )
        attrs = {"backward": tuple(back for _, back, _ in some), **options}
        nodes = (operand.node for operand in operands)
        parts.append(
            Tensor(make(dynamic_steps, *nodes, activations=activations[some[0][2]], **attrs))
        )
    result = parts[0] if len(parts) == 1 else f.concat(parts, axis=1)
    y = result[:time]
    if turned:
        y = f.concat(
            [
                _turned(y[:, d : d + 1], lengths, 2) if back else y[:, d : d + 1]
                for d, back in enumerate(backward)
            ],
            axis=1,
        )
    return [y, result[time], result[time + 1]]


def _parameters(
    call: Call, name: str, weights: Tensor, scale: Tensor | None, zero: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Scales and zero points of weights for each of their columns: (directions, 4 * hidden)."""
    directions, _, width = weights.shape
    if not weights.dtype.is_integer or weights.dtype.size > 1:
        raise OnnxFormatError(f"{name} is {weights.dtype.name}; expected int8 or uint8")
    if scale is None:
        raise OnnxFormatError(f"the scale of {name} is missing")
    if scale.dtype != dt.float32:
        raise OnnxFormatError(f"the scale of {name} is {scale.dtype.name}; expected float32")
    for value in scale.node.attrs["data"].flat() if scale.node.is_constant else ():
        if not 0 < abs(value) < inf:
            raise OnnxFormatError(f"the scale of {name} is {value:g}; expected another number")
    if zero is None:
        zero = f.zeros((directions, 1), weights.dtype)
    elif zero.dtype != weights.dtype:
        raise OnnxFormatError(
            f"the zero point of {name} is {zero.dtype.name}, but {name} is {weights.dtype.name}"
        )
    spread = []
    for what, values in (("scale", scale), ("zero point", zero)):
        if values.shape not in ((directions,), (directions, 1), (directions, width)):
            raise OnnxFormatError(
                f"the {what} of {name} is {values.shape}; expected ({directions},) or "
                f"{(directions, width)}"
            )
        each = f.reshape(values, (directions, values.size // directions))
        spread.append(f.broadcast_to(each, (directions, width)))
    return spread[0], spread[1]


def _turned(x: Tensor, lengths: Tensor, axis: int = 1) -> Tensor:
    """Each sequence (T, ...), which are along an axis, from its end to its beginning; what is
    behind it stays."""
    time, batch = x.shape[0], lengths.shape[0]
    line = f.expand_dims(f.arange(time), 1)
    at = f.where(line < lengths, lengths - 1 - line, line)
    shape = [time, 1, 1, 1]
    shape[axis] = batch
    return f.take_along_axis(x, f.broadcast_to(f.reshape(at, shape), x.shape), 0)
