"""Shapes that grow: a plan for each length, while programs and their memory stay few."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.devices.wasm import desktop
from tallow.devices.wasm.arena import PAGE, Arena
from tallow.devices.wasm.codegen.assembler import Function, encode
from tallow.devices.wasm.desktop import WasmtimeEngine
from tallow.runtime import eager
from tallow.runtime.device import backend

DEVICES = ("numpy", "wasm")


@pytest.fixture(autouse=True)
def no_programs() -> Iterator[None]:
    """Neither earlier programs nor later ones are counted."""
    for device in DEVICES:
        forget(device)
    yield
    for device in DEVICES:
        forget(device)


def forget(device: str) -> None:
    memory = backend(device).memory
    for entry in memory.programs.values():
        entry.program.close()
    memory.programs.clear()
    eager._families.pop(memory, None)


def entries(device: str) -> list[Any]:
    return list(backend(device).memory.programs.values())


def arenas() -> list[Arena]:
    return list(backend("wasm").engine.arenas)  # type: ignore[attr-defined]


@pytest.mark.parametrize("device", DEVICES)
def test_ten_thousand_lengths(device: str) -> None:
    gc.collect()
    one = tl.asarray(np.float32([1.0])).to(device).realize()
    x, most, live = one, 0, []
    # What programs of other tests have, and the room that some have left.
    had, before = sum(arena.used for arena in arenas()), sum(arena.nbytes for arena in arenas())
    reserved = []
    for length in range(2, 10_001):
        x = tl.concat([x, one]).realize()
        if length % 1000 == 0:
            most = max(most, len(entries(device)))
            live.append(tl.live_buffers(device).count)
            reserved.append(sum(arena.nbytes for arena in arenas()))
    assert x.shape == (10_000,)
    assert float(tl.sum(x)) == 10_000
    assert most <= eager._PROGRAMS
    assert live == sorted(live, reverse=True)  # what other tests left may go meanwhile
    if device == "wasm":
        # At most as many programs as are kept, of two vectors and a number each.
        assert max(reserved) - before <= 2 * eager._PROGRAMS * 2 * 4 * 10_000
        forget(device)
        assert sum(arena.used for arena in arenas()) <= had


def test_many_lengths_share_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    import wasmtime

    compiled = []
    made = wasmtime.Module

    def counted(engine: Any, code: bytes) -> Any:
        compiled.append(code)
        return made(engine, code)

    monkeypatch.setattr(desktop.wasmtime, "Module", counted)
    weight = tl.asarray(np.ones((8, 5), np.float32))
    for rows in range(30, 130):
        x = tl.asarray(np.full((rows, 8), 0.5, np.float32))
        y = tl.nn.functional.softmax(tl.concat([x, x]) @ weight, dim=-1).to("wasm").realize()
        np.testing.assert_allclose(y.numpy(), np.full((2 * rows, 5), 0.2), rtol=1e-6)
    assert len(compiled) <= eager._SHAPES + 2


@pytest.mark.parametrize("device", DEVICES)
def test_the_first_shapes_get_full_plans_and_what_stays_gets_one(device: str) -> None:
    def plan(length: int) -> Any:
        x = tl.asarray(np.arange(length, dtype=np.float32)).to(device)
        np.testing.assert_array_equal((x * 2 + 1).numpy(), 2 * np.arange(length) + 1)
        return max(entries(device), key=lambda each: each.last)

    for length in range(100, 100 + eager._SHAPES):
        assert plan(length).family is None
    assert plan(200).family is not None
    for _ in range(eager._OFTEN - 1):
        assert plan(200).family is not None
    assert plan(200).family is None
    assert plan(200).family is None
    assert len(entries(device)) == eager._SHAPES + 1


@pytest.mark.parametrize("device", DEVICES)
def test_programs_go_by_their_bytes_too(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager, "host_memory", lambda: 8 * 400_000)
    for rank in range(1, 40):  # full plans, since ranks are no sizes
        x = tl.asarray(np.ones((1,) * rank + (10_000,), np.float32)).to(device)
        (tl.exp(x) + x).realize()
    kept = entries(device)
    assert eager._FEW <= len(kept) < 20
    assert max(each.last for each in kept) - min(each.last for each in kept) < 20


def test_an_index_out_of_range_is_an_error_in_such_a_plan_too() -> None:
    for device in DEVICES:
        for length in range(100, 110):
            table = tl.asarray(np.ones((length, 2), np.float32)).to(device)
            index = np.zeros(length, np.int32)
            tl.take(table, tl.asarray(index), axis=0).realize()
            index[-1] = length
            with pytest.raises(tl.IndexRangeError, match=f"{length}"):
                tl.take(table, tl.asarray(index), axis=0).realize()


# ---- memories ----------------------------------------------------------------------------------


def test_what_a_closed_program_had_is_used_again() -> None:
    engine = WasmtimeEngine()
    (arena,) = engine.arenas
    first = engine.placed(_module(), arena.extent(1000), False)
    second = engine.placed(_module(), arena.extent(5000), False)
    first.write(first.start, b"first")
    second.write(second.start, b"second")
    used, reserved = arena.used, arena.nbytes
    for size in range(1, 1000):
        engine.placed(_module(), arena.extent(size), False).close()
    assert (arena.used, arena.nbytes, len(arena.blocks)) == (used, reserved, 1)
    assert (first.read(first.start, 5), second.read(second.start, 6)) == (b"first", b"second")
    first.close()
    second.close()
    assert arena.used == 0


def test_a_program_that_nobody_closed_gives_back_its_memory() -> None:
    engine = WasmtimeEngine()
    (arena,) = engine.arenas
    placed = engine.placed(_module(), arena.extent(100_000), False)
    assert arena.used >= 100_000
    del placed
    assert arena.used == 0


def test_programs_in_one_memory_compute_each_in_its_part() -> None:
    engine = WasmtimeEngine()
    (arena,) = engine.arenas
    for threads in (1, 3):
        engine.use_threads(threads)
        parts = [engine.placed(_module(), arena.extent(4096), True) for _ in range(3)]
        for number, part in enumerate(parts):
            part.bound({"function": "store", "sizes": [number + 5]}, [part.start + 64], 0)()
        for number, part in enumerate(parts):
            assert part.read(part.start + 64, 4) == bytes([number + 5, 0, 0, 0])


def test_blocks_are_few_and_large_ones_go() -> None:
    made: list[int] = []

    def make(pages: int) -> object:
        made.append(pages)
        return object()

    arena = Arena(make)
    held = [arena.extent(100_000) for _ in range(1000)]
    assert arena.used >= 100_000_000
    assert len(arena.blocks) == len(made) <= 8
    for each in held[::2]:
        each.close()
    for each in held[1::2]:
        each.close()
    assert arena.used == 0
    before = len(made)
    for size in range(0, 100 * PAGE, 1000):  # a program that grows has the memory of the last one
        arena.extent((1 << 27) + size).close()
    assert len(made) == before + 1
    assert len(arena.blocks) == 1


def test_what_needs_room_beside_it_begins_no_full_block() -> None:
    arena = Arena(lambda pages: object())
    first = arena.extent(100_000)
    (block,) = arena.blocks
    fits = block.size - 300_000
    (second,) = arena.together([fits], room=100_000)
    assert second.block is first.block
    third, fourth = arena.together([50_000, 50_000], room=200_000)
    assert third.block is fourth.block is not first.block
    assert arena.within(third.block, [200_000]) is not None
    assert arena.extent(100_000).block is first.block


def test_extents_never_overlap() -> None:
    arena = Arena(lambda pages: object())
    random = np.random.default_rng(7)
    held: list[Any] = []
    for _ in range(3000):
        if held and random.random() < 0.5:
            held.pop(int(random.integers(len(held)))).close()
        else:
            held.append(arena.extent(int(random.integers(0, 300_000))))
        by_place = sorted(held, key=lambda each: (id(each.memory), each.start))
        for one, other in pairwise(by_place):
            if one.memory is other.memory:
                assert one.start + one.size <= other.start
    assert arena.used == sum(each.size for each in held)


def test_where_no_memory_is_left() -> None:
    def make(pages: int) -> object:
        raise MemoryError("none")

    with pytest.raises(MemoryError, match="none"):
        Arena(make).extent(1)


def _module() -> bytes:
    """A function that stores its second argument at the address that is its first one."""
    function = Function(["i32", "i32"], exported="store")
    for name, *immediates in (("local.get", 0), ("local.get", 1), ("i32.store", 0)):
        function.emit(name, *immediates)
    return encode([function])


@pytest.mark.parametrize("device", DEVICES)
def test_threads_that_make_the_same_program_at_once_keep_one(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, make = Barrier(2, timeout=60), eager.compile_for

    def together(*given: Any) -> Any:
        both.wait()
        return make(*given)

    x = tl.asarray(np.arange(6, dtype=np.float32)).to(device).realize()
    monkeypatch.setattr(eager, "compile_for", together)
    with ThreadPoolExecutor(2) as threads:
        found = [threads.submit(lambda: (x * 3 - 1).numpy()) for _ in range(2)]
        for each in found:
            np.testing.assert_array_equal(each.result(), np.arange(6) * 3 - 1)
    assert len(entries(device)) == 1
    np.testing.assert_array_equal((x * 3 - 1).numpy(), np.arange(6) * 3 - 1)
