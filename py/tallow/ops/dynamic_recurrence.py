"""An LSTM whose weights are 8-bit integers, and whose states are rounded to such at each step
(onnxruntime's DynamicQuantizeLSTM): the steps after the product with the inputs.

At each step, the hidden states of all sequences have one scale and one zero point, of uint8, which
just fit their range and 0; a sequence that is over counts for one step more, as in onnxruntime.
Their product with the weights is one of integers: exact, and float32 only then. Letters stand for
lengths as in ops/recurrence.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core import dtype as dt
from ..errors import DTypeError, ShapeError
from . import numpy_kernels as plain
from .kinds import Attrs, Composite, Spec
from .recurrence import ACTIVATIONS

if TYPE_CHECKING:
    from ..arrays import A, Array, Functions, NumPy


GATES, STATES = 4, 2
TILE = 8
"""Elements of a state that stand together in packed weights."""

EXACT = 256
"""Products of numbers from -255 to 255 whose sum float32 holds exactly."""


def groups(size: int) -> int:
    """How many tiles a state has."""
    return -(-size // TILE)


def packed_shape(directions: int, size: int) -> tuple[int, ...]:
    """Of packed weights: a tile's pairs of elements stand one after the other."""
    return directions, groups(size), -(-size // 2), TILE, GATES, 2


def packed(xp: Functions[A], hidden: A) -> A:
    """Weights (D, H, 4 * H) as the kernel of WebAssembly reads them: for each tile of elements of
    the result, and each pair of those of the state, all gates, and of each the pair.

    xp: NumPy, or tallow.functions.
    """
    directions, size, _ = hidden.shape
    wide, deep = groups(size) * TILE, -(-size // 2) * 2
    parts = xp.reshape(hidden, (directions, size, GATES, size))
    parts = xp.pad(parts, ((0, 0), (0, deep - size), (0, 0), (0, wide - size)))
    parts = xp.reshape(parts, (directions, deep // 2, 2, GATES, wide // TILE, TILE))
    return xp.permute_dims(parts, (0, 4, 1, 5, 3, 2))


WORD_ROWS = 16
"""The kernel of WebGPU takes so many elements of a state at a time."""

WORDS = 2048
"""Elements of states, of all sequences, for which it has room."""


def word_rows(size: int) -> int:
    """How many elements of a state `words` have, zeros among them."""
    return -(-size // WORD_ROWS) * WORD_ROWS


def words(xp: Functions[A], hidden: A, zero: A) -> A:
    """Signed weights (D, H, 4 * H) and their zero points (D, 4 * H), int32, as the kernels of
    WebGPU read them: (D, rows / 4 + 2, H, 4), for each gate the weights of four elements of a state
    in the bytes of a word, the first one in the lowest; then their sums, and the zero points.

    xp: NumPy, or tallow.functions.
    """
    directions, size, _ = hidden.shape
    rows = word_rows(size)
    parts = xp.reshape(hidden, (directions, size, GATES, size))
    totals = xp.expand_dims(xp.sum(parts, axis=1), 1)
    zeros = xp.reshape(zero, (directions, 1, GATES, size))
    parts = xp.pad(parts, ((0, 0), (0, rows - size), (0, 0), (0, 0)))
    parts = xp.reshape(parts, (directions, rows // 4, 4, GATES, size))
    word = parts[:, :, 3] * (1 << 24)
    for number in range(3):
        word = word + (parts[:, :, number] & 255) * (1 << 8 * number)
    return xp.permute_dims(xp.concat((word, totals, zeros), axis=1), (0, 1, 3, 2))


def _from_words(np: NumPy, words: Array) -> tuple[Array, Array]:
    """The weights (D, H, 4 * H) and the zero points again."""
    directions, _, size, _ = words.shape
    bytes_ = np.ascontiguousarray(words[:, :-2]).view(np.int8)
    parts = bytes_.reshape(directions, -1, size, GATES, 4).transpose(0, 1, 4, 3, 2)
    zeros = words[:, -1].transpose(0, 2, 1).reshape(directions, GATES * size)
    return parts.reshape(directions, -1, GATES * size)[:, :size], zeros


def by_elements(xp: Functions[A], values: A) -> A:
    """Values of each gate (D, 4 * H), those of an element side by side: (D, tiles * 8, 4)."""
    directions, size = values.shape[0], values.shape[1] // GATES
    wide = groups(size) * TILE
    parts = xp.reshape(values, (directions, GATES, size))
    parts = xp.pad(parts, ((0, 0), (0, 0), (0, wide - size)))
    return xp.permute_dims(parts, (0, 2, 1))


def _plain_order(np: NumPy, hidden: Array, zero: Array, scale: Array, size: int) -> list[Array]:
    """The last three as they were before `packed` and `by_elements`."""
    directions = len(hidden)
    parts = hidden.transpose(0, 2, 5, 4, 1, 3).reshape(directions, -1, GATES, groups(size) * TILE)
    whole = parts[:, :size, :, :size].reshape(directions, size, GATES * size)
    rest = (x.transpose(0, 2, 1)[:, :, :size].reshape(directions, -1) for x in (zero, scale))
    return [whole, *rest]


def eight_bits(np: NumPy, values: Array, among: Array) -> tuple[Array, Array]:
    """Values as whole numbers less their zero point, and the scale: of the range of others."""
    low, high = np.minimum(among.min(), 0), np.maximum(among.max(), 0)
    scale = np.float32(1) if low == high else (high - low) / np.float32(255)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    whole = np.rint(values / scale)
    return np.clip(np.add(whole, zero, out=whole), 0, 255, out=whole) - zero, scale


def _product(np: NumPy, whole: Array, weights: Array) -> Array:
    """A product (B, H) @ (H, 4 * H) of whole numbers in float32, in parts that are exact: most
    often in one, since few states are at the ends of their range."""
    total = np.float64(0)
    largest = float(np.abs(whole).sum(axis=1).max()) * 255
    each = EXACT if largest >= 1 << 24 else whole.shape[1]
    for start in range(0, whole.shape[1], each):
        part = slice(start, start + each)
        if plain.HAS_BLAS:
            made = whole[:, part] @ weights[part]
        else:
            made = np.einsum("bk,kn->bn", whole[:, part], weights[part])
        total = total + made.astype(np.float64)
    return total


def _steps(
    np: NumPy,
    x: Array,
    hidden: Array,
    zero: Array,
    scale: Array,
    states: Array,
    extra: Array,
    lengths: Array,
    *,
    backward: Sequence[bool],
    activations: Sequence[tuple[str, float, float]],
    clip: float,
    input_forget: bool,
) -> Array:
    time, batch, directions, width = x.shape
    size = width // GATES
    result = np.zeros((time + STATES, directions, batch, size), np.float32)
    result[time:] = states
    if not batch:
        return result
    if hidden.ndim > 3:
        hidden, zero, scale = _plain_order(np, hidden, zero, scale, size)
    if hidden.dtype != np.float32:
        hidden = hidden.astype(np.float32) - zero[:, None].astype(np.float32)

    def activate(number: int, values: Array) -> Array:
        if clip and number < 2:
            values = values.clip(-clip, clip)
        name, alpha, beta = activations[number]
        values = np.ascontiguousarray(values)
        ACTIVATIONS[name](np, values, alpha, beta)
        return values

    with np.errstate(all="ignore"):
        for d, back in enumerate(backward):
            peeps = extra[d].reshape(GATES, size)
            for turn in range(time):
                at = time - 1 - turn if back else turn
                alive = slice(None) if (lengths > turn).all() else np.flatnonzero(lengths > turn)
                h, c = result[time, d, alive], result[time + 1, d, alive]
                if not len(h):
                    break
                among = h if len(h) == batch else result[time, d, lengths >= turn]
                whole, factor = eight_bits(np, h, among)
                sums = _product(np, whole, hidden[d]).astype(np.float32) * (factor * scale[d])
                gates = (x[at, alive, d] + sums).reshape(-1, GATES, size)
                enter = activate(0, gates[:, 0] + peeps[0] * c)
                new = activate(1, gates[:, 3])
                kept = 1 - enter if input_forget else activate(0, gates[:, 2] + peeps[2] * c)
                c = kept * c + enter * new
                leave = activate(0, gates[:, 1] + peeps[1] * c)
                h = activate(2, c.copy()) * leave
                result[at, d, alive], result[time, d, alive], result[time + 1, d, alive] = h, h, c
    return result


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (hidden, kind), (zero, _), (scale, _), (states, _), (extra, _), (lengths, _) = (
        operands
    )
    directions = len(attrs["backward"])
    if len(x) != 4 or x[2] != directions or x[3] % GATES:
        raise ShapeError(f"dynamic_steps: x is {x}; expected (T, B, {directions}, 4 * H)")
    time, batch, _, width = x
    size = width // GATES
    each: tuple[int, ...] = (directions, width)
    whole: tuple[int, ...] = (directions, size, width)
    if len(hidden) > 3:
        each, whole = (directions, groups(size) * TILE, GATES), packed_shape(directions, size)
    for name, shape, wanted in (
        ("hidden", hidden, whole),
        ("zero", zero, each),
        ("scale", scale, each),
        ("states", states, (STATES, directions, batch, size)),
        ("extra", extra, (directions, width)),
        ("lengths", lengths, (batch,)),
    ):
        if tuple(shape) != wanted:
            raise ShapeError(f"dynamic_steps: {name} is {tuple(shape)}; expected {wanted}")
    if dtype != dt.float32 or not (kind == dt.float32 or (kind.is_integer and kind.size == 1)):
        raise DTypeError(
            f"dynamic_steps: takes float32 and 8-bit weights, not {dtype.name} and {kind.name}"
        )
    return (time + STATES, directions, batch, size), dtype


dynamic_steps = Composite("dynamic_steps", _steps, _rule)
"""x (T, B, D, 4 * H), the inputs' products with their weights, biases added; hidden (D, H, 4 * H),
8-bit integers; zero and scale (D, 4 * H), of the columns of hidden; states (2, D, B, H), those
before; extra (D, 4 * H), the peepholes; lengths (B,), int32: steps that a sequence takes. Result
and attributes `backward`, `activations`, `clip` and `input_forget` as of a recurrence; a backward
direction begins at the last of all steps, whatever the lengths.

Passes change the weights: into float32, less their zero points, on NumPy; on WebAssembly into
those that `packed` makes, with zero points, int32, and scales `by_elements`.
"""


# ---- on WebGPU --------------------------------------------------------------------------------


def _word_steps(np: NumPy, x: Array, hidden: Array, *others: Array, **attrs: Any) -> Array:
    return _steps(np, x, *_from_words(np, hidden), *others, **attrs)


def _word_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    x, hidden, scale, *others = operands
    (*_, directions, width), size = x[0], x[0][-1] // GATES
    wanted = directions, word_rows(size) // 4 + 2, size, GATES
    if hidden != (wanted, dt.int32):
        raise ShapeError(f"word_steps: hidden is {hidden}; expected int32 {wanted}")
    weights = (directions, size, width), dt.int8
    return _rule([x, weights, (scale[0], dt.int8), scale, *others], attrs)


word_steps = Composite("word_steps", _word_steps, _word_rule)
"""`dynamic_steps` with `words` instead of weights and their zero points."""


def rounded_shape(directions: int, batch: int, size: int) -> tuple[int, ...]:
    """Of rounded states: a sequence's words, their sum, the zero point, the bits of the scale."""
    return directions, batch, word_rows(size) // 4 + 3


def _round(np: NumPy, states: Array, lengths: Array) -> Array:
    directions, batch, size = states.shape
    result = np.zeros(rounded_shape(directions, batch, size), np.int32)
    for d, h in enumerate(states):
        whole, factor = eight_bits(np, h, np.where((lengths >= 0)[:, None], h, np.float32(0)))
        zero = -np.rint(np.minimum(h[lengths >= 0].min(initial=0), 0) / factor)
        bytes_ = (whole + zero - 128).astype(np.int8)
        result[d, :, :-3].view(np.int8)[:, :size] = bytes_
        result[d, :, -3] = bytes_.sum(axis=1)
        result[d, :, -2] = zero
        result[d, :, -1] = factor.view(np.int32)
    return result


def _round_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (directions, batch, size), _ = operands[0]
    return rounded_shape(directions, batch, size), dt.int32


round_states = Composite("round_states", _round, _round_rule)
"""States (D, B, H) and lengths (B,), int32, the steps that sequences have before them: below 0 if
one has been over for longer than a step. The states as 8-bit integers, less 128, in words."""


def _word_step(
    np: NumPy, x: Array, hidden: Array, rounded: Array, *others: Array, **attrs: Any
) -> Array:
    return _word_steps(np, x, hidden, *others, **attrs)


def _step_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    x, hidden, rounded, *others = operands
    shape, dtype = _word_rule([x, hidden, *others], attrs)
    rows, *state = shape
    if rows != STATES + 1 or rounded[0] != rounded_shape(*state):
        raise ShapeError(f"word_step: {x[0][0]} steps, rounded states {rounded[0]}")
    return shape, dtype


word_step = Composite("word_step", _word_step, _step_rule)
"""`word_steps` of a single step, with the rounded states after the weights."""

OF_WEBGPU = round_states, word_step, word_steps
"""Passes for WebGPU make them."""
