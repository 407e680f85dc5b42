"""torch.return_types: the named tuples that functions give."""

from __future__ import annotations

from ..functions.arrange import Ordered
from ..functions.torch_names import Extremes

max = min = median = mode = kthvalue = cummax = cummin = Extremes
sort = topk = Ordered
