"""What runs WebAssembly: the seam between the runner and an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ...core.streamed_weights import Part
from .arena import Arena, Extent
from .codegen.assembler import Function, encode

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Instance(Protocol):
    """A module on a memory of a fixed size, and where its own part of that begins.

    threads: how many share its steps. Its part begins with scratch memory for each of them.
    """

    threads: int
    start: int

    def write(self, offset: int, content: ReadableBuffer) -> None:
        """Copies bytes, in any contiguous buffer, into the memory."""

    def write_part(self, offset: int, part: Part) -> None:
        """Copies a part of a streamed file, which has arrived, into the memory."""

    def read(self, offset: int, size: int) -> bytes:
        """Copies bytes out of the memory."""

    def view(self, offset: int, size: int) -> memoryview | None:
        """Bytes in the memory, where Python can address them; None in a browser."""

    def copies(self, moves: Sequence[tuple[int, int, int]]) -> Callable[[], Any]:
        """Copies within the memory, each from an offset to another one so many bytes, as one
        call."""

    def bound(
        self, kernel: Mapping[str, Any], addresses: Sequence[int], scratch: int
    ) -> Callable[[], Any]:
        """A step as a call: its function (devices/wasm/target.py), with these addresses.

        scratch: bytes that each thread has at the beginning of the instance's part.
        """

    def together(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        """What `bound` gave for some steps, as one call."""

    def close(self) -> None:
        """Removes it from the threads, and frees its part of a shared memory."""


class Engine(Protocol):
    """An engine."""

    name: str
    host_memory: bool
    """Whether Python can address the memories of its instances."""

    @property
    def fault(self) -> tuple[type[Exception], ...]:
        """What it raises if a function stops, or a module is refused."""

    def accepts(self, module: bytes) -> bool:
        """Whether it can run a module."""

    @property
    def threads(self) -> int:
        """How many threads share the steps of programs that are loaded afterwards."""

    def use_threads(self, count: int) -> None:
        """Changes that number, where the engine can have threads."""

    def instance(self, module: bytes | None, pages: int, shared: bool) -> Instance:
        """A memory of so many pages, and the module's functions on it. Raises MemoryError.

        shared: whether all threads share it; otherwise it has one.
        """

    def placed(self, module: bytes | None, extent: Extent, shared: bool) -> Instance:
        """As `instance`, on a part of a memory that many programs share, of `arena`. Modules that
        come again are compiled once."""

    def arena(self, shared: bool) -> Arena:
        """The memories of `placed`: those that all threads share, or others."""

    @property
    def arenas(self) -> Sequence[Arena]:
        """All of them."""

    def adopted(self, loaded: Any) -> Instance:
        """The instance of a program that a page has loaded without Python (`Compiled.loaded`)."""


MODULES = 256
"""How many compiled modules an engine keeps for programs that come and go."""

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(Generic[_K, _V]):
    """A table of what was used last, of so many entries at most."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: dict[_K, _V] = {}

    def get(self, key: _K) -> _V | None:
        """The entry, which is now the last used; None if there is none."""
        found = self._entries.pop(key, None)
        if found is not None:
            self._entries[key] = found
        return found

    def put(self, key: _K, value: _V) -> None:
        """Adds an entry, and evicts the least recently used one."""
        self._entries[key] = value
        while len(self._entries) > self._most:
            self._entries.pop(next(iter(self._entries)), None)


def call_all(calls: Sequence[Callable[[], Any]]) -> None:
    """Calls one after the other."""
    for call in calls:
        call()


def has_simd(engine: Engine) -> bool:
    """Whether an engine has vectors, without which no kernel runs."""
    function = Function(["i32"], ["v128"])
    function.emit("local.get", 0)
    function.emit("i32x4.splat")
    return engine.accepts(encode([function]))


def has_relaxed_simd(engine: Engine) -> bool:
    """Whether an engine has relaxed SIMD: it accepts a function that uses it."""
    function = Function(["v128"], ["v128"])
    for _ in range(3):
        function.emit("local.get", 0)
    function.emit("f32x4.relaxed_madd")
    return engine.accepts(encode([function]))
