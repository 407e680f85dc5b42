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
    quantized,
    sequences,
    tensor,
    text,
    traditional_ml,
    training,
    transformers,
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
    "quantized",
    "sequences",
    "tensor",
    "text",
    "traditional_ml",
    "training",
    "transformers",
]
