"""What stays on a device: tensors, variables, compiled steps. Each case asserts, on one device.

The first three begin with the examples of docs/tensors.md.
"""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

import tallow as tl
from tallow.graph import Graph, input_node
from tallow.runtime.device import backend

Check = Callable[[str], Awaitable[None]]
CASES: dict[str, Check] = {}


def case(check: Check) -> Check:
    """Enters a case under its name."""
    CASES[check.__name__] = check
    return check


async def run_case(name: str, device: str) -> dict[str, Any]:
    """Runs a case with the device as the default; what computed, and what was left behind."""
    tl.set_default_device(device)
    try:
        gc.collect()
        before = tl.live_buffers()
        await CASES[name](device)
        gc.collect()
        left = tl.live_buffers()
        info = backend(device).info
        return {
            "device": info.device,
            "adapter": info.adapter,
            "left": [left.count - before.count, left.bytes - before.bytes],
        }
    finally:
        tl.set_default_device(None)


async def same(tensor: tl.Tensor, expected: Any) -> None:
    """Asserts what a tensor holds."""
    np.testing.assert_allclose(await tensor.numpy_async(), expected, rtol=1e-5, atol=1e-6)


# ---- examples ----------------------------------------------------------------------------------


@case
async def counter(device: str) -> None:
    count = tl.Variable(0)

    @tl.jit
    def step() -> None:
        count.assign(count + 1)

    for _ in range(3):
        step()
    await same(count, 3)
    assert step.plans == 1


@case
async def running_mean(device: str) -> None:
    mean = tl.Variable(np.zeros(4, np.float32))
    seen = tl.Variable(0.0)

    @tl.jit
    def observe(x: tl.Tensor) -> None:
        seen.assign(seen + 1)
        mean.assign(mean + (x - mean) / seen)

    rows = np.arange(20, dtype=np.float32).reshape(5, 4)
    for row in rows:
        observe(row)
    await same(mean, rows.mean(axis=0))
    assert observe.plans == 1


@case
async def rolling_cache(device: str) -> None:
    cache = tl.Variable(np.zeros((4, 2), np.float32))
    position = tl.Variable(0)

    @tl.jit
    def push(row: tl.Tensor) -> tl.Tensor:
        cache.assign(tl.update_at(cache, position % 4, tl.reshape(row, (1, 2))))
        position.assign(position + 1)
        return tl.sum(cache)

    rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    for row in rows:
        total = push(row)
    await same(cache, rows[[4, 5, 2, 3]])
    await same(total, rows[[4, 5, 2, 3]].sum())


# ---- tensors -----------------------------------------------------------------------------------


@case
async def realized(device: str) -> None:
    x = tl.asarray(np.arange(100, dtype=np.float32))
    y = (x * 2 + 1).realize()
    assert y.device == device
    programs = backend(device).memory.programs
    compiled = len(programs)
    await same(y, np.arange(100) * 2 + 1)  # only reads
    assert len(programs) == compiled
    assert y.realize() is y
    await same(y - 1, np.arange(100) * 2)
    assert (y.to("numpy")).device == "numpy"


@case
async def together(device: str) -> None:
    x = tl.asarray([1.0, 2.0])
    y, z = x + 1, x * 3
    tl.realize(y, z, y, x)
    assert all(each.node.is_buffer for each in (x, y, z))
    await same(y, [2, 3])
    await same(z, [3, 6])
    await same(x, [1, 2])


@case
async def every_type(device: str) -> None:
    """What lies on a device in wider words comes back as it was, and is read as it was."""
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"):
        given = np.array([0, 1, 2, 100, 7], dtype)
        x = tl.asarray(given).realize()
        back = await x.numpy_async()
        assert back.dtype == given.dtype
        np.testing.assert_array_equal(back, given)
        more = await (x + x).numpy_async()
        assert more.dtype == given.dtype
        np.testing.assert_array_equal(more, given + given)
    flags = (tl.asarray([1, 2, 3]) > 1).realize()
    assert (await (~flags).numpy_async()).tolist() == [True, False, False]
    wide = tl.asarray(np.array([1, -5, 1 << 20])).realize()
    assert (await wide.numpy_async()).tolist() == [1, -5, 1 << 20]


@case
async def one_plan_in_a_loop(device: str) -> None:
    programs = backend(device).memory.programs
    before = None
    for turn in range(5):
        x = tl.asarray(np.full(100, turn, np.float32))
        y = (tl.exp(x / 10) @ tl.asarray(np.ones((100, 3), np.float32))).realize()
        before = before or len(programs)
    assert len(programs) == before
    await same(y, np.full(3, 100 * np.exp(0.4)))


# ---- variables ---------------------------------------------------------------------------------


@case
async def old_values_stay(device: str) -> None:
    """Whoever read a variable has the value of that moment, whatever updates it afterwards."""
    v = tl.Variable(np.arange(3, dtype=np.float32))
    old, doubled = +tl.Tensor(v.node), v * 2

    @tl.jit
    def step() -> None:
        v.assign(v + 1)

    step()
    step()
    await same(v, [2, 3, 4])
    await same(old, [0, 1, 2])
    await same(doubled, [0, 2, 4])
    v.assign([5.0, 6.0, 7.0])
    await same(v, [5, 6, 7])
    other = tl.Variable([0.0, 0.0, 0.0]).assign(v)
    step()
    await same(other, [5, 6, 7])
    await same(v, [6, 7, 8])


@case
async def moved_between_calls(device: str) -> None:
    """Whatever happens to the states of a step between its calls, it goes on with what they are."""
    v, change = tl.Variable([0.0, 0.0, 0.0]), tl.Variable([1.0, 1.0, 1.0])

    @tl.jit
    def step() -> None:
        v.assign(v + change)

    @tl.jit
    def double() -> None:
        v.assign(v * 2)

    step()
    step()
    old = +tl.Tensor(v.node)
    step()
    await same(old, [2, 2, 2])
    double()
    step()
    await same(v, [7, 7, 7])
    v.assign(v + 1)
    step()
    change.assign([2.0, 2.0, 2.0])
    step()
    v.add_(1)
    step()
    await same(v, [14, 14, 14])
    double()
    step()
    double()
    await same(v, [60, 60, 60])
    await same(old, [2, 2, 2])


@case
async def exchanged(device: str) -> None:
    """Each next value is made of old ones, in whatever order they are assigned."""
    a, b = tl.Variable([1.0, 1.0]), tl.Variable([2.0, 2.0])

    @tl.jit
    def fibonacci() -> tl.Tensor:
        x, y = tl.Tensor(a.node), tl.Tensor(b.node)
        a.assign(y)
        b.assign(x + y)
        return x

    for expected in (1, 2, 3, 5):
        await same(fibonacci(), [expected, expected])
    await same(a, [8, 8])

    @tl.jit
    def exchange() -> None:
        x, y = tl.Tensor(a.node), tl.Tensor(b.node)
        a.assign(y)
        b.assign(x)

    exchange()
    await same(a, [13, 13])
    await same(b, [8, 8])


@case
async def large_results(device: str) -> None:
    """Results that are large enough to stay in a program's memory are those of their own call, also
    after later ones, and as arguments of these."""
    size = 20_000
    v = tl.Variable(tl.arange(size, dtype=tl.float32))

    @tl.jit
    def step(x: tl.Tensor) -> tuple[tl.Tensor, tl.Tensor, tl.Tensor]:
        old = tl.Tensor(v.node)
        v.assign(v + 1)
        return old, x, x + v

    line = np.arange(size, dtype=np.float32)
    first = step(line)
    second = step(first[2])
    third = step(second[0])
    last = step.plans
    del step
    assert last == 1
    for found, old, x in ((first, line, line), (second, line + 1, 2 * line + 1),
                          (third, line + 2, line + 1)):  # fmt: skip
        await same(found[0], old)
        await same(found[1], x)
        await same(found[2], x + old + 1)
    await same(v, line + 3)


@case
async def narrow_variables(device: str) -> None:
    v = tl.Variable(np.array([1, 2, 250], np.uint8))
    half = tl.Variable(np.array([1, 0.1], np.float16))
    flag = tl.Variable([True, False])

    @tl.jit
    def step() -> None:
        v.assign(v + 10)
        half.assign(half * 2)
        flag.assign(~flag)

    step()
    await same(v, [11, 12, 4])
    np.testing.assert_array_equal(await half.numpy_async(), np.array([2, 0.2], np.float16))
    assert (await flag.numpy_async()).tolist() == [False, True]


# ---- compiled functions ------------------------------------------------------------------------


@case
async def arguments(device: str) -> None:
    """Tensors, arrays and floats are inputs, at any depth; all else is static."""

    @tl.jit
    def f(x: Any, *, rate: float, more: dict[str, Any], times: int) -> dict[str, Any]:
        y = x * rate + more["b"][0]
        for _ in range(times):
            y = y + more["a"]
        return {"y": y, "times": times, "pair": (y, None)}

    x = tl.asarray([1.0, 2.0])
    more = {"b": [np.ones(2, np.float32)], "a": x.realize()}
    for rate in (1.0, 2.0, 3.0):
        found = f(x, rate=rate, more=more, times=2)
        await same(found["y"], [rate + 3, 2 * rate + 5])
        assert found["times"] == 2
        assert found["pair"][1] is None
    assert f.plans == 1
    await same(f(x, rate=1.0, more=more, times=0)["y"], [2, 3])
    await same(f(x * 2, rate=1.0, more=more, times=0)["y"], [3, 5])  # which is computed first
    assert f.plans == 2


@case
async def a_step_of_training(device: str) -> None:
    """Weights stay; the loss that is returned does not hold them back."""
    w = tl.Variable(np.zeros((3, 1), np.float32), name="w")

    @tl.jit
    def step(x: tl.Tensor, y: tl.Tensor, rate: float) -> tl.Tensor:
        error = x @ w - y
        w.assign(w - rate * (tl.permute_dims(x, (1, 0)) @ error))
        return tl.mean(error * error)

    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 3)).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    losses = [step(x, y, 0.01) for _ in range(40)]
    assert float(await losses[-1].numpy_async()) < 1e-3
    np.testing.assert_allclose(await w.numpy_async(), [[1.0], [-2.0], [0.5]], atol=0.05)


@case
async def a_network_that_learns(device: str) -> None:
    """Forward, backward and Adam are one plan, which draws new numbers at each step and agrees with
    the same steps on NumPy."""
    learned = [await _learned(name) for name in (device, "numpy")]
    tl.set_default_device(device)
    (losses, weights), (expected, others) = learned
    assert losses[-1] < 0.6 * losses[0]
    np.testing.assert_allclose(losses, expected, rtol=2e-3, atol=1e-4)
    for got, wanted in zip(weights, others, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-2, atol=2e-3)


async def _learned(device: str) -> tuple[list[float], list[np.ndarray]]:
    from tallow import nn, optim  # fetched in the browser, when they are first imported
    from tallow.nn.functional import cross_entropy

    tl.set_default_device(device)
    tl.manual_seed(5)
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 5, 3), nn.Tanh(), nn.Dropout(0.1), nn.Flatten(), nn.Linear(20, 3)),
    )
    optimizer = optim.Adam(model.parameters(), lr=0.02)

    @tl.jit
    def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
        loss: tl.Tensor = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    rng = np.random.default_rng(1)
    y = np.arange(16) % 3  # of 64 bits, as labels are in PyTorch
    x = rng.standard_normal((16, 1, 8, 8)).astype(np.float32)
    x += y[:, None, None, None]
    losses = [step(x, y) for _ in range(11)] + [step(x, tl.asarray(y).realize())]
    assert step.plans == 1
    found = [float(await loss.numpy_async()) for loss in losses]
    return found, [await p.numpy_async() for p in model.parameters()]


@case
async def a_line_is_named(device: str) -> None:
    @tl.jit
    def f(x: tl.Tensor) -> tl.Tensor:
        return x if tl.sum(x) > 0 else -x

    try:
        f(np.ones(3, np.float32))
    except tl.TracingError as error:
        assert "staying_cases.py:" in str(error)
        assert "tl.where" in str(error)
    else:
        raise AssertionError("a condition on a traced tensor is an error")


# ---- sessions ----------------------------------------------------------------------------------


def counting() -> Graph:
    """y = x + count, count = count + 1; the old count as well."""
    x, count = input_node("x", (3,), tl.float32), input_node("count", (3,), tl.float32)
    y, following = tl.Tensor(x) + tl.Tensor(count), tl.Tensor(count) + 1
    outputs = {"y": y.node, "old": count, "next": following.node}
    return Graph((x, count), outputs, "counting", {"count": "next"})


@case
async def states_of_a_session(device: str) -> None:
    count = tl.Variable(np.zeros(3, np.float32))
    one = await tl.compile_session_async(counting(), device, {"count": count})
    two = await tl.compile_session_async(counting(), device, {"count": count})
    feeds = {"x": np.array([1, 2, 3], np.float32)}
    first = await one.run_async(feeds)
    assert set(first) == {"y", "old"}
    np.testing.assert_array_equal(first["y"], [1, 2, 3])
    np.testing.assert_array_equal((await two.run_async(feeds))["y"], [2, 3, 4])
    await one.profile_async(feeds)
    assert (await two.state_dict_async())["count"].tolist() == [2, 2, 2]
    one.load_state_dict({"count": np.array([7, 7, 7], np.float32)})
    found = await two.run_async(feeds, fetch=["old"])
    np.testing.assert_array_equal(found["old"], [7, 7, 7])
    assert isinstance(found["y"], tl.Tensor)
    await same(found["y"], [8, 9, 10])
    again = await one.run_async({"x": found["y"]}, fetch=[])  # nothing leaves the device
    await same(again["y"], [16, 17, 18])
    await same(count, [9, 9, 9])
    for session in (one, two):
        session.close()


@case
async def outputs_of_their_own(device: str) -> None:
    """What one run leaves on the device, the next does not change."""
    x = input_node("x", (2, 3), tl.float32)
    y = tl.Tensor(x) * 2
    outputs = {"y": y.node, "again": y.node, "flat": tl.reshape(y, (6,)).node, "x": x}
    session = await tl.compile_session_async(Graph((x,), outputs, "views"), device)
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    first = await session.run_async({"x": given}, fetch=[])
    second = await session.run_async({"x": given + 1}, fetch=[])
    session.close()
    for found, start in ((first, given), (second, given + 1)):
        await same(found["y"], start * 2)
        await same(found["again"], start * 2)
        await same(found["flat"], start.reshape(-1) * 2)
        await same(found["x"], start)


@case
async def captured(device: str) -> None:
    """A graph may read what lies on the device."""
    w = tl.asarray(np.full(3, 2, np.float32)).realize()
    x = input_node("x", (3,), tl.float32)
    session = await tl.compile_session_async(Graph((x,), {"y": (tl.Tensor(x) * w).node}), device)
    assert (await session.run_async({"x": [1.0, 2.0, 3.0]}))["y"].tolist() == [2, 4, 6]
    session.close()
