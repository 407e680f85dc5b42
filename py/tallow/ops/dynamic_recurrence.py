"""An LSTM whose weights are 8-bit integers, and whose states are rounded to such at each step
(onnxruntime's DynamicQuantizeLSTM): the steps after the product with the inputs.

At each step, the hidden states of all sequences have one scale and one zero point, of uint8, which
just fit their range and 0; a sequence that is over counts for one step more, as in onnxruntime.
Their product with the weights is one of integers: exact, and float32 only then. Letters stand for
lengths as in ops/recurrence.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
"""Of `words`, there is a multiple of so many rows."""

WORDS = 2048
"""Rounded elements, of all sequences, for which WebGPU's kernel has room."""


def word_rows(size: int) -> int:
    """How many rows `words` have."""
    return -(-size // WORD_ROWS) * WORD_ROWS


def words(xp: Functions[A], hidden: A) -> A:
    """Signed weights (D, H, 4 * H), int32, as the kernel of WebGPU reads them: (D, rows, H), the
    four gates of an element in the bytes of a word, the first one in the lowest.

    xp: NumPy, or tallow.functions.
    """
    directions, size, _ = hidden.shape
    parts = xp.reshape(hidden, (directions, size, GATES, size))
    word = parts[:, :, GATES - 1] * (1 << 24)
    for gate in range(GATES - 1):
        word = word + (parts[:, :, gate] & 255) * (1 << 8 * gate)
    return xp.pad(word, ((0, 0), (0, word_rows(size) - size), (0, 0)))


def _from_words(np: NumPy, words: Array, size: int) -> Array:
    """The weights (D, H, 4 * H) again."""
    bytes_ = np.ascontiguousarray(words[:, :size]).view(np.int8).reshape(len(words), size, size, 4)
    return bytes_.transpose(0, 1, 3, 2).reshape(len(words), size, GATES * size)


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
    if hidden.dtype == np.int32:
        hidden = _from_words(np, hidden, size).astype(np.float32)
        hidden -= zero[:, None].astype(np.float32)
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
    if kind == dt.int32:
        whole = (directions, word_rows(size), size)
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
    if dtype != dt.float32 or not (
        kind in (dt.float32, dt.int32) or (kind.is_integer and kind.size == 1)
    ):
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
those that `packed` makes, with zero points, int32, and scales `by_elements`; on WebGPU into
`words`, with zero points, int32.
"""
