"""Tallow: tensors in Python that run as generated WGSL on WebGPU, or on NumPy.

    import tallow as tl
    x = tl.asarray([[1.0, 2.0], [3.0, 4.0]])
    y = tl.functional.softmax(x @ x, axis=-1)
    print(y.numpy())

Function names follow the Python array API standard, layers PyTorch. Importing imports no NumPy.
"""

from typing import TYPE_CHECKING, Any

from . import functional, functions
from .dtype import (
    DType,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DeviceUnavailableError,
    DTypeError,
    FeedError,
    FeedRangeError,
    GraphError,
    IndexRangeError,
    OnnxAmbiguousDataError,
    OnnxError,
    OnnxFormatError,
    OnnxMissingDataError,
    OnnxUnsupportedError,
    OptionError,
    RealizeError,
    ShapeError,
    TallowError,
    TracingError,
)
from .functions import *  # noqa: F403
from .random import manual_seed
from .runtime.buffer import live_buffers
from .runtime.device import (
    default_device,
    devices,
    get_float32_matmul_precision,
    get_num_threads,
    open_device,
    set_default_device,
    set_float32_matmul_precision,
    set_num_threads,
)
from .runtime.evaluator import realize
from .runtime.jit import jit
from .runtime.session import Session, compile_session, compile_session_async
from .runtime.tuning import Tuned, TuningWarning, tune
from .runtime.variable import Variable
from .tensor import Tensor, asarray
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import onnx

__all__ = [
    *functions.__all__,
    "DType",
    "DTypeError",
    "DeviceError",
    "DeviceLostError",
    "DeviceMemoryError",
    "DeviceUnavailableError",
    "FeedError",
    "FeedRangeError",
    "IndexRangeError",
    "GraphError",
    "OnnxAmbiguousDataError",
    "OnnxError",
    "OnnxFormatError",
    "OnnxMissingDataError",
    "OnnxUnsupportedError",
    "OptionError",
    "RealizeError",
    "Session",
    "ShapeError",
    "TallowError",
    "Tensor",
    "TracingError",
    "Variable",
    "Tuned",
    "TuningWarning",
    "asarray",
    "bool_",
    "compile_session",
    "compile_session_async",
    "default_device",
    "devices",
    "float16",
    "float32",
    "float64",
    "functional",
    "get_float32_matmul_precision",
    "get_num_threads",
    "int16",
    "int32",
    "int64",
    "int8",
    "jit",
    "live_buffers",
    "manual_seed",
    "onnx",
    "open_device",
    "realize",
    "set_default_device",
    "set_float32_matmul_precision",
    "set_num_threads",
    "tune",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]


def __getattr__(name: str) -> Any:
    """`onnx` is imported when it is first asked for: its operators are many."""
    if name == "onnx":
        import tallow.onnx

        return tallow.onnx
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
