"""torch.version."""

from __future__ import annotations

from . import __version__ as __version__
from . import get_num_threads as get_num_threads

cuda = hip = xpu = None
debug = False
git_version = ""


def show() -> str:
    """What `torch.__config__.show()` says of how this was built."""
    return f"Tallow with PyTorch's names, {__version__}"


def parallel_info() -> str:
    """What `torch.__config__.parallel_info()` says of threads."""
    return f"at::get_num_threads() : {get_num_threads()}"
