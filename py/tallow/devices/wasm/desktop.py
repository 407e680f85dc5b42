"""The engine of the package `wasmtime`."""

from __future__ import annotations

import atexit
import ctypes
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import wasmtime
from wasmtime import _ffi

from ...core.streamed_weights import Part
from ...errors import PlanError
from . import threads
from .arena import Arena, Extent
from .codegen.assembler import with_shared_memory
from .engine import MODULES, Recent, call_all

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_alive: WeakSet[Any] = WeakSet()
"""Engines, stores, shared memories and modules that are kept. What is still there when Python ends
would be deleted by functions of wasmtime that are gone by then, with a message."""


@atexit.register
def _close() -> None:
    for each in sorted(_alive, key=lambda each: isinstance(each, wasmtime.Engine)):
        each.close()


class _SharedMemory(wasmtime.SharedMemory):
    """A memory of several stores."""

    def _as_extern(self) -> _ffi.wasmtime_extern_t:
        """As an import. wasmtime 50 gives a pointer too many here, which ctypes refuses."""
        union = _ffi.wasmtime_extern_union(sharedmemory=self.ptr())
        return _ffi.wasmtime_extern_t(_ffi.WASMTIME_EXTERN_SHAREDMEMORY, union)


class _Call:
    """A function with its arguments, which are converted once: wasmtime's own call asks for the
    type of each of them every time."""

    __slots__ = ("_count", "_function", "_store", "_values")

    def __init__(
        self, store: wasmtime.Store, function: wasmtime.Func, numbers: Sequence[int]
    ) -> None:
        self._store = store
        self._function = ctypes.byref(function._func)
        self._count = len(numbers)
        self._values = (_ffi.wasmtime_val_t * len(numbers))()
        for value, number in zip(self._values, numbers, strict=True):
            value.kind = _ffi.WASMTIME_I32.value
            value.of.i32 = number

    def __call__(self) -> None:
        trap = ctypes.POINTER(_ffi.wasm_trap_t)()
        error = _ffi.wasmtime_func_call(
            self._store._context(),
            self._function,
            self._values,
            self._count,
            None,
            0,
            ctypes.byref(trap),
        )
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)
        if trap:
            raise wasmtime.Trap._from_ptr(trap)

    def part(self, first: int, end: int) -> None:
        """Calls it for some units, its last two arguments."""
        self._values[self._count - 2].of.i32 = first
        self._values[self._count - 1].of.i32 = end
        self()


class _Pool:
    """Threads that share steps with the caller's. They are Python's: a call of wasmtime lets other
    threads run."""

    def __init__(self, count: int) -> None:
        self.threads = count
        self._executor = ThreadPoolExecutor(count - 1, "tallow-wasm")

    def run(self, calls: Sequence[Callable[..., Any]], cuts: Sequence[int]) -> None:
        """Makes all parts of a step. calls: that of each thread."""
        parts = deque(pairwise(cuts))

        def take(call: Callable[..., Any]) -> None:
            while True:
                try:
                    part = parts.popleft()
                except IndexError:
                    return
                call(*part)

        helpers = [self._executor.submit(take, call) for call in calls[1:]]
        begun = helpers
        try:
            take(calls[0])
        finally:
            parts.clear()  # if it stopped, nobody begins another one
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
        for helper in begun:
            helper.result()


class WasmtimeInstance:
    """An Instance (engine.py) of wasmtime: a store for each thread, since none may use two.

    extent: the part of a shared memory that it has; None if its memory is its own, of so many
    pages. A memory that is not shared belongs to a store, which would keep the functions of all
    programs for as long as it lives: so all memories of several programs are shared ones.
    """

    def __init__(
        self,
        engine: wasmtime.Engine,
        module: wasmtime.Module | None,
        pages: int,
        pool: _Pool | None,
        extent: Extent | None = None,
    ) -> None:
        self.threads = pool.threads if pool else 1
        self._pool = pool
        self._extent = extent
        self._stores = [wasmtime.Store(engine) for _ in range(self.threads)]
        _alive.update(self._stores)
        self._memory: wasmtime.Memory | _SharedMemory
        if extent:
            self._memory = extent.memory
        elif pool:
            self._memory = _shared_memory(engine, pages)
        else:
            kind = wasmtime.MemoryType(wasmtime.Limits(pages, pages))
            with _memory_errors():
                self._memory = wasmtime.Memory(self._stores[0], kind)
        which = () if extent or pool else (self._stores[0],)
        self.start = extent.start if extent else 0
        size = self._memory.data_len(*which)
        address = ctypes.addressof(self._memory.data_ptr(*which).contents)
        self._bytes = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
        self._exports: list[dict[str, Any]] = []
        if module is not None:
            for store in self._stores:
                made = wasmtime.Instance(store, module, [self._memory])
                self._exports.append(dict(made.exports(store).items()))

    def write(self, offset: int, content: ReadableBuffer) -> None:
        given = memoryview(content)
        if given.nbytes:  # a view without elements cannot be cast
            self._bytes[offset : offset + given.nbytes] = given.cast("B")

    def write_part(self, offset: int, part: Part) -> None:
        self.write(offset, part.take())

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._bytes[offset : offset + size])

    def view(self, offset: int, size: int) -> memoryview:
        return self._bytes[offset : offset + size]

    def copies(self, moves: Sequence[tuple[int, int, int]]) -> Callable[[], Any]:
        views = [
            (self._bytes[source : source + size], self._bytes[target : target + size])
            for source, target, size in moves
        ]

        def copy() -> None:
            for read, written in views:
                written[:] = read

        return copy

    def bound(
        self, kernel: Mapping[str, Any], addresses: Sequence[int], scratch: int
    ) -> Callable[[], Any]:
        start, units = self.start, kernel.get("units")
        given = [] if units is None else [0, units]
        calls = [
            _Call(
                store,
                exports[kernel["function"]],
                [*threads.arguments(kernel, addresses, start + number * scratch), *given],
            )
            for number, (store, exports) in enumerate(zip(self._stores, self._exports, strict=True))
        ]
        if units is None or self._pool is None:
            return calls[0]
        parts = [call.part for call in calls]
        return partial(self._pool.run, parts, threads.cuts(units, self.threads))

    def together(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        return partial(call_all, calls)

    def close(self) -> None:
        """The stores and a memory of its own go with the last that holds them."""
        self._exports, self._stores, self._bytes = [], [], memoryview(b"")
        if self._extent:
            self._extent.close()


def _shared_memory(engine: wasmtime.Engine, pages: int) -> _SharedMemory:
    kind = wasmtime.MemoryType(wasmtime.Limits(pages, pages), shared=True)
    with _memory_errors():
        memory = _SharedMemory(engine, kind)
    _alive.add(memory)
    return memory


@contextmanager
def _memory_errors() -> Iterator[None]:
    try:
        yield
    except wasmtime.WasmtimeError as error:
        raise MemoryError(str(error)) from error


class WasmtimeEngine:
    """The engine, one for all programs."""

    host_memory = True
    fault = (wasmtime.WasmtimeError, wasmtime.Trap)

    def __init__(self) -> None:
        self.name = f"wasmtime {version('wasmtime')}"
        config = wasmtime.Config()
        config.shared_memory = True
        self._engine = wasmtime.Engine(config)
        _alive.add(self._engine)
        self._pool: _Pool | None = None
        self.use_threads(threads.usual())
        self._arena = Arena(partial(_shared_memory, self._engine))
        self._modules = Recent[bytes, wasmtime.Module](MODULES)

    @property
    def threads(self) -> int:
        return self._pool.threads if self._pool else 1

    def use_threads(self, count: int) -> None:
        self._pool = _Pool(count) if count > 1 else None

    def accepts(self, module: bytes) -> bool:
        try:
            wasmtime.Module.validate(self._engine, module)
        except wasmtime.WasmtimeError:
            return False
        return True

    def instance(self, module: bytes | None, pages: int, shared: bool) -> WasmtimeInstance:
        pool = self._pool if shared else None
        code = with_shared_memory(module) if module and pool else module
        compiled = code and wasmtime.Module(self._engine, code)
        return WasmtimeInstance(self._engine, compiled or None, pages, pool)

    def placed(self, module: bytes | None, extent: Extent, shared: bool) -> WasmtimeInstance:
        compiled = None
        if module is not None:
            compiled = self._modules.get(module)
            if compiled is None:
                compiled = wasmtime.Module(self._engine, with_shared_memory(module))
                self._modules.put(module, compiled)
                _alive.add(compiled)
        pool = self._pool if shared else None
        return WasmtimeInstance(self._engine, compiled, 0, pool, extent)

    def arena(self, shared: bool) -> Arena:
        return self._arena

    @property
    def arenas(self) -> list[Arena]:
        return [self._arena]

    def adopted(self, loaded: object) -> WasmtimeInstance:
        raise PlanError("a program that a page has loaded cannot run outside of it")
