"""torch._C, of which programs call next to nothing."""

from __future__ import annotations

from typing import Any

from .rooms import missing


def _log_api_usage_once(*args: object) -> None:
    """Changes nothing."""


def __getattr__(name: str) -> Any:
    raise missing("torch._C", name)
