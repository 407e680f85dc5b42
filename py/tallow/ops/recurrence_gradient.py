"""The gradient of a recurrent layer: backpropagation through time (Werbos 1990), as one op.

A layer's result has the hidden state before each step, so gates and their slopes are computed for
all steps at once. What goes back from step to step is linear: the gradients of the hidden state
and of an LSTM's cell, times those slopes. The gradients of weights are products for all steps.

NumPy evaluates the op so; other devices compute a composition (autodiff/recurrence.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.shape import size_of
from ..errors import DTypeError, ShapeError
from . import numpy_kernels as plain
from .kinds import Attrs, Composite, Spec
from .numpy_pool import Pool
from .recurrence import ACTIVATIONS, by_gates, join, recurrence, split

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

# ---- slopes -----------------------------------------------------------------------------------

SLOPES: dict[str, Callable[[Any, Any, Any, float, float], Any]] = {
    "Affine": lambda xp, x, y, a, b: xp.full_like(x, a),
    "Elu": lambda xp, x, y, a, b: xp.where(x >= 0, xp.ones_like(x), y + a),
    "HardSigmoid": lambda xp, x, y, a, b: xp.where((y > 0) & (y < 1), xp.full_like(y, a), 0.0),
    "LeakyRelu": lambda xp, x, y, a, b: xp.where(x >= 0, xp.ones_like(x), a),
    "Relu": lambda xp, x, y, a, b: xp.where(x <= 0, 0.0, xp.ones_like(x)),
    "ScaledTanh": lambda xp, x, y, a, b: (1.0 - xp.square(xp.tanh(x * b))) * (a * b),
    "Sigmoid": lambda xp, x, y, a, b: y * (1.0 - y),
    "Softplus": lambda xp, x, y, a, b: xp.reciprocal(xp.exp(x * -1.0) + 1.0),
    "Softsign": lambda xp, x, y, a, b: xp.reciprocal(xp.square(xp.abs(x) + 1.0)),
    "Tanh": lambda xp, x, y, a, b: 1.0 - xp.square(y),
    "ThresholdedRelu": lambda xp, x, y, a, b: xp.where(x >= a, xp.ones_like(x), 0.0),
}
"""The derivatives of `ACTIVATIONS`, from x and the activation y. xp: NumPy, or
tallow.functions."""


def _sigmoid_slope(np: NumPy, y: Array, out: Array) -> None:
    np.subtract(1, y, out=out)
    np.multiply(out, y, out=out)


def _tanh_slope(np: NumPy, y: Array, out: Array) -> None:
    np.multiply(y, y, out=out)
    np.subtract(1, out, out=out)


_IN_PLACE = {"Sigmoid": _sigmoid_slope, "Tanh": _tanh_slope}
"""Slopes without arrays in between, for the usual activations."""


# ---- a layer on NumPy ---------------------------------------------------------------------------


class _Found(NamedTuple):
    """The gradients of x (T, B, D, G, H), hidden (D, G, H, H), the states before the first step,
    each (D, B, H), and extra (D, G * H), None where it has none."""

    x: Array
    hidden: Array
    states: list[Array]
    extra: Array | None = None


class _Layer:
    """A layer, its steps in the order in which they are taken.

    x (D, G, T, B, H): the inputs' products. before (D, T, B, H): the hidden state before each
    step. hidden (D, G, H, H), extra (D, G, 1, 1, H): as in `split`. first: the states before all,
    each (D, B, H). alive (D, T, B, 1): whether a step is within its sequence; None if all are.
    found (D, T, B, H), last: the gradients of the hidden states, and of the last states. into
    (D, G, T, B, H): where those of x may be written, in the memory of x itself.
    """

    def __init__(
        self, pool: Pool, gradient: Array, y: Array, parts: Sequence[Array], attrs: Attrs
    ) -> None:
        x, hidden, self.first, extra, lengths = parts
        self.pool, self.np, self.attrs = pool, pool.np, attrs
        np, self._backward, self.dtype = pool.np, attrs["backward"], x.dtype
        time, batch, directions, width = x.shape
        self.time, self._rows, size = time, time * batch, hidden.shape[2]
        gates = width // size
        self.x = by_gates(pool, x, size, self._backward)
        self.into = x.reshape(directions, gates, time, batch, size)
        self.hidden = hidden.reshape(directions, gates, size, size)
        self.extra = extra.reshape(directions, gates, 1, 1, size)
        self.shape = (directions, time, batch, size)
        self.found, self.before = self.array(), self.array()
        self.before[:, 0] = self.first[0]
        for direction, back in enumerate(self._backward):
            turn = slice(None, None, -1 if back else 1)
            self.found[direction] = gradient[:time, direction][turn]
            self.before[direction, 1:] = y[:time, direction][turn][:-1]
        self.last = [each.copy() for each in gradient[time:]]
        self.alive = None
        if (lengths < time).any():
            there = np.arange(time)[:, None, None] < lengths[:, None]  # (T, B, 1)
            self.alive = np.stack([there[:: -1 if back else 1] for back in self._backward])
            np.copyto(self.found, 0, where=~self.alive)
            np.copyto(self.before[:, 1:], self.first[0][:, None], where=~self.alive[:, :-1])
        if not plain.HAS_BLAS:
            self._columns = np.ascontiguousarray(self.hidden.swapaxes(2, 3))
        self._parts = np.empty((directions, gates, batch, size), x.dtype)

    def array(self) -> Array:
        """An array (D, T, B, H) with any content."""
        return self.pool.empty(self.shape, self.dtype)

    def arrays(self, gates: int) -> Array:
        """An array (D, G, T, B, H) for that many gates, with any content."""
        return self.pool.empty((self.shape[0], gates, *self.shape[1:]), self.dtype)

    def back(self, x: Array, memory: Array) -> Array:
        """(D, G, T, B, H) in the order of the steps as (T, B, D, G, H) in that of time."""
        directions, gates, time, batch, size = x.shape
        result = memory.reshape(time, batch, directions, gates, size)
        for direction, back in enumerate(self._backward):
            line = x[direction, :, :: -1 if back else 1]
            result[:, :, direction] = line.transpose(1, 2, 0, 3)
        return result

    # ---- all steps at once ----------------------------------------------------------------------

    def product(self, x: Array, gates: slice = slice(None)) -> Array:
        """(D, T, B, H) times the weights of some gates: (D, G, T, B, H)."""
        rows, weights = self._flat(x)[:, None], self.hidden[:, gates].swapaxes(2, 3)
        result = self.pool.empty((*weights.shape[:2], *rows.shape[2:]), x.dtype)
        self._multiply(rows, weights, result)
        return result.reshape(*weights.shape[:2], *x.shape[1:])

    def weights(self, gradient: Array, x: Array) -> Array:
        """The gradient of weights by which x (D, T, B, H) was multiplied: a sum over all steps."""
        columns = self._flat(gradient).swapaxes(2, 3)
        result = self.pool.empty((*columns.shape[:3], x.shape[-1]), x.dtype)
        self._multiply(columns, self._flat(x)[:, None], result)
        return result

    def _flat(self, x: Array) -> Array:
        """(..., T, B, H) as (..., T * B, H)."""
        return x.reshape(*x.shape[:-3], self._rows, x.shape[-1])

    def _multiply(self, a: Array, b: Array, out: Array) -> None:
        """A product for each direction and gate."""
        np = self.np
        if plain.HAS_BLAS:
            np.matmul(a, b, out=out)
            return
        for index in np.ndindex(out.shape[:2]):
            one, other = (x[index[0], index[1] if x.shape[1] > 1 else 0] for x in (a, b))
            out[index] = plain.product(np, one, other)

    def gate(self, number: int, x: Array, slope: Array, clip: bool = True) -> None:
        """Writes the activation of a gate over x, and into `slope` its slope, 0 where a sequence is
        over."""
        np, (name, alpha, beta) = self.np, self.attrs["activations"][number]
        bound = self.attrs["clip"] if clip else 0.0
        if name in _IN_PLACE and not bound:
            ACTIVATIONS[name](np, x, alpha, beta)
            _IN_PLACE[name](np, x, slope)
        else:
            inner = np.clip(x, -bound, bound) if bound else x.copy()
            within = abs(x) <= bound if bound else None
            np.copyto(x, inner)
            ACTIVATIONS[name](np, x, alpha, beta)
            slope[...] = SLOPES[name](np, inner, x, alpha, beta)
            if within is not None:
                slope *= within
        if self.alive is not None:
            np.copyto(slope, 0, where=~(self.alive if x.ndim == 4 else self.alive[:, None]))

    # ---- step by step ---------------------------------------------------------------------------

    def behind(self, gradient: Array, gates: slice = slice(None)) -> Array:
        """A step's gradient (D, G, B, H) of some gates, times the transposed weights."""
        np, parts = self.np, self._parts[:, gates]
        if plain.HAS_BLAS:
            np.matmul(gradient, self.hidden[:, gates], out=parts)
        else:
            np.einsum("dgbk,dgnk->dgbn", gradient, self._columns[:, gates], out=parts)
        return np.add.reduce(parts, axis=1) if parts.shape[1] > 1 else parts[:, 0].copy()

    def kept(self, t: int, new: Array, old: Array) -> Array:
        """The new gradient of a state before step t, or the old one where the sequence is over."""
        return new if self.alive is None else self.np.where(self.alive[:, t], new, old)

    def downward(self) -> range:
        """The steps from the last to the first."""
        return range(self.time - 1, -1, -1)


def _total(x: Array) -> Array:
    """The sum over steps and sequences, (D, G, H)."""
    return x.sum(axis=(2, 3))


def _rnn(layer: _Layer) -> _Found:
    np, found, into = layer.np, layer.found, layer.into
    inner = layer.product(layer.before)
    inner += layer.x
    layer.gate(0, inner, into)
    (after,) = layer.last
    for t in layer.downward():
        after += found[:, t]
        step = into[:, :, t]
        np.multiply(step, after[:, None], out=step)
        after = layer.kept(t, layer.behind(step), after)
    return _Found(layer.back(into, inner), layer.weights(into, layer.before), [after])


def _gru(layer: _Layer) -> _Found:
    return (_gru_linear if layer.attrs["linear_before_reset"] else _gru_reset_first)(layer)


def _gru_linear(layer: _Layer) -> _Found:
    """Whose product with the hidden state is reset."""
    np, before, whole, into = layer.np, layer.before, layer.found, layer.into
    product = layer.product(before)
    if layer.extra.any():
        product += layer.extra
    both, last = product[:, :2], product[:, 2]
    update, reset = product[:, 0], product[:, 1]
    slopes, new, new_slope = layer.arrays(2), layer.array(), layer.array()
    both += layer.x[:, :2]
    layer.gate(0, both, slopes)
    np.multiply(last, reset, out=new)
    new += layer.x[:, 2]
    layer.gate(1, new, new_slope)
    np.multiply(np.subtract(before, new, out=new), slopes[:, 0], out=into[:, 0])
    new_slope *= np.subtract(1, update, out=new)
    last *= new_slope
    np.multiply(last, slopes[:, 1], out=into[:, 1])
    np.multiply(new_slope, reset, out=into[:, 2])
    (after,) = layer.last
    for t in layer.downward():
        step, here = into[:, :, t], whole[:, t]
        here += after
        np.multiply(step, here[:, None], out=step)
        behind = layer.behind(step)
        behind += here * update[:, t]
        after = layer.kept(t, behind, here)
    hidden = layer.weights(into, before)
    extra = _total(into).reshape(len(into), -1)
    np.multiply(whole, new_slope, out=into[:, 2])
    return _Found(layer.back(into, product), hidden, [after], extra)


def _gru_reset_first(layer: _Layer) -> _Found:
    """Whose hidden state is reset before the product."""
    np, before, found, into = layer.np, layer.before, layer.found, layer.into
    to_gates, to_new = slice(2), slice(2, None)
    both = layer.product(before, to_gates)
    both += layer.x[:, to_gates]
    update, reset = both[:, 0], both[:, 1]
    slopes, shown, new_slope = layer.arrays(2), layer.array(), layer.array()
    layer.gate(0, both, slopes)
    np.multiply(reset, before, out=shown)
    new = layer.product(shown, to_new)[:, 0]
    new += layer.x[:, 2]
    layer.gate(1, new, new_slope)
    slopes[:, 0] *= np.subtract(before, new, out=new)
    slopes[:, 1] *= before
    new_slope *= np.subtract(1, update, out=new)
    (after,) = layer.last
    for t in layer.downward():
        step = into[:, :, t]
        after += found[:, t]
        np.multiply(after, new_slope[:, t], out=step[:, 2])
        behind = layer.behind(step[:, to_new], to_new)
        np.multiply(after, slopes[:, 0, t], out=step[:, 0])
        np.multiply(behind, slopes[:, 1, t], out=step[:, 1])
        behind *= reset[:, t]
        behind += after * update[:, t]
        behind += layer.behind(step[:, to_gates], to_gates)
        after = layer.kept(t, behind, after)
    parts = layer.weights(into[:, to_gates], before), layer.weights(into[:, to_new], shown)
    return _Found(layer.back(into, layer.arrays(3)), layer.pool.concat(parts, 1), [after])


def _lstm(layer: _Layer) -> _Found:
    """With the names of ONNX's equations; peepholes are weights of the cell in its gates."""
    np, before, found, into = layer.np, layer.before, layer.found, layer.into
    inner = layer.product(before)
    inner += layer.x
    enter, leave, forget, new = (inner[:, gate] for gate in range(4))
    to_enter, to_leave, to_forget, _ = (layer.extra[:, gate] for gate in range(4))
    peeps, coupled = "peepholes" in layer.attrs["given"], layer.attrs["input_forget"]
    directions, time, *rest = layer.shape
    cells = layer.pool.empty((directions, time + 1, *rest), layer.dtype)
    cells[:, 0] = layer.first[1]
    old, cell = cells[:, :-1], cells[:, 1:]
    layer.gate(1, new, into[:, 3])
    if peeps:
        _through_peepholes(layer, inner, cells)
        enter += to_enter * old
        forget += to_forget * old
        leave += to_leave * cell
    layer.gate(0, inner[:, :3], into[:, :3])
    keep = np.subtract(1, enter, out=forget) if coupled else forget
    shown, down = layer.array(), layer.array()
    if not peeps:
        given = np.multiply(enter, new, out=shown)
        for t in range(time):
            here = cell[:, t]
            np.multiply(keep[:, t], old[:, t], out=here)
            np.add(here, given[:, t], out=here)
            if layer.alive is not None:
                np.copyto(here, old[:, t], where=~layer.alive[:, t])
    np.copyto(shown, cell)
    layer.gate(2, shown, down, clip=False)
    down *= leave
    into[:, 3] *= enter
    into[:, 0] *= np.subtract(new, old, out=new) if coupled else new
    into[:, 1] *= shown
    into[:, 2] *= 0 if coupled else old
    if peeps:
        down += into[:, 1] * to_leave
        keep += into[:, 0] * to_enter + into[:, 2] * to_forget
    h, c = layer.last
    for t in layer.downward():
        step = into[:, :, t]
        h += found[:, t]
        c += h * down[:, t]
        leaving = step[:, 1] * h
        np.multiply(step, c[:, None], out=step)
        step[:, 1] = leaving
        h, c = layer.kept(t, layer.behind(step), h), layer.kept(t, c * keep[:, t], c)
    extra = None
    if peeps:
        met = np.stack([old, cell, old, np.zeros_like(old)], 1)
        extra = _total(into * met).reshape(directions, -1)
    return _Found(layer.back(into, inner), layer.weights(into, before), [h, c], extra)


def _through_peepholes(layer: _Layer, inner: Array, cells: Array) -> None:
    """The cell after each step, of gates that see it and of what may enter, inner[:, 3]."""
    np, (name, alpha, beta) = layer.np, layer.attrs["activations"][0]
    bound = layer.attrs["clip"]

    def gate(t: int, number: int) -> Array:
        x = inner[:, number, t] + layer.extra[:, number, 0] * cells[:, t]
        if bound:
            np.clip(x, -bound, bound, out=x)
        ACTIVATIONS[name](np, x, alpha, beta)
        return x

    for t in range(layer.time):
        old = cells[:, t]
        enter = gate(t, 0)
        keep = 1 - enter if layer.attrs["input_forget"] else gate(t, 2)
        cells[:, t + 1] = layer.kept(t, keep * old + enter * inner[:, 3, t], old)


_CELLS = {"rnn": _rnn, "gru": _gru, "lstm": _lstm}


def evaluate(pool: Pool, operands: Sequence[Array], out: Array, attrs: Attrs) -> None:
    """Writes the result of `recurrence_gradient` into `out`."""
    np, (gradient, y, *own) = pool.np, operands
    parts = split(pool, pool.product, own, attrs)
    with np.errstate(all="ignore"):
        layer = _Layer(pool, gradient, y, parts, attrs)
        found = _CELLS[attrs["cell"]](layer)
        hidden = found.hidden.reshape(own[2].shape)
        ends = found.x, hidden, np.stack(found.states), found.extra
        joined = join(pool, pool.product, ends, own, attrs)
    np.concatenate([each.reshape(-1) for each in joined], out=out)


def _layer(np: NumPy, *operands: Array, **attrs: Any) -> Array:
    sizes = [each.size for each in operands[2:] if each.dtype.kind != "i"]
    out = np.empty(sum(sizes), operands[0].dtype)
    evaluate(Pool(np), operands, out, attrs)
    return out


# ---- the record ---------------------------------------------------------------------------------


def slices(operands: Sequence[Spec]) -> list[slice | None]:
    """Where the gradient of each operand of `recurrence` is in the result; None: it has none."""
    sizes = [size_of(shape) if dtype.is_floating else 0 for shape, dtype in operands]
    ends = accumulate(sizes)
    return [
        slice(end - size, end) if dtype.is_floating else None
        for (_, dtype), size, end in zip(operands, sizes, ends, strict=True)
    ]


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (gradient, kind), (y, dtype), *rest = operands
    wanted, _ = recurrence.infer(rest, attrs)
    for name, shape in (("the gradient", gradient), ("the result", y)):
        if shape != wanted:
            raise ShapeError(f"recurrence_gradient: {name} is {shape}; expected {wanted}")
    if not kind == dtype == rest[0][1]:
        raise DTypeError(
            f"recurrence_gradient: takes one floating type, not {kind.name}, {dtype.name} and "
            f"{rest[0][1].name}"
        )
    return (sum(size_of(shape) for shape, each in rest if each.is_floating),), dtype


recurrence_gradient = Composite("recurrence_gradient", _layer, _rule)
"""The gradient of the result of `recurrence`, that result, and the operands of that, with its
attributes; gives the gradients of all floating operands, each flat, one after the other."""
