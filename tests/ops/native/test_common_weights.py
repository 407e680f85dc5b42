"""Programs on the machine's GPU that have weights in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.compile import Compiled, compile_graph
from tallow.core.drivers import run_sync
from tallow.core.dtype import as_dtype
from tallow.core.hostarray import HostArray
from tallow.devices.webgpu.common_weights import CommonWeights
from tallow.devices.webgpu.native.device import open_device
from tallow.devices.webgpu.native.program import NativeProgram
from tallow.graph import Graph, input_node
from tallow.runtime.device import backend
from tallow.tensor import Tensor

DEPTH, COLUMNS = 512, 640


def fixed(values: np.ndarray) -> tl.Tensor:
    """A tensor of numbers that nobody can change."""
    data = memoryview(values.tobytes())
    return tl.asarray(HostArray(data, values.shape, as_dtype(values.dtype)))


def compiled(weight: tl.Tensor, plus: float) -> Compiled:
    """A product by a float16 weight, which the plan makes float32 of at its start."""
    x = input_node("x", (1, 20, DEPTH), tl.float32)
    y = tl.matmul(Tensor(x), weight.astype(tl.float32)) + plus
    return compile_graph(Graph((x,), {"y": y.node}, "common"), "webgpu", backend("webgpu").limits)


def loaded(weight: tl.Tensor, plus: float) -> NativeProgram:
    program = backend("webgpu").load_now(compiled(weight, plus))
    assert isinstance(program, NativeProgram)
    return program


def weights(program: NativeProgram) -> list[Any]:
    """The buffers of what runs read that is made from weights."""
    slots = zip(program._plan.slots, program._slots, strict=True)
    return [buffer for slot, buffer in slots if buffer and slot.kind in ("weight", "prepared")]


def test_a_weight_has_one_buffer_as_long_as_a_program_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(3).standard_normal((1, DEPTH, COLUMNS)).astype(np.float16)
    weight = fixed(values)
    x = np.random.default_rng(4).standard_normal((1, 20, DEPTH)).astype(np.float32)
    expected = x @ values.astype(np.float32)

    def check(program: NativeProgram, plus: float) -> None:
        (found,) = run_sync(program.run([x]))
        np.testing.assert_allclose(found.numpy(), expected + plus, rtol=1e-4, atol=1e-3)

    destroyed: list[Any] = []
    kind = type(open_device().storage(16, "a buffer"))
    monkeypatch.setattr(kind, "destroy", lambda buffer: destroyed.append(buffer))
    first, second = loaded(weight, 1.0), loaded(weight, 2.0)
    (common,) = weights(first)
    assert weights(second) == [common]
    check(first, 1.0)
    check(second, 2.0)
    first.close()
    check(second, 2.0)
    third = loaded(weight, 3.0)
    assert weights(third) == [common]
    second.close()
    check(third, 3.0)
    assert common not in destroyed
    third.close()
    assert common in destroyed
    check(loaded(weight, 4.0), 4.0)


def test_other_weights_and_small_ones_have_their_own() -> None:
    draws = np.random.default_rng(5)
    one, two = (fixed(draws.random((1, DEPTH, COLUMNS), np.float32)) for _ in range(2))
    assert not set(weights(loaded(one, 0.0))) & set(weights(loaded(two, 0.0)))
    small = fixed(draws.random((1, DEPTH, 8), np.float32))
    assert not set(weights(loaded(small, 0.0))) & set(weights(loaded(small, 1.0)))


def test_what_settings_make_less_exact_is_not_shared() -> None:
    """A plan's sine of a weight, by WGSL's own function or by one with all digits."""
    weight = fixed(np.random.default_rng(6).standard_normal((1, DEPTH, COLUMNS)).astype(np.float32))
    x = input_node("x", (1, 20, DEPTH), tl.float32)
    graph = Graph((x,), {"y": tl.matmul(Tensor(x), tl.sin(weight)).node}, "sine")
    limits = backend("webgpu").limits

    def prepared(builtins: bool) -> int:
        traits = replace(limits.traits, builtins=builtins)
        made = compile_graph(graph, "webgpu", replace(limits, traits=traits))
        found = common.of(made)
        kept.append(found)
        (slot,) = (n for n in found if made.plan.slots[n].kind == "prepared")
        return found[slot].number

    common, kept = CommonWeights(), list[object]()
    exact = prepared(False)
    assert prepared(False) == exact != prepared(True)
