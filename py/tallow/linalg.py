"""The array API's extension for linear algebra, and PyTorch's functions beyond it, with the
standard's names of arguments. The implementation is in functions/linalg.py."""

from .errors import LinAlgError
from .functions import linalg as _functions
from .functions.linalg import *  # noqa: F403

__all__ = ["LinAlgError", *_functions.__all__]
