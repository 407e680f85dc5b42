"""Layers and networks, under PyTorch's names, which names.py lists."""

from ..binding import getter, public

__all__ = [*public("nn"), "functional", "init", "utils"]
__getattr__ = getter(globals(), "nn", packages="functional init utils")
