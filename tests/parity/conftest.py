"""What tests of training share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tallow as tl


@pytest.fixture
def usual_device() -> Iterator[None]:
    """NumPy is the default device of a test that sets none; afterwards the usual one is."""
    tl.set_default_device("numpy")
    yield
    tl.set_default_device(None)
