"""Forms: ONNX operators as nodes of a graph, so that passes can work on them before writing.

    fold, simplify   evaluate constants and remove duplicates (compile/)
    tidy             turns convolutions, pools and products into ONNX's, channels first, between
                     permutes that cancel each other (window_forms.py; passes/layout.py)
    idioms           moves biases into Conv and Gemm; finds Relu, Clip, Softmax (idioms.py)
    elements         everything else, one to one (the record's `onnx`) or by element_forms.py

The result is a graph whose nodes are inputs, constants and forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from ....core import dtype as dt
from ....core.dtype import DType
from ....core.hostarray import from_values
from ....core.shape import Shape
from ....errors import OnnxUnsupportedError
from ....graph import Node, constant, make
from ....ops.kinds import Attrs, Op, Spec

Inputs = tuple[Node, ...]
Rule = Callable[[Node, Inputs], Node]


@dataclass(frozen=True, eq=False)
class Form(Op):
    """An ONNX operator as the op of a node. Its attrs hold shape and type; `attributes` are those
    of ONNX. It is only written, never run, so it is not in the registry."""

    def __post_init__(self) -> None:
        pass

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        return attrs["shape"], attrs["dtype"]


@cache
def _op(name: str) -> Form:
    def not_run(*_: object, **__: object) -> NoReturn:
        raise AssertionError(f"the ONNX form {name} is written to a file, not run")

    return Form(name, not_run, onnx=name)


def form(
    name: str,
    *inputs: Node,
    shape: Shape | None = None,
    dtype: DType | None = None,
    before: int = 0,
    **attributes: object,
) -> Node:
    """An ONNX node; shape and type default to those of the first input.

    before: how many outputs of the operator precede this one.
    """
    return make(
        _op(name),
        *inputs,
        shape=inputs[0].shape if shape is None else shape,
        dtype=dtype or inputs[0].dtype,
        attributes=tuple(sorted(attributes.items())),
        before=before,
    )


def absent() -> Node:
    """Stands for an absent optional input."""
    return make(_op(""), shape=(0,), dtype=dt.float32, attributes=(), before=0)


def is_form(node: Node, name: str) -> bool:
    """Whether the node is that ONNX operator."""
    return node.op is _op(name)


def attributes_of(node: Node) -> dict[str, Any]:
    """The ONNX attributes of a form."""
    return dict(node.attrs["attributes"])


def integers(*values: int) -> Node:
    """A constant list of int64, as ONNX expects for shapes and axes."""
    return constant(from_values(values, (len(values),), dt.int64))


def number(value: float, dtype: DType) -> Node:
    """A constant without axes."""
    return constant(from_values([value], (), dtype))


def cast(node: Node, dtype: DType) -> Node:
    """A Cast, unless the type is already right."""
    return node if node.dtype == dtype else form("Cast", node, dtype=dtype, to=dtype)


def refused(node: Node, types: str) -> OnnxUnsupportedError:
    """The error for a node whose types ONNX does not have. types: those that it has."""
    return OnnxUnsupportedError(
        f"save: {node.op.name} of {node.inputs[0].dtype.name} {node.inputs[0].shape} has no ONNX "
        f"form; ONNX supports it only for {types}: cast the operand"
    )


def wide_enough(dtype: DType) -> DType:
    """The type in which ONNX sums: it has no 8- or 16-bit sums; wider ones wrap around alike."""
    if dtype.is_floating or dtype.size >= 4:
        return dtype
    return dt.int32 if dtype.kind == "i" else dt.uint32
