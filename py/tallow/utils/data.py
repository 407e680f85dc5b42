"""torch.utils.data's names: those of `tallow.data`."""

from ..data import *  # noqa: F403
from ..data import __all__ as __all__
