"""Layers and networks, under PyTorch's names, which names.py lists."""

from ..binding import getter

__getattr__ = getter(globals(), "nn", packages="functional init utils")
