"""torch.special: functions of numbers, under its names."""

from __future__ import annotations

from typing import Any

import tallow as tl

from .. import functional
from ..functions import special as definitions
from ..tensor import Tensor
from .calls import spelled
from .names import words
from .rooms import missing

_NAMES = {
    "bessel_i0": "i0", "expit": "sigmoid", "gammaln": "lgamma", "gammainc": "igamma",
    "gammaincc": "igammac", "multigammaln": "mvlgamma", "psi": "digamma",
}  # fmt: skip
"""Names that differ from the methods'."""

_OTHERS = frozenset(
    words(
        """
    airy_ai bessel_j0 bessel_j1 digamma entr erf erfc erfcx erfinv exp2 expm1 i0 i0e i1 i1e
    log1p log_ndtr log_softmax logit logsumexp ndtr ndtri polygamma round sinc softmax
    xlog1py xlogy zeta
    """
    )
)


def __getattr__(name: str) -> Any:
    own = _NAMES.get(name, name)
    if name in _NAMES or name in _OTHERS:
        for source in (definitions, Tensor, tl, functional):
            found = getattr(source, own, None)
            if callable(found):
                return spelled(f"torch.special.{name}", found)
    raise missing("torch.special", name)


def __dir__() -> list[str]:
    return sorted({*_NAMES, *_OTHERS})
