"""torch.overrides: tensors of other classes are not asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..tensor import Tensor

T = TypeVar("T")


def has_torch_function(relevant_args: object) -> bool:
    """False."""
    return False


has_torch_function_unary = has_torch_function


def has_torch_function_variadic(*args: object) -> bool:
    """False."""
    return False


def handle_torch_function(
    public_api: Callable[..., T], relevant_args: object, *args: object, **options: object
) -> T:
    """What the function gives."""
    return public_api(*args, **options)


def is_tensor_like(inp: object) -> bool:
    """Whether this is a tensor."""
    return isinstance(inp, Tensor)
