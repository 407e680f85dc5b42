"""Switches in threads, in tasks and in cells of a notebook: what PyTorch's documentation says of
them, and what a plan of `@tl.jit` sees.

PyTorch: no_grad, enable_grad and set_grad_enabled are thread local and do not affect other threads;
the state of autocast is thread local; set_default_device and set_float32_matmul_precision set
something globally. Detecting NaNs is `tl.debug_nans` here, for all or in a block.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import copy_context
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.core import context
from tallow.core.context import FIELDS

X = np.array([[1.0, 2.0]], np.float32)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = {field: field.get() for field in FIELDS.values()}
    yield
    for field, value in before.items():
        field.set(value)


def in_thread(function: Callable[[], Any]) -> Any:
    """What a function gives in another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def in_cell(function: Callable[[], Any]) -> Any:
    """What a function gives in a cell of its own, each of which runs in a copy of the context."""
    return copy_context().run(function)


Seen = Callable[[], Any]

BLOCKS: dict[str, tuple[Callable[[], AbstractContextManager[Any]], Seen, Any, Any]] = {
    "no_grad": (tl.no_grad, tl.is_grad_enabled, True, False),
    "inference_mode": (tl.inference_mode, tl.is_grad_enabled, True, False),
    "set_grad_enabled": (lambda: tl.set_grad_enabled(False), tl.is_grad_enabled, True, False),
    "autocast": (lambda: tl.amp.autocast("numpy"), context.autocast.get, False, True),
    "debug_nans": (lambda: tl.debug_nans(True), context.debug_nans.get, False, True),
    "default_device": (
        lambda: context.default_device.override("wasm"), context.default_device.get, None, "wasm",
    ),
    "precision": (
        lambda: context.matmul_precision.override("high"), tl.get_float32_matmul_precision,
        "highest", "high",
    ),
}  # fmt: skip
"""Blocks, how to see their switch, and what it is outside and within."""


@pytest.fixture(autouse=True)
def _no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    context.default_device.set(None)
    monkeypatch.setattr("tallow.amp.is_autocast_available", lambda device: True)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_holds_for_its_thread_alone(name: str) -> None:
    block, seen, outside, within = BLOCKS[name]
    with block():
        assert seen() == within and in_thread(seen) == outside
    assert seen() == outside
    entered, leave = threading.Event(), threading.Event()

    def beside() -> None:
        with block():
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=beside)
    thread.start()
    entered.wait(60)
    try:
        assert seen() == outside
    finally:
        leave.set()
        thread.join()
    assert seen() == outside


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_holds_for_its_task_alone(name: str) -> None:
    """PyTorch's own blocks leak into other tasks of the thread."""
    block, seen, outside, within = BLOCKS[name]
    found: list[Any] = []

    async def inside(entered: asyncio.Event, looked: asyncio.Event) -> None:
        with block():
            entered.set()
            await looked.wait()
            found.append(seen())

    async def beside(entered: asyncio.Event, looked: asyncio.Event) -> None:
        await entered.wait()
        found.append(seen())
        looked.set()

    async def both() -> None:
        entered, looked = asyncio.Event(), asyncio.Event()
        await asyncio.gather(inside(entered, looked), beside(entered, looked))

    asyncio.run(both())
    assert found == [outside, within] and seen() == outside


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_ends_with_its_cell(name: str) -> None:
    block, seen, outside, within = BLOCKS[name]

    def cell() -> Any:
        with block():
            return seen()

    assert in_cell(cell) == within and in_cell(seen) == outside


CALLS: dict[str, tuple[Callable[[Any], Any], Seen, Any, Any, bool]] = {
    "set_grad_enabled": (tl.set_grad_enabled, tl.is_grad_enabled, True, False, False),
    "set_default_device": (
        tl.set_default_device, context.default_device.get, None, "numpy", True,
    ),
    "set_float32_matmul_precision": (
        tl.set_float32_matmul_precision, tl.get_float32_matmul_precision, "highest", "high", True,
    ),
    "set_float32_function_precision": (
        tl.set_float32_function_precision, tl.get_float32_function_precision, "highest", "medium",
        True,
    ),
    "debug_nans": (tl.debug_nans, context.debug_nans.get, False, True, True),
}  # fmt: skip
"""Plain calls, how to see their switch, what it is before and after, and whether all threads see
it."""


@pytest.mark.parametrize("name", CALLS)
def test_a_plain_call_holds_for_the_process_or_the_thread(name: str) -> None:
    call, seen, before, after, everywhere = CALLS[name]
    call(after)
    assert seen() == after and in_thread(seen) == (after if everywhere else before)
    call(before)
    in_thread(lambda: call(after))
    assert seen() == (after if everywhere else before)


@pytest.mark.parametrize("name", CALLS)
def test_a_plain_call_holds_in_the_next_cell_and_the_next_task(name: str) -> None:
    call, seen, before, after, _ = CALLS[name]
    in_cell(lambda: call(after))
    assert in_cell(seen) == seen() == after
    call(before)

    async def cells() -> Any:
        async def one() -> None:
            call(after)

        async def next_one() -> Any:
            return seen()

        await asyncio.create_task(one())
        return await asyncio.create_task(next_one())

    assert asyncio.run(cells()) == after


def test_gradients_in_two_threads() -> None:
    """What is built in one thread within no_grad, and in another without."""
    weight = tl.Variable(X, requires_grad=True)
    with tl.no_grad():
        assert not (weight * 2.0).requires_grad
        assert in_thread(lambda: (weight * 2.0).requires_grad)
    in_thread(lambda: tl.set_grad_enabled(False))
    assert (weight * 2.0).requires_grad


# ---- plans --------------------------------------------------------------------------------------

OTHERS: dict[str, Any] = {
    "gradients": False, "autocast": True, "matmul_precision": "high", "debug_nans": True,
    "function_precision": "medium",
    "pytorch": True, "floating": tl.float64,
}  # fmt: skip
"""Another value for each field that is part of the key."""


def test_every_field_is_in_the_key_or_says_why_not() -> None:
    assert {name for name, field in FIELDS.items() if field.in_key} == set(OTHERS)
    body = ast.parse(inspect.getsource(context)).body
    said = {
        item.target.id: str(after.value.value)
        for item, after in pairwise(body)
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }  # fmt: skip
    for name, field in FIELDS.items():
        assert field.in_key or "Not in the key" in said[name].replace("\n", " "), name


@pytest.mark.parametrize("name", OTHERS)
def test_every_field_of_the_key_makes_a_plan_and_finds_it_again(name: str, device: str) -> None:
    field = FIELDS[name]
    before = field.get()
    weight = tl.Variable(X, requires_grad=True)

    @tl.jit
    def function(x: tl.Tensor) -> Any:
        return (x * weight) @ x.T

    expected = (tl.asarray(X) * weight @ tl.asarray(X).T).numpy()
    for value, plans in ((before, 1), (OTHERS[name], 2), (before, 2), (OTHERS[name], 2)):
        field.set(value)
        found = function(tl.asarray(X))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-2)
        assert function.plans == plans
    field.set(before)
    with field.override(OTHERS[name]):
        function(tl.asarray(X))
    assert function.plans == 2


def test_a_plan_is_for_the_switches_of_its_thread() -> None:
    """A call of one thread within no_grad, and one of another without."""
    weight = tl.Variable(X, requires_grad=True)

    @tl.jit(device="numpy")
    def step(x: tl.Tensor) -> Any:
        y = (x * weight).sum()
        if y.requires_grad:
            y.backward()
        return y

    with tl.no_grad():
        step(tl.asarray(X))
        assert weight.grad is None
        in_thread(lambda: step(tl.asarray(X)))
    np.testing.assert_allclose(weight.grad.numpy(), X)
    assert step.plans == 2


def test_the_default_device_of_a_call_decides_whose_plan_serves() -> None:
    """It is not part of the key: each device has plans of its own."""
    function = tl.jit(lambda x: x * 2.0)
    for device in ("numpy", "wasm", "numpy"):
        tl.set_default_device(device)
        found = function(tl.asarray(X))
        assert found.device == device
        np.testing.assert_array_equal(found.numpy(), X * 2.0)
