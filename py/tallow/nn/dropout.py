"""Dropout as modules; the functions are in functional/layers.py."""

from __future__ import annotations

from .. import functional
from ..errors import OptionError
from ..tensor import Tensor
from .module import Module


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise OptionError(f"{type(self).__name__}: p must be from 0 to 1, not {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Puts each element to 0 with the probability p in training. See `functional.dropout`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """`Dropout` that keeps mean and variance behind `SELU`, in training (Klambauer et al. 2017)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels (n, c, ...), in training."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.feature_alpha_dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Puts whole channels of (n, c, length) to 0 in training. See `functional.dropout1d`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Puts whole channels of (n, c, h, w) to 0 in training. See `functional.dropout2d`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Puts whole channels of (n, c, d, h, w) to 0 in training. See `functional.dropout3d`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.dropout3d(input, self.p, self.training, self.inplace)
