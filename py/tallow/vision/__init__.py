"""torchvision's names: pictures as data, changed, and what networks see in them.

A part is imported when it is first asked for.
"""

from ..binding import getter

__getattr__ = getter(globals(), "vision", packages="datasets io models ops transforms utils")

__version__ = "0.29.0+tallow"
"""The torchvision whose names these are, for programs that ask."""
