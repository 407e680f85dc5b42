"""Threads share the kernels of WebAssembly, and compute the same to the bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from op_cases import CASES
from run_case import difference, feeds_of, graph_of

import tallow as tl
from tallow.compile import Plan
from tallow.devices.wasm import blas
from tallow.devices.wasm import target as wasm
from tallow.devices.wasm.codegen.assembler import Function, encode
from tallow.devices.wasm.desktop import WasmtimeEngine
from tallow.devices.wasm.threads import cuts
from tallow.runtime.session import compile_session


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Restores the number of threads."""
    before = tl.get_num_threads()
    yield
    tl.set_num_threads(before)


def shared_steps(plan: Plan) -> list[str]:
    return [step.name for step in plan.run if "units" in step.kernel]


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasm, "_WORTH_SHARING", 0)  # even the smallest kernels
    found = []
    for count in (1, 2, 3):
        tl.set_num_threads(count)
        with compile_session(graph_of(name), "wasm") as session:
            kernels = [step for step in session.plan.run if step.kernel]
            assert len(shared_steps(session.plan)) == len(kernels)
            found.append(session.run(feeds_of(name))["output"])
    wrong = difference(CASES[name], found[0])
    assert wrong is None, wrong
    assert len({each.tobytes() for each in found}) == 1


def test_large_kernels_are_shared_and_small_ones_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blas, "_WORTH", math.inf)
    small, large = (np.ones((size, size), np.float32) for size in (16, 256))
    for array, count in ((small, 0), (large, 1)):
        node = tl.graph.input_node("x", array.shape, tl.float32)
        product = tl.Tensor(node) @ tl.asarray(array)
        graph = tl.graph.Graph((node,), {"y": product.node}, "product")
        with compile_session(graph, "wasm") as session:
            assert len(shared_steps(session.plan)) == count
            np.testing.assert_array_equal(session.run({"x": array})["y"], array @ array)


@pytest.mark.parametrize("count", [1, 2, 3, 64])
@pytest.mark.parametrize("units", [1, 2, 3, 9, 10, 64, 523, 100_000])
def test_parts_are_all_units(units: int, count: int) -> None:
    found = cuts(units, count)
    assert found[0] == 0
    assert found[-1] == units
    assert all(first < end for first, end in pairwise(found))


@pytest.mark.parametrize("count", [0, -1, 65, 1.0, True, "2", None])
def test_what_is_no_number_of_threads(count: Any) -> None:
    with pytest.raises(tl.OptionError, match="choose a whole number from 1 to 64"):
        tl.set_num_threads(count)


def test_another_number_holds_for_what_is_loaded_from_then_on() -> None:
    engine = WasmtimeEngine()
    module = encode([_stored()])
    engine.use_threads(3)
    before = engine.instance(module, 1, True)
    engine.use_threads(2)
    after = engine.instance(module, 1, True)
    assert (before.threads, after.threads, engine.threads) == (3, 2, 2)
    assert engine.instance(module, 1, False).threads == 1
    for each in (before, after):
        for _ in range(20):
            each.bound({"function": "store", "units": 1000}, [64], 0)()
            words = np.frombuffer(each.read(64, 4000), np.int32)
            np.testing.assert_array_equal(words, np.arange(1000))
            each.write(64, bytes(4000))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_stops_a_thread_stops_the_run(count: int) -> None:
    engine = WasmtimeEngine()
    engine.use_threads(count)
    instance = engine.instance(encode([_stored()]), 1, True)
    beyond = instance.bound({"function": "store", "units": 20_000}, [64], 0)
    for _ in range(20):
        with pytest.raises(engine.fault, match="out of bounds"):
            beyond()
    instance.bound({"function": "store", "units": 1000}, [64], 0)()
    words = np.frombuffer(instance.read(64, 4000), np.int32)
    np.testing.assert_array_equal(words, np.arange(1000))


def _stored() -> Function:
    """A function that stores the number of each of its units as an int32, from an address on."""
    function = Function(["i32"] * 3, exported="store")
    function.emit("loop")
    for name, *immediates in (
        ("local.get", 0), ("local.get", 1), ("i32.const", 2), ("i32.shl",), ("i32.add",),
        ("local.get", 1), ("i32.store", 0),
        ("local.get", 1), ("i32.const", 1), ("i32.add",), ("local.tee", 1),
        ("local.get", 2), ("i32.lt_u",), ("br_if", 0),
    ):  # fmt: skip
        function.emit(name, *immediates)
    function.emit("end")
    return function
