"""What runs WebAssembly: the seam between the runner and an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...codegen.wasm.assembler import Function, encode
from ...streamed_weights import Part

PAGE = 65536
"""Bytes of a page of memory."""


class Instance(Protocol):
    """A module with a memory of a fixed size."""

    def write(self, offset: int, content: Any) -> None:
        """Copies bytes, in any contiguous buffer, into the memory."""

    def write_part(self, offset: int, part: Part) -> None:
        """Copies a part of a streamed file, which has arrived, into the memory."""

    def read(self, offset: int, size: int) -> bytes:
        """Copies bytes out of the memory."""

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the module."""


class Engine(Protocol):
    """An engine."""

    name: str

    @property
    def fault(self) -> tuple[type[Exception], ...]:
        """What it raises if a function stops, or a module is refused."""

    def accepts(self, module: bytes) -> bool:
        """Whether it can run a module."""

    def instance(self, module: bytes | None, pages: int) -> Instance:
        """A memory of so many pages, and the module's functions on it. Raises MemoryError."""

    def adopted(self, loaded: Any) -> Instance:
        """The instance of a program that a page has loaded without Python (`Compiled.loaded`)."""


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
