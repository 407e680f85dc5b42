"""Products whose sums end at a length that the device reads, and what they cost."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import wasmtime

import tallow as tl
from tallow.compile import Limits, compile_graph
from tallow.compile.plan import Plan
from tallow.devices.wasm.threads import arguments
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.devices.webgpu.codegen.kernels import PRODUCTS
from tallow.errors import DTypeError, ShapeError
from tallow.graph import Graph, input_node, make
from tallow.ops import contract, numpy_kernels

DEPTH = 4096
_LEAST = Limits()


def _inputs(*shape: int, dtype: Any = tl.float32) -> tuple[tl.Tensor, tl.Tensor, tl.Tensor]:
    batch, rows, depth, columns = shape
    a, b = (batch, rows, depth), (batch, depth, columns)
    given = input_node("a", a, dtype), input_node("b", b, dtype), input_node("n", (), tl.int32)
    a_, b_, n = map(tl.Tensor, given)
    return a_, b_, n


def _plan(device: str, given: tuple[tl.Tensor, ...], y: tl.Tensor, limits: Limits) -> Plan:
    graph = Graph(tuple(x.node for x in given), {"y": y.node})
    return compile_graph(graph, device, limits).plan


def _ended(device: str, *shape: int, limits: Limits = _LEAST) -> Plan:
    a, b, n = _inputs(*shape)
    y = tl.fill_from(a, n, 0, axis=2) @ tl.fill_from(b, n, 0, axis=1)
    return _plan(device, (a, b, n), y, limits)


# ---- which products end ----------------------------------------------------------------------

ENDING: dict[str, Callable[[Any, Any, Any], tl.Tensor]] = {
    "both": lambda a, b, n: tl.fill_from(a, n, 0, 2) @ tl.fill_from(b, n, 0, 1),
    "views": lambda a, b, n: tl.fill_from(a.mT, n, 0, 1).mT @ tl.fill_from(b[0].mT, n, 0, 1).mT,
    "spread": lambda a, b, n: tl.fill_from(a, n, 0, 2) @ tl.fill_from(b[:1], n, 0, 1),
}
OTHERS: dict[str, Callable[[Any, Any, Any], tl.Tensor]] = {
    "one": lambda a, b, n: tl.fill_from(a, n, 0, 2) @ b,
    "another position": lambda a, b, n: tl.fill_from(a, n, 0, 2) @ tl.fill_from(b, n + 1, 0, 1),
    "another value": lambda a, b, n: tl.fill_from(a, n, 0, 2) @ tl.fill_from(b, n, 1, 1),
    "another axis": lambda a, b, n: tl.fill_from(a, n, 0, 1) @ tl.fill_from(b, n, 0, 1),
    "no axis": lambda a, b, n: (
        tl.fill_from(a.reshape((2, 5, 4, 6)), n, 0, 3).reshape((2, 5, 24))
        @ tl.fill_from(b, n, 0, 1)
    ),
}


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
@pytest.mark.parametrize("name", [*ENDING, *OTHERS])
def test_products_of_what_is_filled_along_the_sum_end(device: str, name: str) -> None:
    a, b, n = _inputs(2, 5, 24, 8)
    plan = _plan(device, (a, b, n), (ENDING | OTHERS)[name](a, b, n), Limits())
    ops = [host.op for step in plan.run for host in step.host]
    assert ("matmul_to" in ops, "fill_from" in ops) == (name in ENDING, name in OTHERS)


def test_other_types_are_filled() -> None:
    a, b, n = _inputs(2, 5, 24, 8, dtype=tl.int32)
    y = tl.fill_from(a, n, 0, 2) @ tl.fill_from(b, n, 0, 1)
    plan = _plan("wasm", (a, b, n), y, Limits())
    assert not any("matmul_to" in step.name for step in plan.run)


# ---- what they cost --------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [3, 40])
def test_numpy_multiplies_as_much_as_the_length_says(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, ...]] = []
    plain = numpy_kernels.matmul

    def spied(np: Any, a: Any, b: Any) -> Any:
        seen.append((*a.shape, *b.shape))
        return plain(np, a, b)

    monkeypatch.setattr(numpy_kernels, "matmul", spied)

    @tl.jit(device="numpy")
    def product(a: tl.Tensor, b: tl.Tensor, n: tl.Tensor) -> tl.Tensor:
        return tl.fill_from(a, n, 0, 2) @ tl.fill_from(b, n, 0, 1)

    a, b = np.ones((1, rows, DEPTH), np.float32), np.ones((1, DEPTH, 8), np.float32)
    a[:, :, 64:], b[:, 64:] = np.nan, np.inf
    assert (product(a, b, np.int32(64)).numpy() == 64).all()
    assert seen == [(1, rows, 64, 1, 64, 8)]


class _Machine:
    """A plan of WebAssembly, in an engine that counts instructions."""

    def __init__(self, plan: Plan) -> None:
        config = wasmtime.Config()
        config.consume_fuel = True
        engine = wasmtime.Engine(config)
        self.plan, self._store = plan, wasmtime.Store(engine)
        ends = np.cumsum([0, *(-(-slot.bytes // 16) * 16 for slot in plan.slots)]).tolist()
        self.starts, self._scratch = ends[:-1], ends[-1]
        pages = (ends[-1] >> 16) + 64
        kind = wasmtime.MemoryType(wasmtime.Limits(pages, pages))
        self._memory = wasmtime.Memory(self._store, kind)
        module = wasmtime.Module(engine, b64decode(plan.modules[0]))
        made = wasmtime.Instance(self._store, module, [self._memory])
        self._exports: dict[str, Any] = dict(made.exports(self._store).items())

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, int]:
        """The result, and how many instructions it took."""
        for port, array in zip(self.plan.inputs, arrays, strict=True):
            self._memory.write(self._store, array.tobytes(), self.starts[port.slot])
        self._store.set_fuel(1 << 50)
        for step in self.plan.run:
            places = [self.starts[slot] for slot in step.bindings]
            own = arguments(step.kernel, places, self._scratch)
            units = [0, step.kernel["units"]] if "units" in step.kernel else []
            self._exports[step.kernel["function"]](self._store, *own, *units)
        spent = (1 << 50) - self._store.get_fuel()
        (port,) = self.plan.outputs
        start = self.starts[port.slot]
        found = self._memory.read(self._store, start, start + port.bytes)
        return np.frombuffer(found, np.float32), spent


@pytest.mark.parametrize(("rows", "steps"), [(3, 1), (40, 2)])
def test_webassembly_takes_as_many_instructions_as_the_length_says(rows: int, steps: int) -> None:
    """Of few rows, and of many, whose right operand is packed first."""
    plan = _ended("wasm", 2, rows, DEPTH, 24)
    assert len(plan.run) == steps
    machine = _Machine(plan)
    a, b = np.ones((2, rows, DEPTH), np.float32), np.ones((2, DEPTH, 24), np.float32)
    result, whole = machine.run(a, b, np.array(DEPTH, np.int32))
    assert (result == DEPTH).all()
    a[:, :, 64:], b[:, 64:] = np.nan, np.inf
    result, part = machine.run(a, b, np.array(64, np.int32))
    assert (result == 64).all() and part < whole / 25
    result, none = machine.run(a, b, np.array(0, np.int32))
    assert (result == 0).all() and none < part / 2


@pytest.mark.parametrize("name", PRODUCTS)
def test_loops_of_webgpu_end_at_the_length(name: str) -> None:
    """All of a kernel's loops over the sum have the number of steps as their end."""
    limits = Limits(traits=Traits(subgroups=True, float16=True, half=True, choices=_Choice(name)))
    (text,) = _ended("webgpu", 1, 3, DEPTH, 24, limits=limits).modules
    assert f"// {name} " in text
    assert "let steps = (end_of_sums() + 3u) / 4u;" in text
    assert "< steps;" in text and "K + 3u" not in text


class _Choice(dict[str, str]):
    """One schedule, whatever is asked for."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def get(self, key: str, default: Any = None) -> str:
        return self.name


# ---- bad input -------------------------------------------------------------------------------


def test_bad_lengths() -> None:
    a, b = input_node("a", (1, 2, 3), tl.float32), input_node("b", (1, 3, 4), tl.float32)
    with pytest.raises(DTypeError, match="must be an integer, not float32"):
        make(contract.matmul_to, a, b, input_node("n", (), tl.float32))
    with pytest.raises(ShapeError, match=r"must be one integer, not \(1,\)"):
        make(contract.matmul_to, a, b, input_node("n", (1,), tl.int32))
