"""The door is opened within PyTorch's habits, so that other tests keep Tallow's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tallow.core import context


@pytest.fixture
def torch() -> Iterator[Any]:
    with context.pytorch.override(True), context.floating.override(None):
        import tallow.torch

        yield tallow.torch
