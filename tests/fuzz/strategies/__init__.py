"""Strategies that draw cases, a file per family of operators."""

from . import elementwise, movement, reductions
from .registry import FAMILIES, cases

__all__ = ["FAMILIES", "cases", "elementwise", "movement", "reductions"]
