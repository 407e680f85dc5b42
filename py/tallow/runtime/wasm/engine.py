"""What runs WebAssembly: the seam between the runner and an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ...codegen.wasm.assembler import Function, encode
from ...streamed_weights import Part

PAGE = 65536
"""Bytes of a page of memory."""


class Instance(Protocol):
    """A module with a memory of a fixed size.

    threads: how many share its steps. The memory begins with scratch memory for each of them.
    """

    threads: int

    def write(self, offset: int, content: Any) -> None:
        """Copies bytes, in any contiguous buffer, into the memory."""

    def write_part(self, offset: int, part: Part) -> None:
        """Copies a part of a streamed file, which has arrived, into the memory."""

    def read(self, offset: int, size: int) -> bytes:
        """Copies bytes out of the memory."""

    def copies(self, moves: Sequence[tuple[int, int, int]]) -> Callable[[], Any]:
        """Copies within the memory, each from an offset to another one so many bytes, as one
        call."""

    def bound(
        self, kernel: Mapping[str, Any], addresses: Sequence[int], scratch: int
    ) -> Callable[[], Any]:
        """A step as a call: its function (compile/targets/wasm.py), with these addresses.

        scratch: bytes that each thread has at the beginning of the memory.
        """

    def together(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        """What `bound` gave for some steps, as one call."""

    def close(self) -> None:
        """Lets the threads forget it."""


class Engine(Protocol):
    """An engine."""

    name: str

    @property
    def fault(self) -> tuple[type[Exception], ...]:
        """What it raises if a function stops, or a module is refused."""

    def accepts(self, module: bytes) -> bool:
        """Whether it can run a module."""

    @property
    def threads(self) -> int:
        """How many threads share the steps of programs that are loaded from now on."""

    def use_threads(self, count: int) -> None:
        """Changes that number, where the engine can have threads."""

    def instance(self, module: bytes | None, pages: int, shared: bool) -> Instance:
        """A memory of so many pages, and the module's functions on it. Raises MemoryError.

        shared: whether all threads share it; otherwise it has one.
        """

    def adopted(self, loaded: Any) -> Instance:
        """The instance of a program that a page has loaded without Python (`Compiled.loaded`)."""


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
