"""Kernels that take sizes as arguments: one for all shapes of an op.

They compute what is computed once, where a kernel that knows its sizes would take longer to write
and to compile than to run. Operands are where their strides say, so that what only moves elements
costs nothing. A kernel takes addresses, then counts of turns and strides in bytes.

Loops are nested, each of one turn at least. The steps of a pointer are what is added to it at the
end of a turn of each loop: see `steps_of`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

from .....core.dtype import DType
from .....errors import DTypeError
from .....ops.kinds import Attrs, Elementwise, Reduce
from ..assembler import Function, encode
from ..values import UnsupportedError
from .elements import elementwise
from .lookups import take
from .products import product
from .reductions import reduction

_MOST = 1024
"""How many kernels are kept."""


def steps_of(counts: Sequence[int], strides: Sequence[int]) -> list[int]:
    """What is added to a pointer at the end of a turn of each loop, the outermost first: its
    stride, less what the loops within have added."""
    steps, gone = [], 0
    for count, stride in zip(reversed(counts), reversed(strides), strict=True):
        steps.append(stride - gone)
        gone = count * stride
    return steps[::-1]


class Strided:
    """The kernels that were written so far, by what they compute; None for what none computes."""

    def __init__(self, relaxed: bool) -> None:
        self._relaxed = relaxed
        self._kernels: dict[Hashable, Function | None] = {}
        self._modules: dict[tuple[str, ...], str] = {}
        self._made = 0

    def module(self, functions: Mapping[str, Function]) -> list[str]:
        """The module of functions, by the names that they are exported under, in base 64; none for
        none."""
        if not functions:
            return []
        key = tuple(functions)
        if key not in self._modules:
            self._modules[key] = b64encode(encode([*functions.values()])).decode()
        return [self._modules[key]]

    def elementwise(
        self, op: Elementwise | None, attrs: Attrs, types: tuple[DType, ...], loops: int, lanes: str
    ) -> Function:
        """An op on operands, or a copy. types: of the operands, then of the result. lanes: of each
        operand and of the result along the innermost loop, "c" next to each other, "s" always the
        same element, "x" anything else.

        It takes the addresses, the counts of turns, and for each of those loops the steps of all
        pointers. Raises UnsupportedError.
        """
        named = repr(attrs.items()) if attrs else ""
        key = (op.name if op else "copy", named, types, loops, lanes)
        ways = [4, 1] if "x" not in lanes and lanes[-1] == "c" else [1]
        return self._found(
            key, [partial(elementwise, op, attrs, types, loops, lanes, way) for way in ways]
        )

    def reduction(self, op: Reduce, dtype: DType, kept: int, folded: int) -> Function:
        """A fold: the loops of what is kept, then those of what is folded.

        It takes the addresses, the counts of turns, and for each loop the step in what it reads
        and, for a loop of what is kept, in its result. Raises UnsupportedError.
        """
        key = (op.name, dtype, kept, folded)
        return self._found(key, [partial(reduction, op, dtype, kept, folded)])

    def product(self) -> Function:
        """Products of matrices of float32: see products.py."""
        return self._found("product", [partial(product, self._relaxed)])

    def take(self, index: DType, unit: int) -> Function:
        """Rows by indices, copied by units of so many bytes: see lookups.py."""
        return self._found(("take", index, unit), [partial(take, index, unit)])

    def _found(self, key: Hashable, ways: Sequence[Callable[[], Function]]) -> Function:
        """The kernel of that key: what the first way writes that can."""
        if key not in self._kernels:
            if len(self._kernels) >= _MOST:
                self._kernels.clear()
                self._modules.clear()
            self._kernels[key] = None
            for write in ways:
                try:
                    made = write()
                except (UnsupportedError, DTypeError):
                    continue
                self._made += 1
                made.exported = f"s{self._made}"
                self._kernels[key] = made
                break
        found = self._kernels[key]
        if found is None:
            raise UnsupportedError(str(key))
        return found
