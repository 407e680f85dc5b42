"""torch.version."""

from __future__ import annotations

from . import __version__ as __version__

cuda = hip = xpu = None
debug = False
git_version = ""
