"""torch.return_types: the named tuples that functions give."""

from __future__ import annotations

from ..core.results import named
from ..functions.arrange import Ordered
from ..functions.numbers import Parts
from ..functions.statistics import Bounds
from ..methods.meanings import Extremes
from .names import words

_KINDS = {
    Extremes: "max min", Bounds: "aminmax", Parts: "frexp",
    Ordered: "cummax cummin kthvalue median mode nanmedian sort topk",
}  # fmt: skip

globals().update({name: named(kind, name) for kind in _KINDS for name in words(_KINDS[kind])})
