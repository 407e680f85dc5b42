"""torchvision.transforms.v2's names: the same classes and functions."""

from .. import classes, functional
from ..classes import *  # noqa: F403

__all__ = [*classes.__all__, "functional"]
