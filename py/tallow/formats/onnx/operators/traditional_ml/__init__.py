"""The domain ai.onnx.ml; chapter "traditionalml"."""

from . import learning, trees

__all__ = ["learning", "trees"]
