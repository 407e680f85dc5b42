"""The table of operators: ONNX name -> the function that builds it from Tallow's own functions.

Each file of operators/ registers its functions with `@operator("Name", since=...)`, or with
`plain` if an operator equals one of Tallow's functions. Operators that can't be composed (shapes
that depend on data, strings, sequences) are functions on NumPy arrays, registered with
`@host_operator`. An operator may have both; the host then handles the cases the other rejects.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...errors import GraphError, OnnxUnsupportedError, OptionError
from ...tensor import Tensor
from .reasons import Reason
from .records import NodeRecord

OLDEST, NEWEST = 7, 28
"""The versions of the standard operator set that the functions implement. Older versions work for
operators that have not changed since (_UNCHANGED) or that `older_operator` defines."""

Result = Tensor | Sequence[Tensor]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operator:
    """How one ONNX operator is built, or computed on the host.

    function(call, *inputs): see call.py; an absent optional input is None. since: the operator
    set that introduced it. min_inputs, max_inputs: the number of inputs (max_inputs None: any).
    On the host the function is function(call, np, *inputs). Its inputs are NumPy arrays (of dtype
    object for strings), lists of values (sequences), or None (an absent input or an empty
    optional); it returns a value or a tuple of values. numbers: whether it also handles numeric
    tensors.
    """

    name: str
    since: int
    function: Callable[..., Result]
    min_inputs: int
    max_inputs: int | None
    numbers: bool = True


Table = dict[tuple[str, str], Operator]

_OPERATORS: Table = {}
_ON_HOST: Table = {}
_CONTROL: Table = {}
_OLDER: Table = {}
"""Definitions from before operator set OLDEST that differ from those in it."""

# Operators whose definition in OLDEST dates from an earlier operator set, by that set.
_UNCHANGED: dict[int, str] = {
    1: (
        "ArgMax ArgMin Constant Conv ConvTranspose DepthToSpace Flatten Gather "
        "GlobalAveragePool GlobalMaxPool Hardmax Identity If LRN LogSoftmax Loop "
        "LpNormalization MatMul MaxPool MaxRoiPool Not RandomNormal RandomNormalLike "
        "RandomUniform RandomUniformLike ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
        "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Shape Size Slice "
        "Softmax Softplus Softsign SpaceToDepth Squeeze TopK Transpose Unsqueeze"
    ),
    2: ("GlobalLpPool LpPool Pad Split"),
    4: ("Concat"),
    5: ("Reshape"),
    6: (
        "Abs Cast Ceil Clip Elu Exp Floor HardSigmoid InstanceNormalization LeakyRelu Log Max "
        "Mean Min Neg Reciprocal Relu Selu Sigmoid Sqrt Sum Tanh Tile"
    ),
}


def _add(table: Table, domain: str, entry: Operator) -> None:
    if (domain, entry.name) in table:
        raise GraphError(f"the ONNX operator {entry.name!r} is registered twice")
    table[domain, entry.name] = entry


def operator(name: str, since: int = 1, domain: str = "") -> Callable[[F], F]:
    """Registers the decorated function(call, *inputs); its signature gives the number of inputs."""
    return _registering(_OPERATORS, name, since, domain, 1)


def host_operator(name: str, since: int = 1, domain: str = "") -> Callable[[F], F]:
    """Registers the decorated function(call, np, *inputs) on host values (see Operator)."""
    return _registering(_ON_HOST, name, since, domain, 2)


def text_operator(name: str, since: int = 1, domain: str = "") -> Callable[[F], F]:
    """Like `host_operator`, for the strings of an operator that is composed for numbers."""
    return _registering(_ON_HOST, name, since, domain, 2, numbers=False)


def control_operator(name: str, since: int = 1) -> Callable[[F], F]:
    """Registers a function that runs graphs of the file; see operators/control.py."""

    def decorate(function: F) -> F:
        _add(_CONTROL, "", Operator(name, since, function, 0, None))
        return function

    return decorate


def older_operator(name: str, since: int) -> Callable[[F], F]:
    """Registers an older definition of an operator, valid from set `since` until OLDEST."""
    return _registering(_OLDER, name, since, "", 1)


def _registering(
    table: Table, name: str, since: int, domain: str, own: int, *, numbers: bool = True
) -> Callable[[F], F]:
    """A decorator for a function whose first `own` arguments are not inputs of the operator."""

    def decorate(function: F) -> F:
        code = function.__code__
        inputs = code.co_argcount - own
        required = inputs - len(function.__defaults__ or ())
        variadic = bool(code.co_flags & inspect.CO_VARARGS)
        entry = Operator(name, since, function, required, None if variadic else inputs, numbers)
        _add(table, domain, entry)
        return function

    return decorate


def plain(name: str, function: Callable[..., Tensor], inputs: int, since: int = 1) -> None:
    """Registers an operator without attributes that equals one of Tallow's functions."""
    _add(
        _OPERATORS,
        "",
        Operator(name, since, lambda call, *tensors: function(*tensors), inputs, inputs),
    )


def find(domain: str, name: str, opset: int | None) -> Operator:
    """The operator in version `opset` of its domain (None: the model does not import the domain).

    Raises OnnxUnsupportedError with the reason if Tallow does not have it.
    """
    entry = operators().get((domain, name))
    if entry is None:
        raise OnnxUnsupportedError(Reason("NO_OPERATOR"))
    return _in_opset(entry, domain, opset)


def _in_opset(entry: Operator, domain: str, opset: int | None) -> Operator:
    """The operator as defined in the given operator set."""
    if opset is None:
        raise OnnxUnsupportedError(Reason("NOT_IMPORTED"))
    if opset < entry.since:
        raise OnnxUnsupportedError(Reason("DEFINED_LATER", (entry.since,)))
    if domain or OLDEST <= opset <= NEWEST:
        return entry
    name = entry.name
    since = next((v for v, names in _UNCHANGED.items() if name in names.split()), OLDEST)
    if since <= opset < OLDEST:
        return entry
    older = _OLDER.get((domain, name))
    if older and older.since <= opset < OLDEST:
        return older
    first = older.since if older else since
    raise OnnxUnsupportedError(Reason("OPERATOR_SETS", (first, NEWEST)))


def find_on_host(node: NodeRecord) -> Operator | None:
    """The host operator for a node; None if there is none."""
    entry = host_operators().get((node.domain, node.op_type))
    return entry if entry and node.opset is not None and node.opset >= entry.since else None


def find_control(node: NodeRecord) -> Operator | None:
    """The control flow operator for a node; None if it is not control flow."""
    return _CONTROL.get((node.domain, node.op_type))


def find_any(node: NodeRecord) -> None:
    """Raises OnnxUnsupportedError with the reason if neither device nor host has the operator."""
    key = node.domain, node.op_type
    other = host_operators().get(key) or find_control(node)
    if key in operators() or other is None:
        find(*key, node.opset)
    else:
        _in_opset(other, node.domain, node.opset)


def operators() -> Mapping[tuple[str, str], Operator]:
    """Every composed operator by (domain, name); the standard domain is "".

    formats/onnx/__init__.py imports the modules that register them.
    """
    return _OPERATORS


def host_operators() -> Mapping[tuple[str, str], Operator]:
    """Every host operator by (domain, name)."""
    return _ON_HOST


def control_operators() -> Mapping[tuple[str, str], Operator]:
    """Every control flow operator by (domain, name)."""
    return _CONTROL


_STANDARD = ("", "ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview.training")
_REGISTERED: set[tuple[str, str]] = set()


def register(domain: str, op_type: str, since: int = 1) -> Callable[[F], F]:
    """Registers an operator of your own domain: a decorator for function(call, *tensors).

        @tl.onnx.register("com.example", "Swish")
        def swish(call, x):
            return x * tl.functional.sigmoid(x * call.get("beta", float, 1.0))

    The function composes Tallow's functions and returns a tensor, or a sequence with one tensor
    per output. Its parameters are the operator's inputs: those with a default are optional (None
    if absent), `*tensors` takes any number. `call` provides the node's attributes (`get`, `ints`,
    `flag`, `choice`), values that must be known when the model is loaded (`known`), and `opset`,
    the version of the domain that the model imports. since: the first version that has the
    operator. Registering it again replaces it, so that a notebook cell can be run twice.

    Raises OptionError for standard domains and for operators that Tallow already has.
    """
    if domain in _STANDARD:
        raise OptionError(
            f"register: {op_type!r} is in the standard domain {domain or 'ai.onnx'!r}; "
            "use a domain of your own, such as 'com.example'"
        )
    if not op_type or since < 1:
        raise OptionError(
            f"register: an operator can't have the name {op_type!r} and the version {since}"
        )
    key = domain, op_type
    if key in _REGISTERED:
        _OPERATORS.pop(key, None)
    elif key in operators() or key in host_operators():
        raise OptionError(f"register: Tallow already has the operator {op_type!r} of {domain!r}")
    _REGISTERED.add(key)
    return operator(op_type, since, domain)
