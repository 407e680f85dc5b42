"""Measures that add up over batches."""

from .metric import Metric as Metric
