"""The operators, a folder per chapter of the standard (onnx/defs), a file per family.

Importing a file registers its operators.
"""

from . import (
    contributed,
    control,
    generator,
    image,
    math,
    nn,
    older,
    quantization,
    sequences,
    tensor,
    text,
    traditional_ml,
    training,
)

__all__ = [
    "contributed",
    "control",
    "generator",
    "image",
    "math",
    "nn",
    "older",
    "quantization",
    "sequences",
    "tensor",
    "text",
    "traditional_ml",
    "training",
]
