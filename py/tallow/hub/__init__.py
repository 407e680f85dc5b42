"""Published models: found by a name, a path or an address, and opened whole."""

from .load import load, load_async
from .named import download, download_async

__all__ = ["download", "download_async", "load", "load_async"]
