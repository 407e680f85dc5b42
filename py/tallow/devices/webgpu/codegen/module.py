"""A WGSL module: its bindings, its params, its functions and the text of all. Pure functions.

generated.py and hand_written.py make the functions; group.py chooses between them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....codegen.index import Coord
from ....codegen.layout import Region
from ....graph import Node
from ....ops.positions import update_at
from . import storage
from .expression import Expression
from .index_text import text_of
from .lines import Line, written
from .literal import PRIVATE_BITS
from .params import Params

MAX_WORKGROUPS = 65535  # along one dispatch axis, on every WebGPU device

_ENABLE = re.compile(r"^enable [^;]+;\n+", re.M)
_MAIN = re.compile(r"^fn main\([^{]*\{\n", re.M)
_RESULT = "result"  # the name of the binding that is written


@dataclass(frozen=True)
class Result:
    """What a kernel computes, and where it writes it.

    region: where it is in its binding, if that holds more. over: the reads that lie in its binding,
    over which it is written element by element.
    """

    root: Node
    region: Region | None = None
    over: Collection[Node] = ()

    @property
    def writes_region(self) -> bool:
        """Whether it is an update of what lies in its binding: the rest is there."""
        return self.root.op is update_at and self.root.inputs[0] in self.over

    def flat_index(self, linear: Coord) -> Coord:
        """Where the element at a flat index of the root is written."""
        return self.region.flat_index(linear) if self.region else linear


@dataclass(frozen=True)
class Kernel:
    """A WGSL module with entry point `main`, and what a dispatch of it needs.

    params: the fields of its uniform, bound after everything else. constants: values for its
    override constants. op: the name of the user-defined op that it is the text of, empty where
    Tallow made the text.
    """

    text: str
    workgroups: tuple[int, int, int]
    params: list[int] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    op: str = ""


class Module:
    """What the functions of one module share. builtins: see Traits."""

    def __init__(self, reads: Sequence[Node], result: Result, builtins: bool = False) -> None:
        self.builtins = builtins
        self.result = result
        self.bound = [node for node in reads if node not in result.over]
        self.reads = {node: f"b{binding}" for binding, node in enumerate(self.bound)}
        self.reads |= dict.fromkeys(result.over, _RESULT)
        self.declared: dict[str, int] = {}
        self.helpers: dict[str, str] = {}
        self.params = Params()

    def body(self, **options: Any) -> Expression:
        """The body of one of its functions."""
        return Expression(
            self.reads, self.declared, self.helpers, builtins=self.builtins, **options
        )

    def text(
        self, title: str, functions: Sequence[Sequence[Line]], result_width: int, kept: str = ""
    ) -> str:
        """The finished module: generated functions, and what a kernel file adds to them."""
        bindings = []
        for binding, node in enumerate(self.bound):
            kind = storage.array_type(node.dtype, self.declared.get(self.reads[node], 1))
            bindings.append(_binding(binding, "read", self.reads[node], kind))
        self.declared[_RESULT] = result_width
        kind = storage.array_type(self.result.root.dtype, result_width)
        bindings.append(_binding(len(self.bound), "read_write", _RESULT, kind))
        generated = self.params.lift(written(functions, self.declared))
        bindings.append(self.params.declaration(len(bindings)))
        parts = ["\n".join(bindings).strip(), *self.helpers.values(), generated, kept]
        content = "\n\n".join([parts[0], _naming_all(list(self.reads.values()), parts[1:])])
        enables = map(str.strip, _ENABLE.findall(content))  # these must come before all else
        content = _ENABLE.sub("", content)
        bits = [
            f"var<private> {name}: u32 = {value};"
            for name, value in PRIVATE_BITS.items()
            if re.search(rf"\b{name}\b", content)
        ]
        return "\n".join([f"// {title}", *enables, *bits, content.strip(), ""])

    def store(self, linear: Coord, width: int, value: str) -> str:
        """Writes `width` elements of the root, from its flat index `linear` on."""
        at = text_of(self.result.flat_index(linear) // width)
        return storage.store(_RESULT, self.result.root.dtype, at, width, value)


def _binding(number: int, access: str, name: str, kind: str) -> str:
    return f"@group(0) @binding({number}) var<storage, {access}> {name}: array<{kind}>;"


def _naming_all(names: Sequence[str], parts: Sequence[str]) -> str:
    """The text, with a mention of each binding that it does not read: an index along one element
    is not looked up, but layouts are made of what is mentioned."""
    content = "\n\n".join(parts)
    unread = [name for name in names if not re.search(rf"\b{name}\b", content)]
    mentions = "".join(f"    _ = &{name};\n" for name in unread)
    return _MAIN.sub(lambda found: found[0] + mentions, content, count=1) if mentions else content
