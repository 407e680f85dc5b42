"""Images and regions of them; chapters "image" and "object_detection"."""

from . import interpolation, regions, resampling, resampling_tables, sampling

__all__ = ["interpolation", "regions", "resampling", "resampling_tables", "sampling"]
