"""Images and regions of them; chapters "image" and "object_detection"."""

from . import regions, resampling, resampling_tables, sampling

__all__ = ["regions", "resampling", "resampling_tables", "sampling"]
