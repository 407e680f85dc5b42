"""torch._C, of which programs call next to nothing."""

from __future__ import annotations

from typing import Any

from .rooms import missing


def _log_api_usage_once(*args: object) -> None:
    """Changes nothing."""


def _get_privateuse1_backend_name() -> str:
    """The name of a kind of device that nobody has added."""
    return "privateuseone"


def _get_tracing_state() -> None:
    """None: nothing is traced."""


def _disabled_torch_function_impl(
    func: Any, types: object, args: Any = (), kwargs: Any = None
) -> Any:
    """What a function gives: classes of tensors are not asked, here as everywhere."""
    return func(*args, **(kwargs or {}))


def __getattr__(name: str) -> Any:
    raise missing("torch._C", name)
