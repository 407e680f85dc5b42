"""Transforms of images, with torchvision's names, arguments and results.

`v2` has the same classes, under torchvision's newer name.
"""

from . import classes, functional, v2
from .classes import *  # noqa: F403

__all__ = [*classes.__all__, "functional", "v2"]
