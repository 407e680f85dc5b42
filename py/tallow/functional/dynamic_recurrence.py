"""An LSTM with 8-bit weights, made of other ops: for devices without a kernel, and for files."""

from __future__ import annotations

from typing import Any

from .. import functions as f
from ..core import dtype as dt
from ..graph import Node
from ..ops import movement
from ..ops.dynamic_recurrence import EXACT, GATES
from ..tensor import Tensor


def eight_bits(x: Tensor, among: Tensor) -> tuple[Tensor, Tensor]:
    """Values as whole numbers from 0 to 255 less their zero point, in float32; and their scale,
    which fits the range of others and 0."""
    low, high = f.minimum(f.min(among), 0.0), f.maximum(f.max(among), 0.0)
    scale = f.where(f.equal(low, high), 1.0, (high - low) / 255.0)
    zero = f.clip(f.round(-low / scale), 0.0, 255.0)
    return f.clip(f.round(x / scale) + zero, 0.0, 255.0) - zero, scale


def _product(whole: Tensor, weights: Tensor) -> Tensor:
    """A product of whole numbers in parts whose sums are exact."""
    parts = [
        whole[:, start : start + EXACT] @ weights[start : start + EXACT]
        for start in range(0, whole.shape[1], EXACT)
    ]
    return parts[0] if len(parts) == 1 else f.sum(f.stack(parts), axis=0)


def _least(lengths: Node) -> int:
    """A number that all lengths have, if they are one constant; else 0."""
    while lengths.op in (movement.expand, movement.reshape):
        (lengths,) = lengths.inputs
    return int(lengths.attrs["data"].item()) if lengths.is_scalar_constant else 0


def composed(
    x: Tensor,
    hidden: Tensor,
    zero: Tensor,
    scale: Tensor,
    states: Tensor,
    extra: Tensor,
    lengths: Tensor,
    **attrs: Any,
) -> Tensor:
    """`dynamic_steps`, whose weights are not packed, made of other ops, step by step."""
    from ..autodiff.recurrence import activation  # most models never need what differentiates

    (time, batch, _, width), backward = x.shape, attrs["backward"]
    size, clip = width // GATES, attrs["clip"]
    if not batch:
        return f.zeros((time + 2, len(backward), 0, size))
    whole = _least(lengths.node) >= time

    def activate(number: int, values: Tensor) -> Tensor:
        held = f.clip(values, -clip, clip) if clip and number < 2 else values
        return activation(attrs["activations"][number][0], held, *attrs["activations"][number][1:])

    lines = []
    for d, back in enumerate(backward):
        weights = hidden[d].astype(dt.float32)
        if hidden.dtype != dt.float32:
            weights = weights - f.expand_dims(zero[d].astype(dt.float32), 0)
        peeps = [extra[d, gate * size : (gate + 1) * size] for gate in range(GATES)]
        h, c = states[0, d], states[1, d]
        outputs = []
        for turn in range(time):
            alive = None if whole else f.expand_dims(lengths > turn, 1)
            among = h if alive is None else f.where(f.expand_dims(lengths >= turn, 1), h, 0.0)
            rounded, factor = eight_bits(h, among)
            sums = _product(rounded, weights) * (factor * scale[d])
            gates = x[time - 1 - turn if back else turn, :, d] + sums
            enter, leave, forget, new = f.split(gates, [size] * GATES, -1)
            enter = activate(0, enter + peeps[0] * c)
            kept = 1.0 - enter if attrs["input_forget"] else activate(0, forget + peeps[2] * c)
            new_c = kept * c + enter * activate(1, new)
            new_h = activate(2, new_c) * activate(0, leave + peeps[1] * new_c)
            out = new_h
            if alive is not None:
                out = f.where(alive, new_h, 0.0)
                new_h, new_c = f.where(alive, new_h, h), f.where(alive, new_c, c)
            h, c = new_h, new_c
            outputs.append(out)
        lines.append(f.stack([*outputs[:: -1 if back else 1], h, c]))
    return f.stack(lines, axis=1)
