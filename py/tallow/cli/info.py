"""`tallow info`: what a model is."""

from __future__ import annotations

import argparse

from ..onnx import load
from .feeds import shapes_of


def command(options: argparse.Namespace) -> None:
    """Prints the summary; what is unsupported is said in it, all at once."""
    print(load(options.model).summary(shapes_of(options)))
