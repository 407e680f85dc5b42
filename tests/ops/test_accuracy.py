"""docs/accuracy.md has every function that is measured, and the measure finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl

from . import accuracy


def test_the_page_has_every_function() -> None:
    text = accuracy.PAGE.read_text("utf-8")
    rows = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert rows == sorted(filter(accuracy.found, accuracy.FUNCTIONS))


def test_an_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.5, 1.0, 2.0], np.float32)
    assert accuracy.measure("sqrt", "numpy", x)[0] <= 0.5
    monkeypatch.setattr(accuracy, "found", lambda name: lambda x: tl.sqrt(x) * (1 + 2.0**-20))
    assert accuracy.measure("sqrt", "numpy", x)[0] > 3
