"""DropBlock: dropout of whole squares (Ghiasi et al. 2018)."""

from __future__ import annotations

from ... import functions as f
from ...errors import OptionError, ShapeError
from ...functional.pooling import max_pool2d
from ...nn import Module
from ...tensor import Tensor


def _check(p: float, block_size: int) -> None:
    if not 0 <= p <= 1:
        raise OptionError(f"drop_block2d: p={p!r} is no probability from 0 to 1")
    if not isinstance(block_size, int) or block_size < 1:
        raise OptionError(f"drop_block2d: block_size={block_size!r} is not above 0")


def drop_block2d(
    input: Tensor,
    p: float,
    block_size: int,
    inplace: bool = False,
    eps: float = 1e-6,
    training: bool = True,
) -> Tensor:
    """Squares of feature maps are made 0, and the rest larger, so that means stay.

    input: (n, c, h, w).
    p: how much is dropped.
    block_size: the side of a square.
    inplace: changes the input itself.
    training: whether anything is dropped.
    Returns: the shape of input.
    Raises: OptionError for other options, ShapeError for another input.
    Source: Ghiasi et al. 2018; `torchvision.ops.drop_block2d`.
    """
    _check(p, block_size)
    if input.ndim != 4:
        raise ShapeError(f"drop_block2d: {input.shape} is not (n, c, h, w)")
    if not training or p == 0:
        return input
    n, c, h, w = input.shape
    side = min(block_size, h, w)
    rows, columns = h - side + 1, w - side + 1
    rate = p * h * w / (side**2 * rows * columns)
    seeds = (f.rand(n, c, rows, columns) < rate).astype(input.dtype)
    half, rest = side // 2, side - 1 - side // 2
    reach = f.pad(seeds, [(0, 0), (0, 0), (half, rest), (half, rest)], 0)
    wide = f.pad(reach, [(0, 0), (0, 0), (half, rest), (half, rest)], 0)
    kept = 1.0 - max_pool2d(wide, side, 1)
    found = input * kept * (kept.size / (f.sum(kept) + eps))
    return input.copy_(found) if inplace else found


class DropBlock2d(Module):
    """`drop_block2d` as a module, which rests in evaluation."""

    def __init__(self, p: float, block_size: int, inplace: bool = False, eps: float = 1e-6) -> None:
        super().__init__()
        _check(p, block_size)
        self.p, self.block_size, self.inplace, self.eps = p, block_size, inplace, eps

    def forward(self, input: Tensor) -> Tensor:
        """See `drop_block2d`."""
        return drop_block2d(input, self.p, self.block_size, self.inplace, self.eps, self.training)
