"""Functions between regions, with their inverses and the logarithms of how they stretch volumes.
PyTorch's names.

base has what all transforms are; elementwise those of each number on its own; matrices those of
whole vectors and matrices; compositions those that are made of others.
"""

from ...tensor import Tensor as Tensor  # PyTorch's file has these names, too
from ..utils import lazy_property as lazy_property
from ..utils import tril_matrix_to_vec as tril_matrix_to_vec
from ..utils import vec_to_tril_matrix as vec_to_tril_matrix
from .base import Transform
from .compositions import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    identity_transform,
)
from .elementwise import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from .matrices import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
    "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip
