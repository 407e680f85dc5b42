"""The precision of products: its names, and how it reaches the choice of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.codegen.wgsl.choice import Traits
from tallow.compile import Limits, compile_graph
from tallow.graph import Graph, input_node
from tallow.runtime.tuning import limits_of

GPU = Limits(traits=Traits(subgroups=True, float16=True))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Restores the default setting after each test."""
    yield
    tl.set_float32_matmul_precision("highest")


def product() -> Graph:
    a, b = (input_node(name, (512, 512), tl.float32) for name in "ab")
    return Graph((a, b), {"y": (tl.Tensor(a) @ tl.Tensor(b)).node}, "product")


def backend_with(limits: Limits) -> Any:
    """The parts of a device that compiling uses."""
    info = SimpleNamespace(adapter="a test's")
    return SimpleNamespace(limits=limits, info=info, tuning_record=lambda: None)


def kernels(limits: Limits) -> str:
    """The kernels' source for a product on such a device."""
    plan = compile_graph(product(), "webgpu", limits_of(backend_with(limits))).plan
    return "\n".join(plan.modules)


def test_float32_unless_told_otherwise() -> None:
    assert tl.get_float32_matmul_precision() == "highest"
    assert "enable f16" not in kernels(GPU)


@pytest.mark.parametrize(("precision", "half"), [("highest", 0), ("high", 0), ("medium", 1)])
def test_medium_alone_rounds_factors(precision: str, half: bool) -> None:
    tl.set_float32_matmul_precision(precision)
    assert tl.get_float32_matmul_precision() == precision
    assert ("enable f16" in kernels(GPU)) == half


def test_without_shader_f16_it_is_float32() -> None:
    tl.set_float32_matmul_precision("medium")
    assert "enable f16" not in kernels(replace(GPU, traits=Traits(subgroups=True)))


def test_numpy_is_as_precise_as_ever() -> None:
    feeds = {name: np.full((512, 512), 1 + 2**-20, np.float32) for name in "ab"}
    with tl.compile_session(product(), "numpy") as session:
        wanted = session.run(feeds)["y"]
    tl.set_float32_matmul_precision("medium")
    with tl.compile_session(product(), "numpy") as session:
        np.testing.assert_array_equal(session.run(feeds)["y"], wanted)


@pytest.mark.parametrize("wrong", ["low", "", "HIGHEST", None])
def test_an_unknown_precision_is_an_error_that_names_the_known_ones(wrong: Any) -> None:
    with pytest.raises(tl.OptionError, match="'highest', 'high', 'medium'") as raised:
        tl.set_float32_matmul_precision(wrong)
    assert isinstance(raised.value, ValueError)
    assert repr(wrong) in str(raised.value)
    assert tl.get_float32_matmul_precision() == "highest"
