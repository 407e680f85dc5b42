"""Training on several workers: processes, on this machine or on a cluster's."""

from .strategy import RayStrategy

__all__ = ["RayStrategy"]
