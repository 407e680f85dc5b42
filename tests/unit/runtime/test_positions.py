"""Regions at a position that the device reads: what they cost, what is in place, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import compile_graph
from tallow.compile.plan import Plan, Step
from tallow.errors import AxisError, DTypeError, IndexRangeError, ShapeError
from tallow.graph import Graph, Node, input_node, make
from tallow.ops import elementwise, positions, reduce

ROWS, WIDTH = 4096, 576
DEVICES = ["numpy", "wasm", "webgpu"]


def _update(source: Node, new: Node, start: Node) -> Node:
    return make(positions.update_at, source, new, start, axes=(0,), starts=(0, 0))


class _Cache:
    """A graph with a state of 4,096 rows, a row and a position."""

    def __init__(self) -> None:
        self.state = input_node("state", (ROWS, WIDTH), tl.float32)
        self.row = input_node("row", (1, WIDTH), tl.float32)
        self.start = input_node("start", (), tl.int32)

    def plan(self, device: str, new: Node, **outputs: Node) -> Plan:
        graph = Graph(
            (self.state, self.row, self.start),
            {**outputs, "next": new},
            states={"state": "next"},
        )
        return compile_graph(graph, device).plan


def _writes(plan: Plan) -> list[Step]:
    return [step for step in plan.run if "update_at" in step.name]


def _in_place(plan: Plan, step: Step) -> bool:
    *reads, target = step.bindings
    return plan.slots[target].kind == "state" and target in reads


def _invocations(step: Step) -> int:
    x, y, z = step.kernel["workgroups"]
    return int(x * y * z) * 64


@pytest.mark.parametrize("device", DEVICES)
def test_a_state_that_is_read_no_later_is_updated_in_place(device: str) -> None:
    cache = _Cache()
    plan = cache.plan(device, _update(cache.state, cache.row, cache.start))
    (step,) = plan.run
    assert _in_place(plan, step) and not plan.copies
    assert sum(slot.bytes for slot in plan.slots if slot.kind == "scratch") == 0


def test_on_webgpu_a_row_is_written_by_as_many_invocations_as_a_row_alone_takes() -> None:
    cache = _Cache()
    doubled = make(elementwise.add, cache.row, cache.row)
    (step,) = cache.plan("webgpu", _update(cache.state, doubled, cache.start)).run
    alone = Graph((cache.row,), {"y": doubled})
    (row,) = compile_graph(alone, "webgpu").plan.run
    assert _invocations(step) == _invocations(row) < WIDTH
    # Each invocation stores once, four elements of the row, and reads nothing of the cache.
    text = compile_graph(Graph((cache.state, cache.row, cache.start),
                               {"next": _update(cache.state, doubled, cache.start)},
                               states={"state": "next"}), "webgpu").plan.modules[0]  # fmt: skip
    assert text.count("result[") == 1 and "result: array<vec4f>" in text


@pytest.mark.parametrize("device", DEVICES)
def test_updates_one_after_the_other_are_in_place(device: str) -> None:
    cache = _Cache()
    later = make(elementwise.add, cache.start, cache.start)
    first = _update(cache.state, cache.row, cache.start)
    plan = cache.plan(device, _update(first, cache.row, later))
    assert [_in_place(plan, step) for step in _writes(plan)] == [True, True]
    assert not plan.copies


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_read_before_leaves_the_update_in_place(device: str) -> None:
    cache = _Cache()
    total = make(reduce.sum_, cache.state, axes=(0, 1))
    plan = cache.plan(device, _update(cache.state, cache.row, cache.start), total=total)
    (write,) = _writes(plan)
    assert _in_place(plan, write)


@pytest.mark.parametrize("device", DEVICES)
def test_the_update_waits_for_those_that_read_the_old_value(device: str) -> None:
    cache = _Cache()
    total = make(reduce.sum_, cache.state, axes=(0, 1))
    new = _update(cache.state, cache.row, cache.start)
    inputs = (cache.state, cache.row, cache.start)
    graph = Graph(inputs, {"next": new, "total": total}, states={"state": "next"})
    plan = compile_graph(graph, device).plan
    (write,) = _writes(plan)
    assert _in_place(plan, write) and plan.run[-1] is write


@pytest.mark.parametrize("device", DEVICES)
def test_an_old_value_that_is_given_or_read_later_is_kept(device: str) -> None:
    cache = _Cache()
    new = _update(cache.state, cache.row, cache.start)
    given = cache.plan(device, new, old=cache.state)
    assert not any(_in_place(given, step) for step in _writes(given))
    both = make(elementwise.multiply, cache.state, new)  # reads the old value and the new one
    plan = cache.plan(device, new, both=both)
    assert not any(_in_place(plan, step) for step in _writes(plan))


@pytest.mark.parametrize("device", DEVICES)
def test_a_region_that_is_made_of_the_same_state_is_no_race(device: str) -> None:
    """What is written is read elsewhere in the state, and the two may overlap: so it is stored
    apart first, and the region alone is written."""
    cache = _Cache()
    moved = make(positions.slice_at, cache.state, cache.start, axes=(0,), shape=(8, WIDTH))
    one = make(elementwise.add, cache.start, cache.start)
    plan = cache.plan(device, _update(cache.state, moved, one))
    (write,) = _writes(plan)
    reads = [slot for slot in write.bindings[:-1] if plan.slots[slot].kind == "state"]
    assert len(reads) == 1 and _in_place(plan, write) and "slice_at" not in write.name
    assert not plan.copies


# ---- values ----------------------------------------------------------------------------------


@pytest.fixture(params=["numpy", "wasm"])
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _tensor(value: Any, dtype: str | None = None, **options: Any) -> tl.Tensor:
    return tl.asarray(np.asarray(value, dtype), **options)


def test_a_ring_of_rows(device: str) -> None:
    ring = tl.Variable(np.zeros((6, 5), np.float32), device=device)

    @tl.jit(device=device)
    def push(row: tl.Tensor, count: tl.Tensor) -> tl.Tensor:
        ring.assign(tl.update_at(ring, (count % 6, 0), row * 2.0))
        return ring.sum()

    expected = np.zeros((6, 5), np.float32)
    rng = np.random.default_rng(0)
    for count in range(15):
        row = rng.normal(size=(1, 5)).astype(np.float32)
        expected[count % 6] = row * 2
        total = push(row, np.int32(count))
        np.testing.assert_allclose(total.numpy(), expected.sum(), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(ring.numpy(), expected)


def test_one_plan_serves_all_positions(device: str) -> None:
    @tl.jit(device=device)
    def read(x: tl.Tensor, at: tl.Tensor) -> tl.Tensor:
        return tl.slice_at(x, at, 2)

    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    for at, first in ((0, 0), (3, 3), (7, 6), (-1, 6), (-3, 5), (-100, 0)):
        np.testing.assert_array_equal(read(x, np.int32(at)).numpy(), x[first : first + 2])
    assert len(read._entries) == 1


def test_old_values_of_a_state_stay(device: str) -> None:
    state = tl.Variable(np.zeros((4, 2), np.float32), device=device)
    before = state.detach()
    kept = state * 1.0

    @tl.jit(device=device)
    def write(at: tl.Tensor) -> tl.Tensor:
        old = state * 3.0
        state.assign(tl.update_at(state, at, tl.ones((1, 2))))
        return old + tl.slice_at(state, at, 1)

    np.testing.assert_array_equal(write(np.int32(1)).numpy(), np.ones((4, 2)))
    np.testing.assert_array_equal(before.numpy(), np.zeros((4, 2)))
    np.testing.assert_array_equal(kept.numpy(), np.zeros((4, 2)))
    np.testing.assert_array_equal(state.numpy(), [[0, 0], [1, 1], [0, 0], [0, 0]])


def test_overlapping_regions_of_one_state(device: str) -> None:
    state = tl.Variable(np.arange(12, dtype=np.float32).reshape(6, 2), device=device)

    @tl.jit(device=device)
    def shift(at: tl.Tensor) -> None:
        state.assign(tl.update_at(state, at + 1, tl.slice_at(state, at, 4)))

    shift(np.int32(0))
    expected = np.arange(12).reshape(6, 2)
    expected[1:5] = expected[0:4].copy()
    np.testing.assert_array_equal(state.numpy(), expected)


def test_a_row_of_what_was_computed_on_the_way(device: str) -> None:
    """NumPy computes steps in the result's memory, and the row is a view of one."""
    x = np.random.default_rng(3).normal(size=(2, 3, 4)).astype(np.float32)

    @tl.jit(device=device)
    def changed(x: tl.Tensor) -> tl.Tensor:
        y = x * 2.0
        y[:, 1] = (tl.cos(x) + 1.0)[:, 0]
        return y

    expected = x * 2
    expected[:, 1] = (np.cos(x) + 1)[:, 0]
    np.testing.assert_allclose(changed(x).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize(
    "key",
    [
        lambda p: (slice(None), p),
        lambda p: p,
        lambda p: (0, slice(1, None), p),
        lambda p: (p.reshape((1,)), slice(1, 3)),
    ],
)
@pytest.mark.parametrize("at", [0, 1, -1])
def test_items_at_a_position(device: str, at: int, key: Callable[[Any], Any]) -> None:
    x = np.arange(27, dtype=np.float32).reshape(3, 3, 3)
    cache = tl.Variable(x, device=device)

    @tl.jit(device=device)
    def write(at: tl.Tensor) -> tl.Tensor:
        y = cache + 0.0
        y[key(at)] = -1.0
        cache.assign(y)
        return cache.narrow(1, at, 2)

    narrowed = write(np.int32(at)).numpy()
    x[key(np.array(at))] = -1
    np.testing.assert_array_equal(cache.numpy(), x)
    first = min(at % 3, 1)
    np.testing.assert_array_equal(narrowed, x[:, first : first + 2])


def test_one_row_copied_by_its_index_is_written_in_place(device: str) -> None:
    cache = tl.Variable(np.zeros((2, 6, 4), np.float32), device=device)

    @tl.jit(device=device)
    def write(at: tl.Tensor, row: tl.Tensor) -> None:
        cache.assign(cache.index_copy(1, at, row))

    write(np.array([4], np.int32), np.ones((2, 1, 4), np.float32))
    assert (cache.numpy()[:, 4] == 1).all() and cache.numpy().sum() == 8
    ((entry,),) = write._entries.values()
    plan = entry.program._plan
    assert _in_place(plan, _writes(plan)[0])
    with pytest.raises(IndexRangeError, match="7 is not in 0 to 5"):
        write(np.array([7], np.int32), np.ones((2, 1, 4), np.float32))


def test_gradients(device: str) -> None:
    @tl.jit(device=device)
    def gradients(x: tl.Tensor, new: tl.Tensor, at: tl.Tensor) -> tuple[tl.Tensor, tl.Tensor]:
        def loss(x: tl.Tensor, new: tl.Tensor) -> tl.Tensor:
            y = tl.update_at(x, (at, 0), new)
            return (tl.slice_at(y, (at - 1, 0), (3, 4)) ** 2.0).sum()

        return tl.grad(loss, (0, 1))(x, new)

    rng = np.random.default_rng(1)
    x = rng.normal(size=(6, 4)).astype(np.float32)
    new = rng.normal(size=(1, 4)).astype(np.float32)
    for_x, for_new = gradients(x, new, np.int32(2))
    expected = np.zeros_like(x)
    expected[[1, 3]] = 2 * x[[1, 3]]
    np.testing.assert_allclose(for_x.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(for_new.numpy(), 2 * new, rtol=1e-5)


# ---- lengths ---------------------------------------------------------------------------------


def _to(device: str, axis: int) -> Any:
    x, length = input_node("x", (64, 48), tl.float32), input_node("n", (), tl.int32)
    filled = make(positions.fill_from, make(elementwise.exp, x), length, axis=axis, value=0.0)
    total = make(reduce.sum_, filled, axes=(axis,))
    return compile_graph(Graph((x, length), {"y": total}), device).plan


@pytest.mark.parametrize("axis", [0, 1])
def test_a_sum_ends_where_the_device_says(axis: int) -> None:
    """The loop has the length as its end, and neither tests nor fills within."""
    plan = _to("webgpu", axis)
    (step,) = plan.run
    (text,) = plan.modules
    (loop,) = [line for line in text.splitlines() if "for (var" in line]
    (start,) = [line for line in text.splitlines() if "clamp(select(" in line]
    assert f"< {start.split()[1]};" in loop and "if (r" not in text
    assert step.name.split("+") == ["exp", "fill_from", "sum"]
    assert _to("wasm", axis).run[0].kernel


def test_attention_to_the_first_keys_of_a_cache(device: str) -> None:
    rng = np.random.default_rng(2)
    key, value = (
        tl.Variable(rng.normal(size=(2, 2, 16, 8)).astype(np.float32), device=device)
        for _ in range(2)
    )

    @tl.jit(device=device)
    def few(query: tl.Tensor, length: tl.Tensor) -> tl.Tensor:
        return F.scaled_dot_product_attention(query, key, value, enable_gqa=True, length=length)

    for rows in (1, 2, 9):
        query = rng.normal(size=(2, 4, rows, 8)).astype(np.float32)
        for length in (1, 7, 16, 40):
            seen = _tensor(np.arange(16) < length)
            right = F.scaled_dot_product_attention(
                _tensor(query), tl.asarray(key.numpy()), tl.asarray(value.numpy()), seen,
                enable_gqa=True)  # fmt: skip
            np.testing.assert_allclose(
                few(query, np.int32(length)).numpy(), right.numpy(), rtol=1e-4, atol=1e-5
            )
        assert (few(query, np.int32(0)).numpy() == 0).all()
    assert len(few._entries) == 3  # one for each number of queries


def test_numbers_are_plain_slices() -> None:
    x = _tensor(np.arange(12, dtype=np.float32).reshape(4, 3))
    assert tl.slice_at(x, (-2, 1), (2, 2)).node.op.name == "slice"
    np.testing.assert_array_equal(tl.slice_at(x, (-2, 1), (2, 2)).numpy(), x.numpy()[2:, 1:])
    assert tl.slice_at(x, 0, 4).node is x.node
    assert x.update_at(0, tl.zeros((4, 3))).numpy().sum() == 0


# ---- bad input -------------------------------------------------------------------------------

X = np.zeros((4, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: tl.slice_at(x, 3, 2), IndexRangeError, "from 3 on is out of range for axis 0"),
        (lambda x: tl.slice_at(x, -5, 1), IndexRangeError, "from -5 on is out of range"),
        (lambda x: tl.update_at(x, 4, x[:1]), IndexRangeError, "out of range for axis 0"),
        (lambda x: tl.slice_at(x, 1.0, 2), DTypeError, "must be an integer, not 1.0"),
        (lambda x: tl.slice_at(x, True, 2), DTypeError, "must be an integer, not True"),
        (lambda x: tl.slice_at(x, _tensor(1.0), 2), DTypeError, "must be an integer, not float64"),
        (lambda x: tl.slice_at(x, _tensor([1]), 2), ShapeError, r"must be one integer, not \(1,\)"),
        (lambda x: tl.slice_at(x, 0, 5), ShapeError, r"does not lie within \(4, 3\)"),
        (lambda x: tl.slice_at(x, 0, -1), ShapeError, "does not lie within"),
        (lambda x: tl.slice_at(x, (0, 0), 1), ShapeError, "2 starts do not match 1 sizes"),
        (lambda x: tl.slice_at(x, (0, 0, 0), (1, 1, 1)), ShapeError, "3 starts for the axes"),
        (lambda x: tl.update_at(x, 0, tl.zeros((5, 3))), ShapeError, "does not lie within"),
        (lambda x: tl.update_at(x, 0, tl.zeros((3,))), ShapeError, "has not as many axes"),
        (lambda x: tl.update_at(x, 0, x[:1] > 0), DTypeError, "bool into float32"),
        (
            lambda x: tl.fill_from(x, 4, 0.0),
            IndexRangeError,
            "from 4 on is out of range for axis 1",
        ),
        (lambda x: tl.fill_from(x, 1.5, 0.0), DTypeError, "must be an integer, not 1.5"),
        (lambda x: tl.fill_from(x, 1, 0.0, axis=2), AxisError, "2"),
        (lambda x: tl.fill_from(x, _tensor([2]), 0.0), ShapeError, "must be one integer"),
    ],
)
def test_bad_input(call: Callable[[tl.Tensor], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(_tensor(X))
