"""Tallow: tensors in Python that run as generated WGSL on WebGPU, or on NumPy.

    import tallow as tl
    x = tl.asarray([[1.0, 2.0], [3.0, 4.0]])
    y = tl.functional.softmax(x @ x, axis=-1)
    print(y.numpy())

Function names follow the Python array API standard, layers PyTorch. Importing imports no NumPy.
"""

from importlib import import_module
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
    FormatError,
    GradientError,
    GraphError,
    IndexRangeError,
    KernelError,
    LinAlgError,
    NonFiniteError,
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
from .functions import torch_elements, torch_names
from .functions.torch_elements import *  # noqa: F403
from .functions.torch_names import *  # type: ignore[assignment]  # noqa: F403
from .grad_mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .random import Generator, manual_seed
from .runtime.buffer import live_buffers
from .runtime.debug import debug_nans
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
from .runtime.hosted import NoKernelWarning
from .runtime.jit import jit
from .runtime.session import Session, compile_session, compile_session_async
from .runtime.tuning import Tuned, TuningWarning, tune
from .runtime.variable import Variable
from .tensor import Tensor, asarray, use_differentiator
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import autograd, distributions, func, linalg, nn, onnx, optim, utils, zoo
    from .accelerators import *  # noqa: F403
    from .amp import autocast
    from .autodiff.everything import (
        checkpoint,
        custom_vjp,
        grad,
        jvp,
        stop_gradient,
        value_and_grad,
        vjp,
    )
    from .custom import custom_op
    from .formats.weights import load, load_into, save
    from .functions.data_types import *  # noqa: F403
    from .functions.torch_bessel import *  # noqa: F403
    from .functions.torch_draws import *  # noqa: F403
    from .functions.torch_gamma import *  # noqa: F403
    from .functions.torch_linalg import *  # noqa: F403
    from .functions.torch_lines import *  # noqa: F403
    from .functions.torch_math import *  # noqa: F403
    from .functions.torch_numbers import *  # noqa: F403
    from .functions.torch_orders import *  # noqa: F403
    from .functions.torch_places import *  # noqa: F403
    from .functions.torch_shapes import *  # noqa: F403
    from .functions.torch_special import *  # noqa: F403
    from .methods.text import set_printoptions

_LATER = (
    "amp",
    "autograd",
    "distributions",
    "func",
    "linalg",
    "nn",
    "onnx",
    "optim",
    "utils",
    "zoo",
)
"""Packages that are imported when they are first asked for."""

_NAMES = {
    "accelerators": ("accelerator", "backends", "cuda", "device", "mps"),
    "amp": ("autocast",),
    "autodiff.everything": (
        "checkpoint", "custom_vjp", "grad", "jvp", "stop_gradient", "value_and_grad", "vjp",
    ),
    "custom": ("custom_op",),
    "formats.weights": ("load", "load_into", "save"),
    "methods.text": ("set_printoptions",),
}  # fmt: skip
"""Names that are imported, by the module that has them, when one is first asked for."""

_MORE = (
    "data_types", "torch_math", "torch_orders", "torch_shapes", "torch_places", "torch_special",
    "torch_linalg", "torch_numbers", "torch_lines", "torch_gamma", "torch_bessel", "torch_draws",
)  # fmt: skip
"""Files of functions that are imported when one of their names is first asked for."""

_TYPES = {
    "bool": bool_, "double": float64, "float": float32, "half": float16, "int": int32,
    "long": int64, "short": int16,
}  # fmt: skip
"""PyTorch's names of element types; not among __all__, since they hide Python's."""

use_differentiator(lambda: import_module("tallow.autodiff.everything").REVERSE)

__all__ = [
    *functions.__all__,
    *torch_elements.__all__,
    *torch_names.__all__,
    "DType",
    "DTypeError",
    "DeviceError",
    "DeviceLostError",
    "DeviceMemoryError",
    "DeviceUnavailableError",
    "FeedError",
    "FeedRangeError",
    "FormatError",
    "Generator",
    "IndexRangeError",
    "GradientError",
    "GraphError",
    "KernelError",
    "LinAlgError",
    "NoKernelWarning",
    "NonFiniteError",
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
    "autocast",
    "autograd",
    "bool_",
    "checkpoint",
    "compile_session",
    "compile_session_async",
    "custom_op",
    "custom_vjp",
    "debug_nans",
    "default_device",
    "devices",
    "distributions",
    "enable_grad",
    "float16",
    "float32",
    "float64",
    "func",
    "functional",
    "get_float32_matmul_precision",
    "get_num_threads",
    "grad",
    "inference_mode",
    "int16",
    "int32",
    "int64",
    "int8",
    "is_grad_enabled",
    "jit",
    "jvp",
    "linalg",
    "live_buffers",
    "load",
    "load_into",
    "manual_seed",
    "nn",
    "no_grad",
    "onnx",
    "open_device",
    "optim",
    "realize",
    "save",
    "set_default_device",
    "set_float32_matmul_precision",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "stop_gradient",
    "tune",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "utils",
    "value_and_grad",
    "vjp",
    "zoo",
]


def __getattr__(name: str) -> Any:
    """What visitors of the page do not need is imported when it is first asked for."""
    if name in _LATER:
        return import_module(f"tallow.{name}")
    for source, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"tallow.{source}"), name)
    if name in _TYPES:
        return _TYPES[name]
    for more in _MORE:
        module = import_module(f"tallow.functions.{more}")
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
