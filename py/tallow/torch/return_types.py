"""torch.return_types: the named tuples that functions give."""

from __future__ import annotations

from ..functions.arrange import Ordered
from ..methods.meanings import Extremes

max = min = median = mode = kthvalue = cummax = cummin = Extremes
sort = topk = Ordered
