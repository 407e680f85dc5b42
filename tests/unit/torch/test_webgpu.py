"""Types that WebGPU lacks: computed where they can be, and said."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tallow as tl
from tallow.runtime.hosted import NarrowFloatWarning, NoKernelWarning

from ..conftest import used


@pytest.fixture
def webgpu(request: pytest.FixtureRequest) -> Any:
    yield from used("webgpu", request)


@pytest.mark.usefixtures("webgpu")
def test_integers_that_32_bits_may_not_hold(torch: Any) -> None:
    line = torch.arange(5)
    assert (line * 2 + 1).tolist() == [1, 3, 5, 7, 9]  # provably: no warning, or the test fails
    x = torch.randint(0, 10, (3,)).realize()
    with pytest.warns(NoKernelWarning, match="runs on NumPy: multiply of int64"):
        assert ((x * 3).numpy() == x.numpy() * 3).all()
    with pytest.warns(NoKernelWarning, match="cast of int64"):
        assert (torch.tensor([2.7, 3.1]).long() * 2).tolist() == [4, 6]
    with warnings.catch_warnings(), pytest.raises(tl.TallowError, match="GPU"):
        warnings.simplefilter("ignore", NoKernelWarning)
        (torch.tensor([2**40]) + 1).numpy()


@pytest.mark.usefixtures("webgpu")
def test_float64_is_computed_in_float32_and_said(torch: Any) -> None:
    with pytest.warns(NarrowFloatWarning, match="'webgpu' computes float64 in float32"):
        third = torch.ones(1, dtype=torch.float64) / 3
        assert third.item() == pytest.approx(1 / 3, rel=1e-6)
