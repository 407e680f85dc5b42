# Written by tests/unit/project/stubs.py from names.py: do not change it.

from tallow.amp import autocast as autocast
from tallow.autodiff.everything import checkpoint as checkpoint
from tallow.autodiff.everything import custom_vjp as custom_vjp
from tallow.autodiff.everything import grad as grad
from tallow.autodiff.everything import jvp as jvp
from tallow.autodiff.everything import stop_gradient as stop_gradient
from tallow.autodiff.everything import value_and_grad as value_and_grad
from tallow.autodiff.everything import vjp as vjp
from tallow.core.dtype import DType as DType
from tallow.core.dtype import bool_ as bool_
from tallow.core.dtype import float16 as float16
from tallow.core.dtype import float32 as float32
from tallow.core.dtype import float64 as float64
from tallow.core.dtype import int16 as int16
from tallow.core.dtype import int32 as int32
from tallow.core.dtype import int64 as int64
from tallow.core.dtype import int8 as int8
from tallow.core.dtype import uint16 as uint16
from tallow.core.dtype import uint32 as uint32
from tallow.core.dtype import uint64 as uint64
from tallow.core.dtype import uint8 as uint8
from tallow.custom import custom_op as custom_op
from tallow.devices.wasm.device import get_num_threads as get_num_threads
from tallow.devices.wasm.device import set_num_threads as set_num_threads
from tallow.devices.webgpu.tuning import Tuned as Tuned
from tallow.devices.webgpu.tuning import TuningStep as TuningStep
from tallow.devices.webgpu.tuning import TuningWarning as TuningWarning
from tallow.devices.webgpu.tuning import tune as tune
from tallow.devices.webgpu.tuning import tuning_steps as tuning_steps
from tallow.errors import DTypeError as DTypeError
from tallow.errors import DeviceError as DeviceError
from tallow.errors import DeviceLostError as DeviceLostError
from tallow.errors import DeviceMemoryError as DeviceMemoryError
from tallow.errors import DeviceUnavailableError as DeviceUnavailableError
from tallow.errors import FeedError as FeedError
from tallow.errors import FeedRangeError as FeedRangeError
from tallow.errors import FormatError as FormatError
from tallow.errors import GradientError as GradientError
from tallow.errors import GraphError as GraphError
from tallow.errors import IndexRangeError as IndexRangeError
from tallow.errors import KernelError as KernelError
from tallow.errors import LinAlgError as LinAlgError
from tallow.errors import NonFiniteError as NonFiniteError
from tallow.errors import OnnxAmbiguousDataError as OnnxAmbiguousDataError
from tallow.errors import OnnxError as OnnxError
from tallow.errors import OnnxFormatError as OnnxFormatError
from tallow.errors import OnnxMissingDataError as OnnxMissingDataError
from tallow.errors import OnnxUnsupportedError as OnnxUnsupportedError
from tallow.errors import OptionError as OptionError
from tallow.errors import RealizeError as RealizeError
from tallow.errors import ShapeError as ShapeError
from tallow.errors import TallowError as TallowError
from tallow.errors import TracingError as TracingError
from tallow.formats.opened import Weights as Weights
from tallow.formats.opened import open_weights as open_weights
from tallow.formats.opened import open_weights_async as open_weights_async
from tallow.formats.weights import load as load
from tallow.formats.weights import load_async as load_async
from tallow.formats.weights import load_into as load_into
from tallow.formats.weights import save as save
from tallow.functional.activations import log_softmax as log_softmax
from tallow.functional.activations import relu as relu
from tallow.functional.activations import sigmoid as sigmoid
from tallow.functional.activations import softmax as softmax
from tallow.functional.grids import pdist as pdist
from tallow.grad_mode import enable_grad as enable_grad
from tallow.grad_mode import inference_mode as inference_mode
from tallow.grad_mode import is_grad_enabled as is_grad_enabled
from tallow.grad_mode import no_grad as no_grad
from tallow.grad_mode import set_grad_enabled as set_grad_enabled
from tallow.methods.conversions import clone as clone
from tallow.methods.facts import numel as numel
from tallow.methods.meanings import sign as sgn
from tallow.methods.views import chunk as chunk
from tallow.methods.views import flatten as flatten
from tallow.methods.views import movedim as movedim
from tallow.methods.views import permute as permute
from tallow.methods.views import transpose as swapaxes
from tallow.methods.views import transpose as swapdims
from tallow.methods.views import t as t
from tallow.methods.views import transpose as transpose
from tallow.methods.views import unbind as unbind
from tallow.methods.views import unflatten as unflatten
from tallow.methods.views import unsqueeze as unsqueeze
from tallow.random import Generator as Generator
from tallow.random import manual_seed as manual_seed
from tallow.runtime.buffer import live_buffers as live_buffers
from tallow.runtime.debug import debug_nans as debug_nans
from tallow.runtime.device import default_device as default_device
from tallow.runtime.device import devices as devices
from tallow.runtime.device import get_float32_function_precision as get_float32_function_precision
from tallow.runtime.device import get_float32_matmul_precision as get_float32_matmul_precision
from tallow.runtime.device import open_device as open_device
from tallow.runtime.device import set_default_device as set_default_device
from tallow.runtime.device import set_float32_function_precision as set_float32_function_precision
from tallow.runtime.device import set_float32_matmul_precision as set_float32_matmul_precision
from tallow.runtime.evaluator import realize as realize
from tallow.runtime.hosted import NoKernelWarning as NoKernelWarning
from tallow.runtime.jit import jit as jit
from tallow.runtime.session import Session as Session
from tallow.runtime.session import compile_session as compile_session
from tallow.runtime.session import compile_session_async as compile_session_async
from tallow.runtime.variable import Variable as Variable
from tallow.tensor import Tensor as Tensor
from tallow.tensor import asarray as asarray
from tallow.tensor.printing import set_printoptions as set_printoptions
from tallow import amp as amp
from tallow import audio as audio
from tallow import autograd as autograd
from tallow import data as data
from tallow import distributions as distributions
from tallow import files as files
from tallow import func as func
from tallow import functional as functional
from tallow import generation as generation
from tallow import hub as hub
from tallow import linalg as linalg
from tallow import metrics as metrics
from tallow import nn as nn
from tallow import onnx as onnx
from tallow import optim as optim
from tallow import peft as peft
from tallow import ray as ray
from tallow import telemetry as telemetry
from tallow import text as text
from tallow import train as train
from tallow import utils as utils
from tallow import vision as vision
from tallow import zoo as zoo
from tallow.core.dtype import bool_ as bool
from tallow.core.dtype import float64 as double
from tallow.core.dtype import float32 as float
from tallow.core.dtype import float16 as half
from tallow.core.dtype import int32 as int
from tallow.core.dtype import int64 as long
from tallow.core.dtype import int16 as short
from tallow.accelerators import accelerator as accelerator
from tallow.accelerators import backends as backends
from tallow.accelerators import cuda as cuda
from tallow.accelerators import device as device
from tallow.accelerators import mps as mps
from tallow import errors as errors
from tallow import functions as functions
from tallow.functions import *
from tallow.version import __version__ as __version__

__all__ = [
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
    "GradientError",
    "GraphError",
    "IndexRangeError",
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
    "Tuned",
    "TuningStep",
    "TuningWarning",
    "Variable",
    "Weights",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addr",
    "all",
    "allclose",
    "amax",
    "amin",
    "aminmax",
    "amp",
    "any",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "as_tensor",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "audio",
    "autocast",
    "autograd",
    "baddbmm",
    "bartlett_window",
    "bernoulli",
    "bincount",
    "binomial",
    "bitcast",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman_window",
    "block_diag",
    "bmm",
    "bool_",
    "broadcast_arrays",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "can_cast",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "chain_matmul",
    "checkpoint",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clip",
    "clone",
    "column_stack",
    "combinations",
    "compile_session",
    "compile_session_async",
    "concat",
    "concatenate",
    "copysign",
    "corrcoef",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "cumulative_trapezoid",
    "custom_op",
    "custom_vjp",
    "data",
    "debug_nans",
    "default_device",
    "deg2rad",
    "det",
    "devices",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dist",
    "distributions",
    "div",
    "divide",
    "dot",
    "dsplit",
    "dstack",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "enable_grad",
    "eq",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "eye",
    "files",
    "fill_from",
    "finfo",
    "fix",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float16",
    "float32",
    "float64",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frexp",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "func",
    "functional",
    "gather",
    "gcd",
    "ge",
    "generation",
    "ger",
    "get_default_dtype",
    "get_float32_function_precision",
    "get_float32_matmul_precision",
    "get_num_threads",
    "grad",
    "gradient",
    "greater",
    "greater_equal",
    "gt",
    "hamming_window",
    "hann_window",
    "heaviside",
    "histc",
    "histogram",
    "hsplit",
    "hstack",
    "hub",
    "hypot",
    "i0",
    "igamma",
    "igammac",
    "iinfo",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "inf",
    "inference_mode",
    "inner",
    "int16",
    "int32",
    "int64",
    "int8",
    "inverse",
    "is_complex",
    "is_floating_point",
    "is_grad_enabled",
    "is_nonzero",
    "is_tensor",
    "isclose",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "jit",
    "jvp",
    "kaiser_window",
    "kron",
    "kthvalue",
    "lcm",
    "ldexp",
    "le",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linalg",
    "linspace",
    "live_buffers",
    "load",
    "load_async",
    "load_into",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logspace",
    "logsumexp",
    "lt",
    "manual_seed",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "metrics",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "mvlgamma",
    "nan",
    "nan_to_num",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "ne",
    "neg",
    "negative",
    "newaxis",
    "nextafter",
    "nn",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "numel",
    "ones",
    "ones_like",
    "onnx",
    "open_device",
    "open_weights",
    "open_weights_async",
    "optim",
    "outer",
    "pad",
    "pdist",
    "peft",
    "permute",
    "permute_dims",
    "pi",
    "pinverse",
    "poisson",
    "polygamma",
    "positive",
    "pow",
    "prod",
    "promote_types",
    "put",
    "quantile",
    "rad2deg",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "ravel",
    "ray",
    "realize",
    "reciprocal",
    "relu",
    "remainder",
    "renorm",
    "repeat",
    "repeat_interleave",
    "reshape",
    "result_type",
    "roll",
    "rot90",
    "round",
    "row_stack",
    "rsqrt",
    "rsub",
    "save",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "select",
    "select_scatter",
    "set_default_device",
    "set_float32_function_precision",
    "set_float32_matmul_precision",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "sgn",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "slice_at",
    "slice_scatter",
    "slogdet",
    "softmax",
    "sort",
    "split",
    "split_with_sizes",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "stop_gradient",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "swapdims",
    "t",
    "take",
    "take_along_axis",
    "take_along_dim",
    "tan",
    "tanh",
    "telemetry",
    "tensor",
    "tensor_split",
    "tensordot",
    "text",
    "tile",
    "topk",
    "trace",
    "train",
    "transpose",
    "trapezoid",
    "trapz",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "trunc_divide",
    "tune",
    "tuning_steps",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "unbind",
    "unflatten",
    "unfold",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsqueeze",
    "unstack",
    "update_at",
    "utils",
    "value_and_grad",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "vecdot",
    "vision",
    "vjp",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "zeros",
    "zeros_like",
    "zoo",
]
