"""Memory of a plan: slots that results share, results computed in place, joins without a copy.

Plans are made for WebGPU and run by NumPy here; tests/ops has the same networks on GPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from memory_cases import CASES, Case, wrong
from tests.steps import steps

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import Compiled, Plan, compile_graph, memory
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor

rng = np.random.default_rng(7)


def weight(*shape: int) -> Tensor:
    return tl.asarray(rng.normal(size=shape).astype(np.float32))


def compiled(build: Callable[[Tensor], Tensor], *shape: int) -> Compiled:
    x = input_node("x", shape, tl.float32)
    return compile_graph(Graph((x,), {"y": build(Tensor(x)).node}, "test"), "webgpu")


def plan_of(build: Callable[[Tensor], Tensor], *shape: int) -> Plan:
    return compiled(build, *shape).plan


def activations(plan: Plan) -> list[int]:
    """Bytes of the slots that are not weights, the largest first."""
    kinds = ("input", "output", "scratch")
    return sorted((slot.bytes for slot in plan.slots if slot.kind in kinds), reverse=True)


def convolve(x: Tensor) -> Tensor:
    return F.conv2d(x, weight(8, x.shape[1], 3, 3), padding=1)


def pair(x: Tensor) -> Tensor:
    return convolve(tl.concat([convolve(x), convolve(x)], axis=1))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_plan_for_the_gpu_runs_on_numpy(case: Case) -> None:
    program = NumpyProgram(compile_graph(case.graph(), "webgpu"))
    for _ in range(2):
        x = rng.normal(size=case.shape).astype(np.float32)
        assert not wrong(case, x, [output.numpy() for output in run_sync(program.run([x]))])


def test_a_chain_needs_two_slots_beside_its_input() -> None:
    def chain(x: Tensor) -> Tensor:
        for _ in range(12):
            x = convolve(x)
        return x

    plan = plan_of(chain, 1, 8, 32, 32)
    assert activations(plan) == [4 * 8 * 32 * 32] * 3  # whose input may be a buffer of the user's
    for step in plan.run:
        assert step.bindings[-1] not in step.bindings[:-1]


def test_a_residual_is_added_in_place() -> None:
    """The result of the second convolution overwrites the value that is added to it."""

    def block(x: Tensor) -> Tensor:
        y = convolve(x)
        return convolve(convolve(convolve(y)) + y)

    plan = plan_of(block, 1, 8, 32, 32)
    (added,) = (step for step in plan.run if "add" in step.name)
    assert added.bindings[-1] in added.bindings[:-1]
    assert len(added.bound) == len(added.bindings) - 1
    assert activations(plan) == [4 * 8 * 32 * 32] * 3  # one is the input


@pytest.mark.parametrize(
    ("update", "copies"), [(lambda w, x: w - tl.exp(x), 0), (lambda w, x: x @ w, 1)]
)
def test_states_are_updated_in_place(update: Callable[..., Tensor], copies: int) -> None:
    """A difference is computed over the old value; a product, which reads it again and again, is
    computed elsewhere and copied."""
    x, w = (input_node(name, (9, 9), tl.float32) for name in ("x", "w"))
    new = update(Tensor(w), Tensor(x)).node
    plan = compile_graph(Graph((x, w), {"new": new}, "test", {"w": "new"}), "webgpu").plan
    assert len(plan.copies) == copies


def test_what_is_still_wanted_is_not_written_over() -> None:
    def branches(x: Tensor) -> Tensor:
        first = convolve(x)
        second = convolve(first) + first
        return convolve(second) + first

    steps = [step for step in plan_of(branches, 1, 8, 8, 8).run if "add" in step.name]
    assert [step.bindings[-1] in step.bindings[:-1] for step in steps] == [False, True]


def test_what_is_read_elsewhere_is_not_written_over() -> None:
    """Each element of x is read twice."""
    plan = plan_of(lambda x: x + tl.flip(x, axis=1), 4, 6)
    assert len(activations(plan)) == 2


def test_other_element_types_are_not_written_over() -> None:
    plan = plan_of(lambda x: (x * 2.0).astype(tl.int32), 4, 6)
    assert len(activations(plan)) == 2


def test_parts_of_a_concatenation_are_computed_in_their_regions() -> None:
    plan = plan_of(pair, 1, 4, 8, 8)
    regions = [step.region for step in plan.run if "conv2d" in step.name]
    assert [(r.start, r.length, r.stride) for r in regions if r] == [(0, 8, 16), (8, 8, 16)]
    assert not any("concat" in step.name for step in plan.run)


def test_concatenations_of_concatenations_have_no_copies_either() -> None:
    def many(x: Tensor) -> Tensor:
        return convolve(tl.concat([convolve(x) for _ in range(20)], axis=1))

    names = [step.name for step in plan_of(many, 1, 4, 8, 8).run]
    assert len([name for name in names if "conv2d" in name]) == 21
    assert not any("concat" in name for name in names)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: tl.concat([convolve(x), x], axis=1),  # an input
        lambda x: tl.concat([y := convolve(x), convolve(y)], axis=1),  # read elsewhere
        lambda x: tl.concat([y := convolve(x), y], axis=1),  # the same value twice
        lambda x: tl.concat(
            [F.conv2d(x, weight(3, 4, 1, 1)), convolve(x)], axis=1
        ),  # not a multiple of 4
    ],
    ids=["input", "read", "twice", "odd"],
)
def test_other_concatenations_are_copied(build: Callable[[Tensor], Tensor]) -> None:
    plan = plan_of(lambda x: convolve(build(x)), 1, 4, 8, 8)
    assert any("concat" in step.name for step in plan.run)
    assert not any(step.region for step in plan.run)


def test_regions_survive_json() -> None:
    plan = plan_of(pair, 1, 4, 8, 8)
    again = Plan.from_json(plan.to_json())
    assert [step.region for step in again.run] == [step.region for step in plan.run]


# ---- packing -----------------------------------------------------------------------------------


def _packed(values: list[memory._Value]) -> memory.Packed:
    """The rule of memory.py in its simplest form: every value is compared with all others."""
    number_of: dict[memory._Value, int] = {}
    slots: list[int] = []
    for value in values:
        taken = {
            number
            for other, number in number_of.items()
            if other.first <= value.last and value.first <= other.last
        }
        free = [number for number in range(len(slots)) if number not in taken]
        if not free:
            free = [len(slots)]
            slots.append(0)
        slot = min(free, key=lambda n: (max(0, value.bytes - slots[n]), slots[n]))
        slots[slot] = max(slots[slot], value.bytes)
        number_of[value] = slot
    return number_of, slots


@pytest.mark.parametrize("seed", range(200))
def test_slots_are_those_that_fit_best(seed: int) -> None:
    random = Random(seed)
    end = random.randint(1, 20)
    firsts = sorted(random.randint(0, end) for _ in range(random.randint(0, 25)))
    values = [
        memory._Value(random.choice([0, 4, 8, 16, 16, 32, 100]), first, random.randint(first, end))
        for first in firsts
    ]
    assert memory._pack_by_time(values) == _packed(values)
    largest_first = sorted(values, key=lambda value: -value.bytes)
    assert memory._pack_by_size(values, end + 1) == _packed(largest_first)


@pytest.mark.parametrize("lives", [1, 10, 1 << 20])
def test_twice_the_values_take_twice_the_work(lives: int) -> None:
    def work(count: int) -> int:
        values = [memory._Value(4 * (i % 7), i, min(i + lives, count)) for i in range(count)]
        both = memory._pack_by_time, lambda given: memory._pack_by_size(given, count + 1)
        return steps(lambda: [pack(values) for pack in both])

    assert work(1000) <= 2.5 * work(500)
