"""The table of operators: ONNX name -> the function that composes it of Tallow's own.

A file of operators/ enters its functions with `@operator("Name", since=...)`, or, where an
operator is exactly one of Tallow's functions, as a row of a table with `plain`. What composition
can't do (shapes that depend on data, texts, sequences) is entered with `@host_operator`: a function
on NumPy arrays. An operator may have both; then the host's is for what the other one refuses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...errors import GraphError, OnnxUnsupportedError, OptionError
from ...tensor import Tensor
from .records import NodeRecord

OLDEST, NEWEST = 7, 28
"""The versions of the standard operator set whose definitions the functions follow. Of older ones
they follow what did not change; see _UNCHANGED and `older_operator` for the rest."""

Result = Tensor | Sequence[Tensor]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operator:
    """How one ONNX operator is made, or computed on the host.

    function(call, *inputs): see call.py; an absent optional input is None. since: the operator
    set that brought it. fewest, most: how many inputs (most None: any number).
    On the host it is function(call, np, *inputs), on values: NumPy arrays (texts: of the dtype
    object), lists of values (sequences), None (an absent input, or an empty optional); it gives a
    value, or a tuple of them. numbers: whether it also serves for tensors of numbers.
    """

    name: str
    since: int
    function: Callable[..., Result]
    fewest: int
    most: int | None
    numbers: bool = True


Table = dict[tuple[str, str], Operator]

_OPERATORS: Table = {}
_ON_HOST: Table = {}
_CONTROL: Table = {}
_OLDER: Table = {}
"""Of definitions before operator set OLDEST that differ from those in it."""

# Operators whose definition in operator set OLDEST is older, by the set that brought it.
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


def _enter(table: Table, domain: str, entry: Operator) -> None:
    if (domain, entry.name) in table:
        raise GraphError(f"the ONNX operator {entry.name!r} is entered twice")
    table[domain, entry.name] = entry


def operator(name: str, since: int = 1, domain: str = "") -> Callable[[F], F]:
    """Enters the decorated function(call, *inputs); its signature says how many inputs."""
    return _entering(_OPERATORS, name, since, domain, 1)


def host_operator(name: str, since: int = 1, domain: str = "") -> Callable[[F], F]:
    """Enters the decorated function(call, np, *inputs) on values of the host (see Operator)."""
    return _entering(_ON_HOST, name, since, domain, 2)


def text_operator(name: str, since: int = 1) -> Callable[[F], F]:
    """As `host_operator`, of what has a composed function for numbers: for texts and the like."""
    return _entering(_ON_HOST, name, since, "", 2, numbers=False)


def control_operator(name: str, since: int = 1) -> Callable[[F], F]:
    """Enters a function that runs graphs of the file; see operators/control.py."""

    def enter(function: F) -> F:
        _enter(_CONTROL, "", Operator(name, since, function, 0, None))
        return function

    return enter


def older_operator(name: str, since: int) -> Callable[[F], F]:
    """Enters what an operator was from the set `since` on until OLDEST defined it anew."""
    return _entering(_OLDER, name, since, "", 1)


def _entering(
    table: Table, name: str, since: int, domain: str, own: int, *, numbers: bool = True
) -> Callable[[F], F]:
    """A decorator; the first `own` arguments of the function are not inputs of the operator."""

    def enter(function: F) -> F:
        code = function.__code__
        most = code.co_argcount - own
        fewest = most - len(function.__defaults__ or ())
        any_number = bool(code.co_flags & inspect.CO_VARARGS)
        entry = Operator(name, since, function, fewest, None if any_number else most, numbers)
        _enter(table, domain, entry)
        return function

    return enter


def plain(name: str, function: Callable[..., Tensor], inputs: int, since: int = 1) -> None:
    """Enters an operator without attributes that is one of Tallow's own functions."""
    _enter(
        _OPERATORS,
        "",
        Operator(name, since, lambda call, *tensors: function(*tensors), inputs, inputs),
    )


def find(domain: str, name: str, opset: int | None) -> Operator:
    """The operator, of a domain whose version is `opset` (None: the model does not import it).

    Raises OnnxUnsupportedError with the reason if there is none.
    """
    entry = operators().get((domain, name))
    if entry is None:
        raise OnnxUnsupportedError("Tallow has no such operator")
    return _in_set(entry, domain, opset)


def _in_set(entry: Operator, domain: str, opset: int | None) -> Operator:
    """The operator as an operator set has it."""
    if opset is None:
        raise OnnxUnsupportedError("the model does not say which operator set it means")
    if opset < entry.since:
        raise OnnxUnsupportedError(f"it was defined in operator set {entry.since} first")
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
    raise OnnxUnsupportedError(f"Tallow knows it in the operator sets {first} to {NEWEST}")


def find_on_host(node: NodeRecord) -> Operator | None:
    """The operator of a node as the host computes it; None if there is none."""
    entry = host_operators().get((node.domain, node.op_type))
    return entry if entry and node.opset is not None and node.opset >= entry.since else None


def find_control(node: NodeRecord) -> Operator | None:
    """The operator of a node that runs graphs; None if it is another."""
    return _CONTROL.get((node.domain, node.op_type))


def find_any(node: NodeRecord) -> None:
    """Raises OnnxUnsupportedError with the reason if neither device nor host has the operator."""
    key = node.domain, node.op_type
    other = host_operators().get(key) or find_control(node)
    if key in operators() or other is None:
        find(*key, node.opset)
    else:
        _in_set(other, node.domain, node.opset)


def operators() -> Mapping[tuple[str, str], Operator]:
    """Every operator that is composed, by (domain, name); the standard domain is "".

    formats/onnx/__init__.py imports the families, which enter them.
    """
    return _OPERATORS


def host_operators() -> Mapping[tuple[str, str], Operator]:
    """Every operator that is computed on the host, by (domain, name)."""
    return _ON_HOST


def control_operators() -> Mapping[tuple[str, str], Operator]:
    """Every operator that runs graphs of the file, by (domain, name)."""
    return _CONTROL


_STANDARD = ("", "ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview.training")
_REGISTERED: set[tuple[str, str]] = set()


def register(domain: str, op_type: str, since: int = 1) -> Callable[[F], F]:
    """Enters an operator of a domain of your own: a decorator of function(call, *tensors).

        @tl.onnx.register("com.example", "Swish")
        def swish(call, x):
            return x * tl.functional.sigmoid(x * call.get("beta", float, 1.0))

    The function composes Tallow's own and returns a tensor, or a sequence of them, one for each
    output. Its parameters are the operator's inputs: those with a default may be absent (None
    then), `*tensors` takes any number. `call` gives the node's attributes (`get`, `ints`, `flag`,
    `choice`), values that must be known when the model is loaded (`known`), and `opset`, the
    version of the domain that the model imports. since: the first version that has the operator.
    Entering it again replaces it, so that a notebook's cell can be run twice.

    Raises OptionError for the standard's domains, and for operators that Tallow has itself.
    """
    if domain in _STANDARD:
        raise OptionError(
            f"register: {op_type!r} would be an operator of the standard domain "
            f"{domain or 'ai.onnx'!r}; take a domain of your own, such as 'com.example'"
        )
    if not op_type or since < 1:
        raise OptionError(f"register: an operator named {op_type!r} since version {since}")
    key = domain, op_type
    if key in _REGISTERED:
        _OPERATORS.pop(key, None)
    elif key in operators() or key in host_operators():
        raise OptionError(f"register: Tallow has the operator {op_type!r} of {domain!r} itself")
    _REGISTERED.add(key)
    return operator(op_type, since, domain)
