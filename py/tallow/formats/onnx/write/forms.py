"""Forms: ONNX operators as nodes of a graph, so that passes can work on them before writing.

    fold, simplify   what is known and said twice (compile/)
    tidy             convolutions, pools and products become ONNX's, channels first, in permutes
                     that meet their opposites and vanish (window_forms.py; passes/layout.py)
    idioms           biases move into Conv and Gemm; Relu, Clip, Softmax are found (idioms.py)
    elements         everything else, one for one (the record's `onnx`) or by element_forms.py

The result is a graph whose nodes are inputs, constants and forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .... import dtype as dt
from ....dtype import DType
from ....errors import OnnxUnsupportedError
from ....graph import Node, constant, make
from ....hostarray import from_values
from ....op import Attrs, Op, Spec
from ....shape import Shape

Inputs = tuple[Node, ...]
Rule = Callable[[Node, Inputs], Node]


@dataclass(frozen=True, eq=False)
class Form(Op):
    """An ONNX operator as the op of a node. Shape and type stand in the attributes; `attributes`
    are those of ONNX. It is written, never run, so the registry does not have it."""

    def __post_init__(self) -> None:
        pass

    def infer(self, operands: Any, attrs: Attrs) -> Spec:
        return attrs["shape"], attrs["dtype"]


@cache
def _op(name: str) -> Form:
    def not_run(*_: Any, **__: Any) -> Any:
        raise AssertionError(f"the ONNX form {name} is written to a file, not run")

    return Form(name, not_run, onnx=name)


def form(
    name: str,
    *inputs: Node,
    shape: Shape | None = None,
    dtype: DType | None = None,
    before: int = 0,
    **attributes: Any,
) -> Node:
    """An ONNX node; shape and type are those of the first input where they are not given.

    before: how many outputs, which nobody reads, the operator has before this one.
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
    """Stands for an optional input that is not given."""
    return make(_op(""), shape=(0,), dtype=dt.float32, attributes=(), before=0)


def is_form(node: Node, name: str) -> bool:
    """Whether the node is that ONNX operator."""
    return node.op is _op(name)


def attributes_of(node: Node) -> dict[str, Any]:
    """The ONNX attributes of a form."""
    return dict(node.attrs["attributes"])


def integers(*values: int) -> Node:
    """A constant list of int64, as ONNX wants shapes and axes."""
    return constant(from_values(values, (len(values),), dt.int64))


def number(value: Any, dtype: DType) -> Node:
    """A constant without axes."""
    return constant(from_values([value], (), dtype))


def cast(node: Node, dtype: DType) -> Node:
    """A Cast, where the type is another."""
    return node if node.dtype == dtype else form("Cast", node, dtype=dtype, to=dtype)


def refused(node: Node, types: str) -> OnnxUnsupportedError:
    return OnnxUnsupportedError(
        f"save: {node.op.name} of {node.inputs[0].dtype.name} {node.inputs[0].shape} has no ONNX "
        f"form; ONNX has it for {types}: cast the operand"
    )


def wide_enough(dtype: DType) -> DType:
    """The type in which ONNX sums: it has no sums of 8 and 16 bits. They wrap round alike."""
    if dtype.is_floating or dtype.size >= 4:
        return dtype
    return dt.int32 if dtype.kind == "i" else dt.uint32
