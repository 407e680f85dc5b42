"""PyTorch's front door: its names, signatures and meanings, over Tallow's definitions.

    import tallow.torch as torch
    import tallow.torch.nn as nn

or, for a program that is not changed, `python -m tallow run script.py --as-torch`, or

    import tallow.torch
    tallow.torch.install()      # `import torch` finds this package from now on

The package converts arguments and calls; it computes nothing itself. Importing it sets the
process's switch `context.pytorch`: integers are int64 unless said otherwise, sums of integers too,
and shapes, types and tensors are printed as PyTorch prints them, for `tallow` as well.

A name is looked up in tensors.py, settings.py and files.py, and then in the library's names.py,
which says which methods of tensors and which functions mean what PyTorch's do.

A file has the name of its room, such as linalg.py. Others have names that are no room's:

    calls       PyTorch's names of arguments          rooms       install(); rooms of names only
    names       data: what there is, and where        tensors     what makes tensors
    settings    seeds, default types, switches        files       save and load
    functions   what differs from Tallow's function
    switches    torch.backends' settings              bindings    torch._C
    pytree      torch.utils._pytree                   model_zoo, tensorboard: torch.utils' rooms
    foreach     torch._foreach_add and the like
    data_names, linalg_names, optimizer_names, autograd_functional: what Tallow's rooms lack
"""

from typing import Any

from ..autodiff.everything import checkpoint as checkpoint
from ..binding import Row, imported, rows
from ..core import context
from ..core import dtype as _dtype
from ..core.dtype import BY_NAME, DType
from ..core.shape import Size as Size
from ..devices.wasm.device import get_num_threads as get_num_threads
from ..devices.wasm.device import set_num_threads as set_num_threads
from ..functions.data_types import finfo as finfo
from ..functions.data_types import iinfo as iinfo
from ..grad_mode import enable_grad as enable_grad
from ..grad_mode import inference_mode as inference_mode
from ..grad_mode import is_grad_enabled as is_grad_enabled
from ..grad_mode import no_grad as no_grad
from ..grad_mode import set_grad_enabled as set_grad_enabled
from ..random import Generator as Generator
from ..runtime.device import get_float32_matmul_precision as get_float32_matmul_precision
from ..runtime.device import set_float32_matmul_precision as set_float32_matmul_precision
from ..tensor import Tensor as Tensor
from ..tensor.printing import set_printoptions as set_printoptions
from . import foreach, rooms, tensors
from .calls import spelled
from .files import *  # noqa: F403
from .functions import *  # noqa: F403
from .functions import _assert as _assert
from .names import TYPES, words
from .rooms import install as install
from .rooms import uninstall as uninstall
from .settings import *  # noqa: F403
from .tensors import *  # noqa: F403

context.pytorch.set(True)
rooms.prepare()

dtype = DType
inf, nan, pi, e = float("inf"), float("nan"), 3.141592653589793, 2.718281828459045
newaxis = None

strided, sparse_coo = "torch.strided", "torch.sparse_coo"
sparse_csr, sparse_csc = "torch.sparse_csr", "torch.sparse_csc"
sparse_bsr, sparse_bsc = "torch.sparse_bsr", "torch.sparse_bsc"
contiguous_format, preserve_format = "torch.contiguous_format", "torch.preserve_format"
channels_last, channels_last_3d = "torch.channels_last", "torch.channels_last_3d"
layout = memory_format = str
TensorType = Tensor
legacy_contiguous_format = contiguous_format

_ROOMS = words(
    """
    __config__ _C _dynamo _inductor _tensor _tensor_str _utils accelerator amp autograd backends
    compiler cpu cuda distributed distributions func futures fx hub jit linalg mps
    multiprocessing nn onnx ops optim overrides profiler random return_types serialization
    sparse special testing types utils version xpu
    """
)

_LONG = {"double": "float64", "float": "float32", "half": "float16", "int": "int32",
         "long": "int64", "short": "int16"}  # fmt: skip

globals().update({name: BY_NAME[name] for name in TYPES})
globals().update({name: BY_NAME[own] for name, own in _LONG.items()})
globals().update(tensors.tensor_types())
float8_e4m3fn, float8_e5m2 = _dtype.float8_e4m3fn, _dtype.float8_e5m2

__version__ = "2.13.0+tallow"
"""The PyTorch whose names these are, for programs that ask."""

_ALIASES = {
    "GradScaler": ("tallow.amp", "GradScaler"), "autocast": ("tallow.torch.amp", "autocast"),
    "device": ("tallow.core.device_name", "DeviceName"), "vmap": ("tallow.func", "vmap"),
    "is_autocast_enabled": ("tallow.torch.amp", "is_autocast_enabled"),
    **{name: ("tallow.torch.linalg_names", name) for name in ("qr", "svd")},
    "from_dlpack": ("tallow.torch.dlpack", "from_dlpack"),
    "to_dlpack": ("tallow.torch.dlpack", "to_dlpack"),
    "sparse_coo_tensor": ("tallow.torch.sparse", "sparse_coo_tensor"),
    "spmm": ("tallow.torch.sparse", "mm"),
}  # fmt: skip
"""Names that are imported, from these modules, when one is first asked for."""


FUNCTIONS: dict[str, Row] = {
    **rows("torch"), **rows("number-first"), **{f"{n}_": row for n, row in rows("torch_").items()},
}  # fmt: skip
"""The functions that names.py lists for `torch`."""


def _found(name: str) -> Any:
    """The function behind a name of names.py: a method of tensors, or a definition."""
    row = FUNCTIONS[name]
    if "method" in row.forms and "number-first" not in row.forms:
        return spelled(f"torch.{name}", getattr(Tensor, name), method=True)
    return spelled(f"torch.{name}", row.find())


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return imported(f"{__name__}.{name}")
    if name in _ALIASES:
        module, own = _ALIASES[name]
        return getattr(imported(module), own)
    if name.startswith("_foreach_") and name[9:] in foreach.NAMES:
        return foreach.foreach(name[9:])
    if name in FUNCTIONS:
        found = globals()[name] = _found(name)
        return found
    raise rooms.missing("torch", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_ALIASES, *FUNCTIONS})
