"""The array functions, one file per chapter of the Python array API standard.

Every elementwise record becomes a function under its own name (elementwise.py), so a new record
needs no further code.
"""

from typing import TYPE_CHECKING

from ..tensor import FUNCTIONS
from .arrange import argsort, scatter, sort
from .creation import (
    arange,
    empty,
    eye,
    full,
    full_like,
    linspace,
    of_sizes_or_data,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from .cumulative import cumulative_prod, cumulative_sum
from .einsum import einsum
from .elementwise import *  # noqa: F403 - one name per record
from .elementwise import (
    ELEMENTWISE,
    bitcast,
    clip,
    floor_divide,
    positive,
    pow,
    remainder,
    round,
    square,
)
from .elementwise import whole_power as whole_power
from .indexing import checked_indices as checked_indices
from .indexing import getitem, take, take_along_axis
from .indexing import position as position
from .linear_algebra import det, matmul, matrix_transpose, vecdot
from .manipulation import (
    broadcast_arrays,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    pad,
    permute_dims,
    repeat,
    reshape,
    split,
    squeeze,
    stack,
    tile,
    unstack,
)
from .randomness import bernoulli, rand, rand_like, randint, randn, randn_like, randperm
from .reduction import all, any, argmax, argmin, max, mean, min, prod, std, sum, var

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tensor import Tensor

    def __getattr__(name: str) -> Callable[..., Tensor]:
        """The elementwise functions, which are generated from their records."""


__all__ = [
    *ELEMENTWISE,
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "bernoulli",
    "bitcast",
    "broadcast_arrays",
    "broadcast_to",
    "clip",
    "concat",
    "cumulative_prod",
    "cumulative_sum",
    "det",
    "einsum",
    "empty",
    "expand_dims",
    "eye",
    "flip",
    "floor_divide",
    "full",
    "full_like",
    "linspace",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "min",
    "moveaxis",
    "ones",
    "ones_like",
    "pad",
    "permute_dims",
    "positive",
    "pow",
    "prod",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "remainder",
    "repeat",
    "reshape",
    "round",
    "scatter",
    "sort",
    "split",
    "square",
    "squeeze",
    "stack",
    "std",
    "sum",
    "take",
    "take_along_axis",
    "tile",
    "tril",
    "triu",
    "unstack",
    "var",
    "vecdot",
    "zeros",
    "zeros_like",
]

FUNCTIONS.update(
    {name: globals()[name] for name in __all__},
    getitem=getitem,
    of_sizes_or_data=of_sizes_or_data,
)
