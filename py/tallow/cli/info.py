"""`tallow info`: describes a model."""

from __future__ import annotations

import argparse

from ..onnx import load
from .feeds import shapes_of


def command(options: argparse.Namespace) -> None:
    """Prints the summary, which lists everything unsupported at once."""
    print(load(options.model).summary(shapes_of(options)))
