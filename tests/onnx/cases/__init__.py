"""The cases of every operator, a file per family."""

from . import elementwise, movement, reductions, windows

CASES = [*elementwise.CASES, *reductions.CASES, *movement.CASES, *windows.CASES]
