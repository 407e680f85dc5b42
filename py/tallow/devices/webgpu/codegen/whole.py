"""Whole WGSL modules that users write: what is checked of them, and the kernel of one.

The text keeps its lines, so that the line in a device's error is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....core.dtype import DType
from ....errors import DTypeError, OptionError
from ....graph import Node
from ....ops.kinds import Custom, Operand
from .module import MAX_WORKGROUPS, Kernel

NAME = "webgpu"
"""Of the device whose kernels these are."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_BINDING = re.compile(
    r"(?P<attributes>(?:@(?:group|binding)\s*\(\s*\d+u?\s*\)\s*){2})"
    r"var\s*<\s*(?P<space>\w+)\s*(?:,\s*(?P<access>\w+)\s*)?>\s*(?P<name>\w+)\s*:\s*(?P<type>[^;]+);"
)
_ATTRIBUTE = re.compile(r"@(group|binding)\s*\(\s*(\d+)")
_ANY_BINDING = re.compile(r"@\s*binding\b")
_SCALARS = {"f": "f32", "i": "i32", "u": "u32"}
_ARRAY = re.compile(r"array<(?:(f32|i32|u32)|vec[24](?:<(f32|i32|u32)>|([fiu])))>")
_OVERRIDE = re.compile(r"(@id\s*\([^)]*\)\s*)?\boverride\s+(\w+)[^;=]*(=)?")
_MAIN = re.compile(r"\bfn\s+main\s*\([^{]*\{")


@dataclass(frozen=True)
class WholeKernel:
    """A whole WGSL module of a user's, with entry point `main` and a binding for each operand, in
    their order, and one for the result.

    scalars: the WGSL type of a scalar in each binding. overrides: the module's override constants,
    with whether they have a value of their own. workgroups, constants: of the operands, the size
    of the dispatch, and values of override constants.
    """

    text: str
    scalars: tuple[str, ...]
    overrides: Mapping[str, bool]
    workgroups: Callable[..., tuple[int, int, int]]
    constants: Callable[..., Mapping[str, Any]]

    def check(self, op: str, types: Sequence[DType]) -> None:
        """Raises DTypeError if elements of these types, the result's last, aren't what it reads and
        writes."""
        for number, (each, wanted) in enumerate(zip(types, self.scalars, strict=True)):
            if scalar_of(each) != wanted:
                which = "the result" if number == len(types) - 1 else f"operand {number}"
                raise DTypeError(f"{op}: {which} is {each.name}, but its WGSL has {wanted} there")


def scalar_of(dtype: DType) -> str:
    """The WGSL type in which a kernel finds the elements of a type: bools as u32, 0 or 1."""
    return _SCALARS.get(dtype.kind, "u32")


def checked_kernel(
    op: str,
    text: str,
    operands: int,
    workgroups: Callable[..., tuple[int, int, int]],
    constants: Callable[..., Mapping[str, Any]] | None,
) -> WholeKernel:
    """The kernel of an op that a user declares. Raises OptionError for what is no text, and for one
    that does not bind `operands` arrays and a result, or has no entry point."""
    if not isinstance(text, str):
        raise OptionError(f"{op}: wgsl= must be the text of a module, not {text!r}")
    code = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    main = _MAIN.search(code)
    if main is None or not re.search(r"@compute\b", code):
        raise OptionError(
            f"{op}: its WGSL has no entry point; write "
            "@compute @workgroup_size(64) fn main(...) { ... }"
        )
    names, scalars = _bindings(op, code, operands)
    overrides: dict[str, bool] = {}
    for number, name, valued in _OVERRIDE.findall(code):
        if number:
            raise OptionError(f"{op}: its WGSL numbers the override {name}; leave out the @id")
        overrides[name] = bool(valued)
    missing = [name for name, valued in overrides.items() if not valued]
    if missing and constants is None:
        raise OptionError(
            f"{op}: its WGSL needs values of {', '.join(missing)}; give constants=, a function of "
            "the operands that returns them by name"
        )
    # A binding that the text does not read is left out of the pipeline's layout.
    mentions = "".join(f" _ = &{name};" for name in names)
    text = text[: main.end()] + mentions + text[main.end() :]
    return WholeKernel(text, scalars, overrides, workgroups, constants or (lambda *operands: {}))


def _bindings(op: str, code: str, operands: int) -> tuple[list[str], tuple[str, ...]]:
    """The names of the bindings, and the scalars in them, in the order of their numbers."""
    found = {}
    for match in _BINDING.finditer(code):
        attributes = dict(_ATTRIBUTE.findall(match["attributes"]))
        if attributes.get("group") == "0" and "binding" in attributes:
            found[int(attributes["binding"])] = match
    wanted = operands + 1
    if sorted(found) != list(range(wanted)) or len(_ANY_BINDING.findall(code)) != wanted:
        raise OptionError(
            f"{op}: its WGSL must bind {operands} operands and the result, as @group(0) "
            f"@binding(0) to @binding({operands}), each a var<storage>; it has "
            f"{len(found)} of them: {sorted(found)}"
        )
    names, scalars = [], []
    for number in range(wanted):
        match = found[number]
        access = "read" if number < operands else "read_write"
        if match["space"] != "storage" or (match["access"] or "read") != access:
            what = f"operand {number}" if number < operands else "the result"
            raise OptionError(
                f"{op}: @binding({number}) of its WGSL, {match['name']}, is {what}; declare it as "
                f"var<storage, {access}>"
            )
        array = _ARRAY.fullmatch(re.sub(r"\s", "", match["type"]).rstrip(",").replace(",>", ">"))
        if array is None:
            raise OptionError(
                f"{op}: @binding({number}) of its WGSL, {match['name']}, has the type "
                f"{match['type'].strip()}; declare an array of f32, i32 or u32, or of vec2 or vec4 "
                "of them, without a length"
            )
        names.append(match["name"])
        scalars.append(array[1] or array[2] or _SCALARS[array[3]])
    return names, tuple(scalars)


def whole(node: Node, op: Custom) -> Kernel:
    """The kernel of a custom op's node. Raises OptionError where the op has no WGSL, or where its
    functions give no workgroups or constants."""
    kernel: WholeKernel | None = op.kernels.get(NAME)
    if kernel is None:
        raise OptionError(
            f"{op.title}: it has no code for WebGPU; give wgsl=, or compute it on the device "
            "'numpy' or 'wasm'"
        )
    operands = [Operand(child.shape, child.dtype) for child in node.inputs]
    constants = _constants(op.title, kernel, operands)
    groups = _workgroups(op.title, kernel.workgroups(*operands))
    return Kernel(kernel.text, groups, [], constants, op.title)


def _constants(op: str, kernel: WholeKernel, operands: Sequence[Operand]) -> dict[str, Any]:
    given = dict(kernel.constants(*operands))
    unknown = [str(name) for name in given if name not in kernel.overrides]
    missing = [n for n, valued in kernel.overrides.items() if not valued and n not in given]
    if unknown or missing:
        wrong = [f"unknown {', '.join(unknown)}"] if unknown else []
        wrong += [f"missing {', '.join(missing)}"] if missing else []
        declared = ", ".join(kernel.overrides) or "none"
        raise OptionError(
            f"{op}: constants= gives {'; '.join(wrong)} (its WGSL declares the overrides "
            f"{declared})"
        )
    for name, value in given.items():
        if not isinstance(value, (bool, int, float)):
            raise OptionError(f"{op}: constants= gives {name}={value!r}, which is no number")
    return given


def _workgroups(op: str, given: Any) -> tuple[int, int, int]:
    sizes = given if isinstance(given, (tuple, list)) else (given,)
    fits = 1 <= len(sizes) <= 3 and all(
        isinstance(size, int) and 1 <= size <= MAX_WORKGROUPS for size in sizes
    )
    if not fits:
        raise OptionError(
            f"{op}: workgroups= gives {given!r}; it must be one to three whole numbers from 1 to "
            f"{MAX_WORKGROUPS}"
        )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
