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
from tallow.functions.arithmetic import addcdiv as addcdiv
from tallow.functions.arithmetic import addcmul as addcmul
from tallow.functions.arithmetic import allclose as allclose
from tallow.functions.arithmetic import clamp as clamp
from tallow.functions.arithmetic import div as div
from tallow.functions.arithmetic import isclose as isclose
from tallow.functions.arithmetic import isfinite as isfinite
from tallow.functions.arithmetic import lerp as lerp
from tallow.functions.arithmetic import log10 as log10
from tallow.functions.arithmetic import log2 as log2
from tallow.functions.arithmetic import rsqrt as rsqrt
from tallow.functions.arithmetic import sub as sub
from tallow.functions.arrange import argsort as argsort
from tallow.functions.arrange import scatter as scatter
from tallow.functions.arrange import sort as sort
from tallow.functions.bessel import i0 as i0
from tallow.functions.creation import arange as arange
from tallow.functions.creation import empty as empty
from tallow.functions.creation import eye as eye
from tallow.functions.creation import from_dlpack as from_dlpack
from tallow.functions.creation import from_numpy as from_numpy
from tallow.functions.creation import full as full
from tallow.functions.creation import full_like as full_like
from tallow.functions.creation import is_tensor as is_tensor
from tallow.functions.creation import linspace as linspace
from tallow.functions.creation import ones as ones
from tallow.functions.creation import ones_like as ones_like
from tallow.functions.creation import tensor as tensor
from tallow.functions.creation import tril as tril
from tallow.functions.creation import triu as triu
from tallow.functions.creation import zeros as zeros
from tallow.functions.creation import zeros_like as zeros_like
from tallow.functions.cumulative import cumulative_prod as cumulative_prod
from tallow.functions.cumulative import cumulative_sum as cumulative_sum
from tallow.functions.data_types import astype as astype
from tallow.functions.data_types import can_cast as can_cast
from tallow.functions.data_types import e as e
from tallow.functions.data_types import finfo as finfo
from tallow.functions.data_types import get_default_dtype as get_default_dtype
from tallow.functions.data_types import iinfo as iinfo
from tallow.functions.data_types import inf as inf
from tallow.functions.data_types import is_floating_point as is_floating_point
from tallow.functions.data_types import isdtype as isdtype
from tallow.functions.data_types import nan as nan
from tallow.functions.data_types import newaxis as newaxis
from tallow.functions.data_types import pi as pi
from tallow.functions.data_types import result_type as result_type
from tallow.functions.decompositions import chain_matmul as chain_matmul
from tallow.functions.decompositions import cholesky as cholesky
from tallow.functions.decompositions import cholesky_inverse as cholesky_inverse
from tallow.functions.decompositions import cholesky_solve as cholesky_solve
from tallow.functions.decompositions import inverse as inverse
from tallow.functions.decompositions import logdet as logdet
from tallow.functions.decompositions import matrix_exp as matrix_exp
from tallow.functions.decompositions import matrix_power as matrix_power
from tallow.functions.decompositions import pinverse as pinverse
from tallow.functions.decompositions import slogdet as slogdet
from tallow.functions.draws import binomial as binomial
from tallow.functions.draws import multinomial as multinomial
from tallow.functions.draws import normal as normal
from tallow.functions.draws import poisson as poisson
from tallow.functions.draws import randint_like as randint_like
from tallow.functions.elementwise import abs as abs
from tallow.functions.elementwise import abs as absolute
from tallow.functions.elementwise import acos as acos
from tallow.functions.elementwise import acosh as acosh
from tallow.functions.elementwise import add as add
from tallow.functions.elementwise import acos as arccos
from tallow.functions.elementwise import acosh as arccosh
from tallow.functions.elementwise import asin as arcsin
from tallow.functions.elementwise import asinh as arcsinh
from tallow.functions.elementwise import atan as arctan
from tallow.functions.elementwise import atanh as arctanh
from tallow.functions.elementwise import asin as asin
from tallow.functions.elementwise import asinh as asinh
from tallow.functions.elementwise import atan as atan
from tallow.functions.elementwise import atanh as atanh
from tallow.functions.elementwise import bitcast as bitcast
from tallow.functions.elementwise import bitwise_and as bitwise_and
from tallow.functions.elementwise import bitwise_invert as bitwise_invert
from tallow.functions.elementwise import bitwise_left_shift as bitwise_left_shift
from tallow.functions.elementwise import bitwise_invert as bitwise_not
from tallow.functions.elementwise import bitwise_or as bitwise_or
from tallow.functions.elementwise import bitwise_right_shift as bitwise_right_shift
from tallow.functions.elementwise import bitwise_xor as bitwise_xor
from tallow.functions.elementwise import ceil as ceil
from tallow.functions.elementwise import clip as clip
from tallow.functions.elementwise import cos as cos
from tallow.functions.elementwise import cosh as cosh
from tallow.functions.elementwise import divide as divide
from tallow.functions.elementwise import equal as eq
from tallow.functions.elementwise import equal as equal
from tallow.functions.elementwise import erf as erf
from tallow.functions.elementwise import exp as exp
from tallow.functions.elementwise import exp2 as exp2
from tallow.functions.elementwise import expm1 as expm1
from tallow.functions.elementwise import trunc as fix
from tallow.functions.elementwise import floor as floor
from tallow.functions.elementwise import floor_divide as floor_divide
from tallow.functions.elementwise import fmod as fmod
from tallow.functions.elementwise import greater_equal as ge
from tallow.functions.elementwise import greater as greater
from tallow.functions.elementwise import greater_equal as greater_equal
from tallow.functions.elementwise import greater as gt
from tallow.functions.elementwise import isinf as isinf
from tallow.functions.elementwise import isnan as isnan
from tallow.functions.elementwise import less_equal as le
from tallow.functions.elementwise import less as less
from tallow.functions.elementwise import less_equal as less_equal
from tallow.functions.elementwise import log as log
from tallow.functions.elementwise import log1p as log1p
from tallow.functions.elementwise import logical_and as logical_and
from tallow.functions.elementwise import logical_not as logical_not
from tallow.functions.elementwise import logical_or as logical_or
from tallow.functions.elementwise import logical_xor as logical_xor
from tallow.functions.elementwise import less as lt
from tallow.functions.elementwise import maximum as maximum
from tallow.functions.elementwise import minimum as minimum
from tallow.functions.elementwise import multiply as mul
from tallow.functions.elementwise import multiply as multiply
from tallow.functions.elementwise import not_equal as ne
from tallow.functions.elementwise import negative as neg
from tallow.functions.elementwise import negative as negative
from tallow.functions.elementwise import not_equal as not_equal
from tallow.functions.elementwise import positive as positive
from tallow.functions.elementwise import pow as pow
from tallow.functions.elementwise import reciprocal as reciprocal
from tallow.functions.elementwise import remainder as remainder
from tallow.functions.elementwise import round as round
from tallow.functions.elementwise import sign as sign
from tallow.functions.elementwise import sin as sin
from tallow.functions.elementwise import sinh as sinh
from tallow.functions.elementwise import sqrt as sqrt
from tallow.functions.elementwise import square as square
from tallow.functions.elementwise import subtract as subtract
from tallow.functions.elementwise import tan as tan
from tallow.functions.elementwise import tanh as tanh
from tallow.functions.elementwise import divide as true_divide
from tallow.functions.elementwise import trunc as trunc
from tallow.functions.elementwise import trunc_divide as trunc_divide
from tallow.functions.elementwise import where as where
from tallow.functions.equations import einsum as einsum
from tallow.functions.gamma import digamma as digamma
from tallow.functions.gamma import gammainc as igamma
from tallow.functions.gamma import gammaincc as igammac
from tallow.functions.gamma import lgamma as lgamma
from tallow.functions.gamma import mvlgamma as mvlgamma
from tallow.functions.gamma import polygamma as polygamma
from tallow.functions.grids import as_tensor as as_tensor
from tallow.functions.grids import cartesian_prod as cartesian_prod
from tallow.functions.grids import combinations as combinations
from tallow.functions.grids import empty_like as empty_like
from tallow.functions.grids import logspace as logspace
from tallow.functions.grids import meshgrid as meshgrid
from tallow.functions.grids import tril_indices as tril_indices
from tallow.functions.grids import triu_indices as triu_indices
from tallow.functions.grids import vander as vander
from tallow.functions.indexing import take as take
from tallow.functions.indexing import take_along_axis as take_along_axis
from tallow.functions.joining import as_strided as as_strided
from tallow.functions.joining import atleast_1d as atleast_1d
from tallow.functions.joining import atleast_2d as atleast_2d
from tallow.functions.joining import atleast_3d as atleast_3d
from tallow.functions.joining import block_diag as block_diag
from tallow.functions.joining import broadcast_tensors as broadcast_tensors
from tallow.functions.joining import column_stack as column_stack
from tallow.functions.joining import diag_embed as diag_embed
from tallow.functions.joining import diagflat as diagflat
from tallow.functions.joining import dsplit as dsplit
from tallow.functions.joining import dstack as dstack
from tallow.functions.joining import fliplr as fliplr
from tallow.functions.joining import flipud as flipud
from tallow.functions.joining import hsplit as hsplit
from tallow.functions.joining import hstack as hstack
from tallow.functions.joining import ravel as ravel
from tallow.functions.joining import rot90 as rot90
from tallow.functions.joining import vstack as row_stack
from tallow.functions.joining import split_with_sizes as split_with_sizes
from tallow.functions.joining import tensor_split as tensor_split
from tallow.functions.joining import unfold as unfold
from tallow.functions.joining import vsplit as vsplit
from tallow.functions.joining import vstack as vstack
from tallow.functions.linear_algebra import det as det
from tallow.functions.linear_algebra import matmul as matmul
from tallow.functions.linear_algebra import matrix_transpose as matrix_transpose
from tallow.functions.linear_algebra import vecdot as vecdot
from tallow.functions.lines import cummax as cummax
from tallow.functions.lines import cummin as cummin
from tallow.functions.lines import cumprod as cumprod
from tallow.functions.lines import cumsum as cumsum
from tallow.functions.lines import cumulative_trapezoid as cumulative_trapezoid
from tallow.functions.lines import diff as diff
from tallow.functions.lines import gradient as gradient
from tallow.functions.lines import logcumsumexp as logcumsumexp
from tallow.functions.lines import trapezoid as trapezoid
from tallow.functions.lines import trapezoid as trapz
from tallow.functions.manipulation import broadcast_arrays as broadcast_arrays
from tallow.functions.manipulation import broadcast_to as broadcast_to
from tallow.functions.manipulation import concat as concat
from tallow.functions.manipulation import expand_dims as expand_dims
from tallow.functions.manipulation import flip as flip
from tallow.functions.manipulation import moveaxis as moveaxis
from tallow.functions.manipulation import pad as pad
from tallow.functions.manipulation import permute_dims as permute_dims
from tallow.functions.manipulation import repeat as repeat
from tallow.functions.manipulation import repeat as repeat_interleave
from tallow.functions.manipulation import reshape as reshape
from tallow.functions.manipulation import split as split
from tallow.functions.manipulation import squeeze as squeeze
from tallow.functions.manipulation import stack as stack
from tallow.functions.manipulation import tile as tile
from tallow.functions.manipulation import unstack as unstack
from tallow.functions.numbers import atan2 as arctan2
from tallow.functions.numbers import atan2 as atan2
from tallow.functions.numbers import copysign as copysign
from tallow.functions.numbers import deg2rad as deg2rad
from tallow.functions.numbers import float_power as float_power
from tallow.functions.numbers import fmax as fmax
from tallow.functions.numbers import fmin as fmin
from tallow.functions.numbers import frac as frac
from tallow.functions.numbers import frexp as frexp
from tallow.functions.numbers import gcd as gcd
from tallow.functions.numbers import heaviside as heaviside
from tallow.functions.numbers import hypot as hypot
from tallow.functions.numbers import is_complex as is_complex
from tallow.functions.numbers import is_nonzero as is_nonzero
from tallow.functions.numbers import isneginf as isneginf
from tallow.functions.numbers import isposinf as isposinf
from tallow.functions.numbers import isreal as isreal
from tallow.functions.numbers import lcm as lcm
from tallow.functions.numbers import ldexp as ldexp
from tallow.functions.numbers import logaddexp as logaddexp
from tallow.functions.numbers import logaddexp2 as logaddexp2
from tallow.functions.numbers import nan_to_num as nan_to_num
from tallow.functions.numbers import nextafter as nextafter
from tallow.functions.numbers import promote_types as promote_types
from tallow.functions.numbers import rad2deg as rad2deg
from tallow.functions.numbers import rsub as rsub
from tallow.functions.numbers import signbit as signbit
from tallow.functions.numbers import sinc as sinc
from tallow.functions.orders import kthvalue as kthvalue
from tallow.functions.orders import median as median
from tallow.functions.orders import mode as mode
from tallow.functions.orders import msort as msort
from tallow.functions.orders import nanmedian as nanmedian
from tallow.functions.orders import nanquantile as nanquantile
from tallow.functions.orders import quantile as quantile
from tallow.functions.orders import topk as topk
from tallow.functions.positions import fill_from as fill_from
from tallow.functions.positions import slice_at as slice_at
from tallow.functions.positions import update_at as update_at
from tallow.functions.products import addbmm as addbmm
from tallow.functions.products import addmm as addmm
from tallow.functions.products import addmv as addmv
from tallow.functions.products import addr as addr
from tallow.functions.products import baddbmm as baddbmm
from tallow.functions.products import bmm as bmm
from tallow.functions.products import cdist as cdist
from tallow.functions.products import cross as cross
from tallow.functions.products import dist as dist
from tallow.functions.products import dot as dot
from tallow.functions.products import outer as ger
from tallow.functions.products import inner as inner
from tallow.functions.products import kron as kron
from tallow.functions.products import mm as mm
from tallow.functions.products import mv as mv
from tallow.functions.products import norm as norm
from tallow.functions.products import outer as outer
from tallow.functions.products import renorm as renorm
from tallow.functions.products import tensordot as tensordot
from tallow.functions.products import trace as trace
from tallow.functions.products import dot as vdot
from tallow.functions.randomness import bernoulli as bernoulli
from tallow.functions.randomness import rand as rand
from tallow.functions.randomness import rand_like as rand_like
from tallow.functions.randomness import randint as randint
from tallow.functions.randomness import randn as randn
from tallow.functions.randomness import randn_like as randn_like
from tallow.functions.randomness import randperm as randperm
from tallow.functions.reduction import all as all
from tallow.functions.reduction import any as any
from tallow.functions.reduction import argmax as argmax
from tallow.functions.reduction import argmin as argmin
from tallow.functions.reduction import max as max
from tallow.functions.reduction import mean as mean
from tallow.functions.reduction import min as min
from tallow.functions.reduction import prod as prod
from tallow.functions.reduction import std as std
from tallow.functions.reduction import sum as sum
from tallow.functions.reduction import var as var
from tallow.functions.scattering import diagonal_scatter as diagonal_scatter
from tallow.functions.scattering import index_copy as index_copy
from tallow.functions.scattering import index_fill as index_fill
from tallow.functions.scattering import index_put as index_put
from tallow.functions.scattering import index_reduce as index_reduce
from tallow.functions.scattering import masked_scatter as masked_scatter
from tallow.functions.scattering import masked_select as masked_select
from tallow.functions.scattering import put as put
from tallow.functions.scattering import scatter_reduce as scatter_reduce
from tallow.functions.scattering import select_scatter as select_scatter
from tallow.functions.scattering import slice_scatter as slice_scatter
from tallow.functions.scattering import take_along_dim as take_along_dim
from tallow.functions.searching import nonzero as argwhere
from tallow.functions.searching import bucketize as bucketize
from tallow.functions.searching import count_nonzero as count_nonzero
from tallow.functions.searching import nonzero as nonzero
from tallow.functions.searching import searchsorted as searchsorted
from tallow.functions.searching import unravel_index as unravel_index
from tallow.functions.selection import gather as gather
from tallow.functions.selection import index_add as index_add
from tallow.functions.selection import index_select as index_select
from tallow.functions.selection import masked_fill as masked_fill
from tallow.functions.selection import narrow as narrow
from tallow.functions.selection import scatter_add as scatter_add
from tallow.functions.selection import select as select
from tallow.functions.sets import isin as isin
from tallow.functions.sets import unique as unique
from tallow.functions.sets import unique_consecutive as unique_consecutive
from tallow.functions.shapes import cat as cat
from tallow.functions.shapes import cat as concatenate
from tallow.functions.shapes import diag as diag
from tallow.functions.shapes import diagonal as diagonal
from tallow.functions.shapes import roll as roll
from tallow.functions.special import erfc as erfc
from tallow.functions.special import erfinv as erfinv
from tallow.functions.special import logit as logit
from tallow.functions.special import xlogy as xlogy
from tallow.functions.statistics import amax as amax
from tallow.functions.statistics import amin as amin
from tallow.functions.statistics import aminmax as aminmax
from tallow.functions.statistics import bincount as bincount
from tallow.functions.statistics import corrcoef as corrcoef
from tallow.functions.statistics import cov as cov
from tallow.functions.statistics import histc as histc
from tallow.functions.statistics import histogram as histogram
from tallow.functions.statistics import logsumexp as logsumexp
from tallow.functions.statistics import nanmean as nanmean
from tallow.functions.statistics import nansum as nansum
from tallow.functions.statistics import std_mean as std_mean
from tallow.functions.statistics import var_mean as var_mean
from tallow.functions.windows import bartlett_window as bartlett_window
from tallow.functions.windows import blackman_window as blackman_window
from tallow.functions.windows import hamming_window as hamming_window
from tallow.functions.windows import hann_window as hann_window
from tallow.functions.windows import kaiser_window as kaiser_window
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
from tallow.version import __version__ as __version__
