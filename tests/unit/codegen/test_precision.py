"""The precisions of products and of functions: their names, and how they reach the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.compile import Limits, compile_graph
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.devices.webgpu.tuning import limits_of
from tallow.graph import Graph, input_node
from tallow.runtime import eager

GPU = Limits(traits=Traits(subgroups=True, float16=True))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Restores the default setting after each test."""
    yield
    tl.set_float32_matmul_precision("highest")
    tl.set_float32_function_precision("highest")


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


FUNCTIONS = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "atanh", "exp")


def function_kernel(name: str, size: int = 8) -> str:
    """The kernel's source for a function on such a device."""
    x = input_node("x", (size,), tl.float32)
    graph = Graph((x,), {"y": getattr(tl, name)(tl.Tensor(x)).node}, name)
    return "\n".join(compile_graph(graph, "webgpu", limits_of(backend_with(GPU))).plan.modules)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_medium_has_wgsls_own_functions(name: str) -> None:
    own = function_kernel(name)
    assert f"fn {name}_" in own
    tl.set_float32_function_precision("medium")
    plain = function_kernel(name)
    assert f"fn {name}" not in plain and f"{name}(v1)" in plain
    tl.set_float32_function_precision("highest")
    assert function_kernel(name) == own


@pytest.mark.parametrize("name", ["log", "tanh"])
def test_functions_that_are_wrong_for_some_operands_stay_ours(name: str) -> None:
    tl.set_float32_function_precision("medium")
    assert f"fn {name}_" in function_kernel(name)


def test_the_precision_of_functions_is_a_part_of_the_key() -> None:
    tl.set_default_device("numpy")
    jitted = tl.jit(tl.sin)
    x = tl.asarray([0.5, 1.0])
    for precision, plans in (("highest", 1), ("medium", 2), ("highest", 2), ("medium", 2)):
        tl.set_float32_function_precision(precision)
        np.testing.assert_allclose(jitted(x).numpy(), np.sin([0.5, 1.0]), rtol=1e-6)
        assert jitted.plans == plans
    tl.set_default_device(None)


def test_eager_plans_differ_by_the_precision_of_functions(monkeypatch) -> None:
    tl.set_default_device("wasm")
    compiled: list[Any] = []
    plain = eager.compile_for

    def counted(*given: Any) -> Any:
        compiled.append(plain(*given))
        return compiled[-1]

    monkeypatch.setattr(eager, "compile_for", counted)
    x = tl.asarray(np.linspace(0, 1, 37, dtype=np.float32))
    for precision, count in (("highest", 1), ("medium", 2), ("highest", 2), ("medium", 2)):
        tl.set_float32_function_precision(precision)
        (tl.sin(tl.cos(x)) * 3.5).realize()
        assert len(compiled) == count
    tl.set_default_device(None)


@pytest.mark.parametrize("wrong", ["high", "", None])
def test_an_unknown_precision_of_functions(wrong: Any) -> None:
    with pytest.raises(tl.OptionError, match="'highest', 'medium'"):
        tl.set_float32_function_precision(wrong)
    assert tl.get_float32_function_precision() == "highest"
