"""Kernels bound to their operands once, when a plan is loaded, and called at every run.

They write into an array that is given, keep known weights in the layout that suits NumPy, and take
scratch memory from a workspace that lives as long as the program. `bind` finds them by op; an op
that has none here is evaluated as its record says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from ...ops import numpy_kernels as plain
from ...ops import recurrence, recurrence_gradient
from ...ops.kinds import Elementwise, op_named
from ...ops.numpy_kernels import Pads, Pair
from ...ops.numpy_pool import Pool

if TYPE_CHECKING:
    from numpy import dtype

    from ...arrays import Array, NumPy, UFunc

Kernel: TypeAlias = "Callable[[Sequence[Array], Array], object]"
"""Takes the operands' arrays (None where `bind` took the operand over) and the result's."""

WEIGHTS = {"conv2d": 1, "matmul": 1}
"""The operand of an op that is repacked if it is constant."""

_LAYERS = {
    "recurrence": recurrence.evaluate,
    "recurrence_gradient": recurrence_gradient.evaluate,
}

_CACHED = 4 << 20  # bytes that a processor writes and reads again without going to memory
_SHORT_ROW = 256  # elements; NumPy's cost per inner loop shows in shorter ones
_INFINITY_BITS = 0x7F800000


class Workspace:
    """Scratch memory shared by kernels that run one after the other.

    kept: how many bytes there are in the arrays that kernels keep.
    """

    def __init__(self, np: NumPy) -> None:
        self._np = np
        self._blocks: dict[str, Array] = {}
        self.kept: int = 0

    def array(self, purpose: str, shape: Sequence[int], dtype: dtype[Any]) -> Array:
        """An array with any content, valid until the next call for the same purpose."""
        size = prod(shape) * dtype.itemsize
        block = self._blocks.get(purpose)
        if block is None or block.nbytes < size:
            self._blocks.pop(purpose, None)
            del block  # before the larger one is made
            block = self._blocks[purpose] = self._np.empty(max(size, 16), self._np.uint8)
        return block[:size].view(dtype).reshape(shape)

    def keep(self, array: Array) -> Array:
        """The array, contiguous, and counted."""
        array = self._np.ascontiguousarray(array)
        self.kept += int(array.nbytes)
        return array

    @property
    def nbytes(self) -> int:
        """Bytes of scratch memory and of arrays that kernels keep."""
        return self.kept + sum(int(block.nbytes) for block in self._blocks.values())


def is_ufunc(name: str) -> bool:
    """Whether an op is a function of NumPy, which may write over an operand."""
    op = op_named(name)
    return isinstance(op, Elementwise) and op.ufunc


def writes_over(name: str) -> bool:
    """Whether the kernel of an op may write over an operand: a function's over any, that of
    `update_at` over the array that it updates."""
    return name == "update_at" or is_ufunc(name)


def bind(
    np: NumPy,
    name: str,
    attrs: Mapping[str, Any],
    known: Sequence[Array | None],
    workspace: Workspace,
) -> Kernel | None:
    """A kernel for the op, or None. known: arrays that never change, None for other operands."""
    if is_ufunc(name):
        return _clamp(np, name, known) or _elementwise(getattr(np, name))
    if name == "concat":
        return lambda operands, out: np.concatenate(operands, attrs["axis"], out=out)
    if name == "update_at":
        return _update_at(np, attrs)
    if name == "max_pool2d" and not plain.HAS_BLAS:
        return _max_pool2d(np, workspace, **attrs)
    if name in _LAYERS:
        evaluate = _LAYERS[name]
        return lambda operands, out: evaluate(Pool(np, workspace.array), operands, out, attrs)
    weight = known[WEIGHTS[name]] if name in WEIGHTS else None
    if weight is None and name == "matmul" and plain.HAS_BLAS:
        return lambda operands, out: np.matmul(*operands, out=out)
    if weight is None or not weight.size:
        return None
    if name == "matmul":
        return _matmul(np, workspace, weight)
    return _conv2d(np, workspace, weight, **attrs)


def widened(np: NumPy, array: Array, workspace: Workspace) -> Array:
    """A known operand that is repeated along all but a short last axis, with that axis and the one
    before it written out: the inner loops of an elementwise function become longer."""
    repeated = array.ndim > 1 and array.size and not any(array.strides[:-1])
    if not repeated or not array.strides[-1] or array.shape[-1] >= _SHORT_ROW:
        return array
    rows = array[(slice(0, 1),) * (array.ndim - 2)]
    return np.broadcast_to(workspace.keep(rows), array.shape)


# ---- elementwise ------------------------------------------------------------------------------


def _elementwise(function: UFunc) -> Kernel:
    def run(operands: Sequence[Array], out: Array) -> None:
        function(*operands, out=out)

    return run


def _update_at(np: NumPy, attrs: Mapping[str, Any]) -> Kernel:
    """Writes the region; the rest too, unless it is there: see `BoundStep`."""

    from ...ops import numpy_positions

    def run(operands: Sequence[Array], out: Array) -> None:
        x, new, *starts = operands
        if not np.may_share_memory(x, out):
            np.copyto(out, x)
        numpy_positions.write(out, new, starts, attrs)

    return run


class Clamp:
    """The larger or smaller of float32 values and known numbers that are not negative.

    Without SIMD for it, as in WebAssembly, NumPy branches at each element, and random signs cost
    it twenty times as much as the same comparison of the bits as integers. Those order alike here,
    NaN aside; a sum of squares is NaN exactly if there is one.
    """

    def __init__(self, np: NumPy, varying: int, low: int | None, high: int | None) -> None:
        self._np = np
        self.varying = varying  # the index of the operand that is not known
        self.low, self.high = low, high  # bits

    def __call__(self, operands: Sequence[Array], out: Array) -> None:
        np = self._np
        x = operands[self.varying]
        flat = x.reshape(-1)
        total = np.einsum("i,i->", flat, flat)
        low, high = self.low, self.high
        if total == total and x.flags.c_contiguous:
            bits, result = x.view(np.int32), out.view(np.int32)
            if low is None or high is None:
                choose, bound = (np.minimum, high) if low is None else (np.maximum, low)
                choose(bits, np.int32(bound), out=result)
            else:
                np.clip(bits, np.int32(low), np.int32(high), out=result)
            return
        if low is not None:
            x = np.maximum(x, np.int32(low).view(np.float32), out=out)
        if high is not None:
            np.minimum(x, np.int32(high).view(np.float32), out=out)

    def then(self, other: Kernel) -> Clamp | None:
        """One kernel for this one and then `other` on its result, if there is one."""
        if not isinstance(other, Clamp) or self.high is not None or other.low is not None:
            return None
        return Clamp(self._np, self.varying, self.low, other.high)


def _clamp(np: NumPy, name: str, known: Sequence[Array | None]) -> Clamp | None:
    if name not in ("maximum", "minimum") or plain.HAS_BLAS:
        return None
    for index, value in enumerate(known):
        if value is None or value.dtype != np.float32 or not value.size:
            continue
        bits = int(value[(0,) * value.ndim].view(np.int32))
        one = value.size == 1 or not any(value.strides)
        if one and 0 <= bits <= _INFINITY_BITS:
            low, high = (bits, None) if name == "maximum" else (None, bits)
            return Clamp(np, 1 - index, low, high)
    return None


# ---- products ---------------------------------------------------------------------------------


def _product(np: NumPy, workspace: Workspace, weight: Array) -> Callable[[Array, Array], object]:
    """rows (m, k) times the weight (k, n), into an array (m, n)."""
    if plain.HAS_BLAS or weight.dtype.kind != "f":
        weight = workspace.keep(weight)
        return lambda rows, out: np.matmul(rows, weight, out=out)
    weight = workspace.keep(weight.T)
    return lambda rows, out: np.einsum("ik,jk->ij", rows, weight, out=out)


def _matmul(np: NumPy, workspace: Workspace, weight: Array) -> Kernel:
    products = [_product(np, workspace, each) for each in weight]

    def run(operands: Sequence[Array], out: Array) -> None:
        for product, rows, result in zip(products, operands[0], out, strict=True):
            product(np.ascontiguousarray(rows), result)

    return run


# ---- windows ----------------------------------------------------------------------------------


def _image(np: NumPy, workspace: Workspace, x: Array, padding: Pads, value: float = 0) -> Array:
    """The image (n, h, w, c), contiguous and padded."""
    if not any(map(any, padding)):
        return np.ascontiguousarray(x)
    (top, bottom), (left, right) = padding
    n, h, w, c = x.shape
    image = workspace.array("image", (n, top + h + bottom, left + w + right, c), x.dtype)
    image[:, :top] = image[:, top + h :] = value
    image[:, :, :left] = image[:, :, left + w :] = value
    image[:, top : top + h, left : left + w] = x
    return image


def _conv2d(
    np: NumPy,
    workspace: Workspace,
    w: Array,
    stride: Pair,
    padding: Pads,
    dilation: Pair,
    groups: int,
) -> Kernel:
    kh, kw, per_group, channels = w.shape
    if per_group == 1 and channels == groups:
        return _depthwise(np, workspace, w[:, :, 0], stride, padding, dilation)
    each = channels // groups
    products = [
        _product(
            np,
            workspace,
            w[..., group * each : (group + 1) * each].reshape(kh * kw * per_group, each),
        )
        for group in range(groups)
    ]
    pointwise = (kh, kw, *stride, groups) == (1,) * 5 and not any(map(any, padding))

    def run(operands: Sequence[Array], out: Array) -> None:
        (x, _), pixels = operands, prod(out.shape[:3])
        if pointwise:
            rows = np.ascontiguousarray(x).reshape(pixels, per_group)
            products[0](rows, out.reshape(pixels, channels))
            return
        image = _image(np, workspace, x, padding)
        windows = plain.windows_of(np, image, (kh, kw), stride, dilation)
        for images, lines in _parts(windows.shape[:2], windows[0, 0].nbytes // groups):
            part = windows[images, lines]
            columns = workspace.array("columns", (*part.shape[:5], per_group), x.dtype)
            rows = columns.reshape(-1, kh * kw * per_group)
            result = out[images, lines].reshape(len(rows), channels)
            for group, product in enumerate(products):
                np.copyto(columns, part[..., group * per_group : (group + 1) * per_group])
                product(rows, result[:, group * each : (group + 1) * each])

    return run


def _parts(shape: Sequence[int], line: int) -> Iterator[tuple[slice, slice]]:
    """Images and lines whose columns, so many bytes a line, stay in a processor's cache between
    being written and being read."""
    images, lines = shape
    if lines * line <= _CACHED:
        together = _CACHED // max(1, lines * line)
        for start in range(0, images, together):
            yield slice(start, start + together), slice(None)
        return
    together = max(1, _CACHED // line)
    for image in range(images):
        for start in range(0, lines, together):
            yield slice(image, image + 1), slice(start, start + together)


def _depthwise(
    np: NumPy, workspace: Workspace, w: Array, stride: Pair, padding: Pads, dilation: Pair
) -> Kernel:
    kh, kw, c = w.shape
    weight = workspace.keep(w)
    rows: list[Array] = []  # the weight repeated along an image's row, once its width is known

    def run(operands: Sequence[Array], out: Array) -> None:
        image = _image(np, workspace, operands[0], padding)
        windows = plain.windows_of(np, image, (kh, kw), stride, dilation)
        if c >= _SHORT_ROW or stride[1] != 1 or dilation[1] != 1:
            np.einsum("nhwijc,ijc->nhwc", windows, weight, out=out)
            return
        # The pixels of a row are adjacent, and so are those that a tap takes: one long row.
        n, oh, ow = out.shape[:3]
        if not rows:
            repeated = np.broadcast_to(weight[:, :, None], (kh, kw, ow, c))
            rows.append(workspace.keep(repeated).reshape(kh, kw, ow * c))
        sn, sh, _, si, sj, sc = windows.strides
        lines: Array = np.ndarray(
            (n, oh, kh, kw, ow * c), image.dtype, image, strides=(sn, sh, si, sj, sc)
        )
        np.einsum("nhijx,ijx->nhx", lines, rows[0], out=out.reshape(n, oh, ow * c))

    return run


def _max_pool2d(
    np: NumPy, workspace: Workspace, kernel: Pair, stride: Pair, padding: Pads, dilation: Pair
) -> Kernel:
    """As `Clamp`: float32 compared as integers, with the bits of negative values turned round."""

    def turn(bits: Array, scratch: Array) -> None:
        np.right_shift(bits, 31, out=scratch)
        np.bitwise_and(scratch, 0x7FFFFFFF, out=scratch)
        np.bitwise_xor(bits, scratch, out=bits)

    def run(operands: Sequence[Array], out: Array) -> None:
        x = operands[0]
        flat = x.reshape(-1)
        if x.dtype != np.float32 or np.isnan(np.einsum("i,i->", flat, flat)):
            out[...] = plain.max_pool2d(np, x, kernel, stride, padding, dilation)
            return
        image = _image(np, workspace, x, padding, -np.inf)
        bits = image.view(np.int32)
        if image is x:
            bits = workspace.array("image", x.shape, bits.dtype)
            np.copyto(bits, x.view(np.int32))
        turn(bits, workspace.array("columns", bits.shape, bits.dtype))
        windows = plain.windows_of(np, bits, kernel, stride, dilation)
        result = out.view(np.int32)
        np.copyto(result, windows[:, :, :, 0, 0])
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                if i or j:
                    np.maximum(result, windows[:, :, :, i, j], out=result)
        turn(result, workspace.array("columns", result.shape, result.dtype))

    return run
