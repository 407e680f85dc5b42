"""Checks the types of a model's values against the ONNX standard, before anything is built.

A type is a text: a letter of NAMES for a tensor, with "[" before it for a sequence and "?" for an
optional. None is a type that is not known; it fits everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ...core.hostarray import HostArray, StringArray
from ...errors import OnnxFormatError
from .read.tensors import type_name
from .records import GraphRecord, NodeRecord, ValueInfo, shown
from .run.builder import describe
from .type_table import SETS, TABLE

NAMES = {
    "f": "float32", "d": "float64", "h": "float16", "b": "bfloat16",
    "c": "int8", "s": "int16", "i": "int32", "l": "int64",
    "C": "uint8", "S": "uint16", "I": "uint32", "L": "uint64",
    "o": "bool", "t": "string", "q": "float8_e4m3fn", "Q": "float8_e4m3fnuz",
    "r": "float8_e5m2", "R": "float8_e5m2fnuz", "g": "float4_e2m1fn", "e": "float8_e8m0fnu",
    "N": "uint4", "n": "int4", "W": "uint2", "w": "int2",
}  # fmt: skip
_CODES = {name: code for code, name in NAMES.items()}

Types = Mapping[str, str | None]

_CHOSEN: dict[str, tuple[str, str | int]] = {
    "Bernoulli": ("dtype", 0), "BitCast": ("to", ""), "BlackmanWindow": ("output_datatype", "f"),
    "Cast": ("to", ""), "DequantizeLinear": ("output_dtype", 1), "EyeLike": ("dtype", 0),
    "HammingWindow": ("output_datatype", "f"), "HannWindow": ("output_datatype", "f"),
    "MelWeightMatrix": ("output_datatype", "f"), "Multinomial": ("dtype", "i"),
    "QuantizeLinear": ("output_dtype", 2), "RandomNormal": ("dtype", "f"),
    "RandomNormalLike": ("dtype", 0), "RandomUniform": ("dtype", "f"),
    "RandomUniformLike": ("dtype", 0), "SequenceEmpty": ("dtype", "f"),
}  # fmt: skip
"""Operators of which an attribute gives the type of the output; without it, it is this type, or
that of the input with this number."""

_SEQUENCES = ("SequenceConstruct", "SequenceEmpty", "SplitToSequence")
_MEMBERS = ("ConcatFromSequence", "SequenceAt")


class _Version(NamedTuple):
    """A version of an operator: the variables of its inputs and outputs, and the types of each."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    allowed: Mapping[str, frozenset[str] | None]


def check_types(graph: GraphRecord) -> None:
    """Raises OnnxFormatError for the first node whose inputs have types that its operator forbids,
    and for outputs whose types are not those that the file declares."""
    _check(graph, {info.name: _declared(info) for info in graph.inputs}, "the graph")


def _check(graph: GraphRecord, given: Types, what: str) -> list[str | None]:
    """The types of a graph's outputs; given: those of its inputs and of what is around it."""
    types = dict(given)
    for name, value in graph.constants.items():
        types[name] = _of(value)
    for node in graph.nodes:
        try:
            made = _made(node, types)
        except _WrongTypeError as error:
            raise OnnxFormatError(f"{describe(node)}: {error}") from None
        types.update(zip(node.outputs, made))  # noqa: B905  (unused ones are left out)
    results = [types.get(info.name) for info in graph.outputs]
    for info, found in zip(graph.outputs, results, strict=True):
        declared = _declared(info)
        if _differ(declared, found):
            raise OnnxFormatError(
                f"{what} declares its output {shown(info.name)!r} as {_words(declared)}, "
                f"but it is {_words(found)}"
            )
    return [found or _declared(info) for info, found in zip(graph.outputs, results, strict=True)]


class _WrongTypeError(Exception):
    """What is wrong with the types of a node."""


def _made(node: NodeRecord, types: Types) -> Sequence[str | None]:
    """The types of a node's outputs. Raises _WrongTypeError if those of its inputs do not fit."""
    inputs = [types.get(name) for name in node.inputs]
    version = _version(node.domain, node.op_type, node.opset)
    if version is None:
        return ()
    bound: dict[str, tuple[int, str]] = {}
    for index, found in enumerate(inputs):
        letter = _at(version.inputs, index)
        if found is None or letter is None:
            continue
        allowed = version.allowed[letter[0]]
        if allowed is not None and found not in allowed:
            raise _WrongTypeError(
                f"its input {_named(node, index)} is {_words(found)}, but may only be "
                + " or ".join(map(_words, sorted(allowed, key=_order)))
            )
        first, type_ = bound.setdefault(letter[0], (index, found))
        if type_ != found and not letter.endswith("+"):
            raise _WrongTypeError(
                f"its inputs {_named(node, first)} and {_named(node, index)} must have one type, "
                f"but are {_words(type_)} and {_words(found)}"
            )
    if any(isinstance(value, GraphRecord) for value in node.attributes.values()):
        return _control(node, inputs, types)
    made = _special(node, inputs)
    for index in range(len(made), len(node.outputs)):
        letter = _at(version.outputs, index)
        allowed = version.allowed[letter[0]] if letter else None
        if letter and letter in bound:
            made.append(bound[letter][1])
        else:
            made.append(next(iter(allowed)) if allowed and len(allowed) == 1 else None)
    return made


def _special(node: NodeRecord, inputs: Sequence[str | None]) -> list[str | None]:
    """The type of the first output where type variables do not say it; otherwise nothing."""
    kind, first = node.op_type, inputs[0] if inputs else None
    if kind in _CHOSEN and not node.domain:
        attribute, default = _CHOSEN[kind]
        number = node.attributes.get(attribute)
        if isinstance(number, int) and number:
            found = _CODES.get(type_name(number))
        elif isinstance(default, int):
            found = inputs[default] if default < len(inputs) else "C"  # the quantised one's default
        else:
            found = default or None
        return [f"[{found}" if kind == "SequenceEmpty" and found else found]
    if kind in ("Constant", "ConstantOfShape"):
        if "value" not in node.attributes and kind == "ConstantOfShape":
            return ["f"]
        for key, code in ("int", "l"), ("float", "f"), ("string", "t"):
            if f"value_{key}" in node.attributes or f"value_{key}s" in node.attributes:
                return [code]
        return [_of(node.attributes.get("value"))]
    if kind in _SEQUENCES:
        return [first and f"[{first}"]
    if kind in _MEMBERS:
        return [first and first.removeprefix("[")]
    if kind == "Optional":
        return [first and f"?{first}"]
    return [first and first.removeprefix("?")] if kind == "OptionalGetElement" else []


def _control(node: NodeRecord, inputs: Sequence[str | None], outer: Types) -> list[str | None]:
    """The types of the outputs of a node with graphs."""
    kind, graphs = node.op_type, node.attributes
    if kind == "If":
        pairs = [(key, graphs.get(key)) for key in ("then_branch", "else_branch")]
        made = [_check(g, outer, f"{k!r}") for k, g in pairs if isinstance(g, GraphRecord)]
        for index, found in enumerate(zip(*made)):  # noqa: B905  (a run reports other lengths)
            if len(found) > 1 and _differ(*found):
                raise _WrongTypeError(
                    f"its branches give {' and '.join(map(_words, filter(None, found)))} "
                    f"as output {index + 1}"
                )
        return [next(filter(None, found), None) for found in zip(*made)]  # noqa: B905
    body = graphs.get("body")
    if kind not in ("Loop", "Scan", "SequenceMap") or not isinstance(body, GraphRecord):
        return []
    carried = max(0, len(inputs) - 2)
    if kind == "Loop":
        inputs = ["l", "o", *inputs[2:]]
    elif kind == "Scan":
        inputs = inputs[1:] if (node.opset or 0) < 9 else inputs
        scanned = graphs.get("num_scan_inputs")
        carried = len(inputs) - scanned if isinstance(scanned, int) else 0
    else:
        inputs, carried = [x and x.removeprefix("[") for x in inputs], 0
    inner = dict(outer)
    for index, info in enumerate(body.inputs):
        declared, given = _declared(info), inputs[index] if index < len(inputs) else None
        if _differ(declared, given):
            raise _WrongTypeError(
                f"its body declares the input {shown(info.name)!r} as {_words(declared)}, "
                f"but it is given {_words(given)}"
            )
        inner[info.name] = given or declared
    made_inside = _check(body, inner, "its body")
    states = made_inside[kind == "Loop" :]
    for index, (before, after) in enumerate(
        zip(inputs[2 * (kind == "Loop") :][:carried], states)  # noqa: B905
    ):
        if _differ(before, after):
            raise _WrongTypeError(
                f"its value {index + 1} that goes from turn to turn is {_words(before)}, "
                f"but the body makes it {_words(after)}"
            )
    return [x and f"[{x}" for x in states] if kind == "SequenceMap" else states


def _differ(one: str | None, other: str | None) -> bool:
    """Whether two types are known and differ; an optional may be what is in it."""
    return bool(one and other) and (one or "").lstrip("?") != (other or "").lstrip("?")


def _at(formals: Sequence[str], index: int) -> str | None:
    """The variable of an input or output; the last may stand for all that follow."""
    if index < len(formals):
        return formals[index].rstrip("*")
    return formals[-1].rstrip("*") if formals and len(formals[-1]) > 1 else None


def _named(node: NodeRecord, index: int) -> str:
    return f"{index + 1} ({shown(node.inputs[index])!r})"


def _of(value: object) -> str | None:
    """The type of a constant."""
    if isinstance(value, StringArray):
        return "t"
    return _CODES.get(value.dtype.name) if isinstance(value, HostArray) else None


def _declared(info: ValueInfo | None) -> str | None:
    """The type that the file gives."""
    if info is None or info.kind == "tensor":
        return _CODES.get(info.type) if info else None
    inner = _declared(info.element)
    return inner and {"sequence": "[", "optional": "?"}.get(info.kind, "") + inner


def _words(type_: str | None) -> str:
    if type_ is None:
        return "not known"
    if type_[0] == "[":
        return f"a sequence of {_words(type_[1:])}"
    return f"an optional {_words(type_[1:])}" if type_[0] == "?" else NAMES[type_]


def _order(type_: str) -> tuple[int, int]:
    return len(type_), [*NAMES].index(type_[-1])


@cache
def _lines() -> dict[str, str]:
    return dict(line.split(" ", 1) for line in TABLE.splitlines())


@cache
def _version(domain: str, name: str, opset: int | None) -> _Version | None:
    """The version of an operator in an operator set; None if the table does not have it."""
    if opset is None:
        return None
    found = None
    for version in _lines().get(f"{domain}:{name}" if domain else name, "").split("; "):
        if version and int(version.split(" ", 1)[0]) <= opset:
            found = version
    if found is None:
        return None
    _, formals, sets = found.split(" ")
    inputs, outputs = (_letters(side) for side in formals.split(">"))
    allowed = {chr(ord("A") + index): _set(text) for index, text in enumerate(sets.split(","))}
    return _Version(inputs, outputs, allowed)


def _letters(text: str) -> list[str]:
    found: list[str] = []
    for letter in text:
        if letter in "*+":
            found[-1] += letter
        else:
            found.append(letter)
    return found


@cache
def _set(text: str) -> frozenset[str] | None:
    if text.isdigit():
        text = SETS.splitlines()[int(text)]
    if text == ".":
        return None
    parts = [(part.rstrip("".join(NAMES)), part) for part in text.split("/")]
    return frozenset(around + code for around, part in parts for code in part[len(around) :])
