"""A case of a hand-written kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """`build` on tensors must equal `expected` on arrays."""

    label: str
    inputs: tuple[np.ndarray, ...]
    build: Callable[..., Any]
    expected: Callable[..., Any]
