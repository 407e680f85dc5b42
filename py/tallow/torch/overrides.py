"""torch.overrides: tensors of other classes are not asked."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor


def has_torch_function(relevant_args: Any) -> bool:
    """False."""
    return False


has_torch_function_unary = has_torch_function


def has_torch_function_variadic(*args: Any) -> bool:
    """False."""
    return False


def handle_torch_function(public_api: Any, relevant_args: Any, *args: Any, **options: Any) -> Any:
    """What the function gives."""
    return public_api(*args, **options)


def is_tensor_like(inp: Any) -> bool:
    """Whether this is a tensor."""
    return isinstance(inp, Tensor)
