"""The domain ai.onnx.ml; chapter "traditionalml"."""

from . import classes, learning, trees

__all__ = ["classes", "learning", "trees"]
