"""Products with weights in blocks: few bits an element, a scale and perhaps a minimum a block.

Files of language models store weights so: each row of a weight (columns, depth) is cut into blocks
of 16, 32 or more neighbours along what a product sums over. A pass finds them in graphs
(compile/passes/blocks.py) for targets whose kernels read them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .kinds import Attrs, Contraction, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    from . import numpy_blocks  # which most pages do not need

    return numpy_blocks.rule(operands, attrs)


def _numpy(np: NumPy, *operands: Array, **attrs: Any) -> Array:
    from . import numpy_blocks

    return numpy_blocks.product(np, *operands, **attrs)


block_matmul = Contraction("block_matmul", _numpy, _rule)
"""x (1, rows, depth) @ ((codes - zero) * scale + minimum) transposed: (1, rows, columns).

codes (columns, blocks, bytes of a block): elements of 4 bits, the first in the low half of a byte,
or of 8; or the same bytes as words (columns, words of a column), uint32. scale, and minimum, which
may be left out: (columns, blocks), float16 or float32.
Attributes: block, the elements of one; bits, 4 or 8, negative for signed elements; zero.
"""
