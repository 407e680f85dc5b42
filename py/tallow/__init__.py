"""Tallow: tensors in Python that run as generated shaders on WebGPU, or on NumPy.

    import tallow as tl
    x = tl.asarray([[1.0, 2.0], [3.0, 4.0]])
    y = tl.functional.softmax(x @ x, axis=-1)
    print(y.numpy())

Function names follow the Python array API standard, layers PyTorch. names.py lists what is public;
it is imported when it is first asked for. Importing imports no NumPy.
"""

from . import autodiff as autodiff  # which answers what the runtime asks about derivatives
from . import devices as devices  # now: imported later, it would hide the function below
from . import names
from .binding import bind, getter, rows
from .functions.creation import tensor as tensor  # not the package of that name
from .runtime import evaluator as evaluator  # which computes tensors
from .runtime.device import devices as devices  # noqa: F811 - not the package of that name
from .tensor import Methods, use_differentiator
from .version import __version__ as __version__

bind(Methods)
use_differentiator(rows("internal")["REVERSE"].find)

__getattr__ = getter(globals(), "tallow", "unlisted", packages=names.PACKAGES)


def __dir__() -> list[str]:
    """What there is, imported or not."""
    return sorted({*globals(), *__getattr__("__all__")})
