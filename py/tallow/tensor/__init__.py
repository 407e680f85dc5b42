"""The lazy tensor: a node of a graph, its base if it is a view, and its gradient."""

from .methods import Methods as Methods
from .tensor import Derivation as Derivation
from .tensor import Evaluator as Evaluator
from .tensor import Operand as Operand
from .tensor import Scalar as Scalar
from .tensor import Tensor as Tensor
from .tensor import asarray as asarray
from .tensor import check_floating as check_floating
from .tensor import check_gradient as check_gradient
from .tensor import derived as derived
from .tensor import host_values as host_values
from .tensor import is_basic as is_basic
from .tensor import reading as reading
from .tensor import realize_now as realize_now
from .tensor import use_differentiator as use_differentiator
from .tensor import use_evaluator as use_evaluator
