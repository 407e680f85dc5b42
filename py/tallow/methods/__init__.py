"""PyTorch's methods of tensors, which `Tensor` derives from.

What they call lies in packages above this one and is looked up by name when it is first called.
"""

from .base import Count, Made
from .common import Common
from .facts import Facts
from .forwarded import Forwarded
from .in_place import InPlace
from .more import More


class Methods(Common[Made], More[Made], InPlace[Made], Forwarded[Made], Facts[Made]):
    """All methods; Made is the tensor that they give."""

    __slots__ = ()


__all__ = ["Count", "Methods"]
