"""The operators, a folder per chapter of the standard (onnx/defs), a file per family.

Importing a file registers its operators.
"""

from . import (
    contributed,
    control,
    dynamic_recurrence,
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
    "dynamic_recurrence",
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
