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

from ..errors import GraphError, OnnxUnsupportedError
from ..tensor import Tensor

OLDEST, NEWEST = 7, 28
"""The versions of the standard operator set whose definitions the functions follow."""

Result = Tensor | Sequence[Tensor]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operator:
    """How one ONNX operator is made, or computed on the host.

    function(call, *inputs): see call.py; an absent optional input is None. since: the operator
    set that brought it. fewest, most: how many inputs (most None: any number).
    On the host it is function(call, np, *inputs), on values: NumPy arrays (texts: of the dtype
    object), lists of values (sequences), None (an absent input, or an empty optional); it gives a
    value, or a tuple of them.
    """

    name: str
    since: int
    function: Callable[..., Result]
    fewest: int
    most: int | None


Table = dict[tuple[str, str], Operator]

_OPERATORS: Table = {}
_ON_HOST: Table = {}


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


def _entering(table: Table, name: str, since: int, domain: str, own: int) -> Callable[[F], F]:
    """A decorator; the first `own` arguments of the function are not inputs of the operator."""

    def enter(function: F) -> F:
        code = function.__code__
        most = code.co_argcount - own
        fewest = most - len(function.__defaults__ or ())
        any_number = bool(code.co_flags & inspect.CO_VARARGS)
        entry = Operator(name, since, function, fewest, None if any_number else most)
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
    if opset is None:
        raise OnnxUnsupportedError("the model does not say which operator set it means")
    if opset < entry.since:
        raise OnnxUnsupportedError(f"it was defined in operator set {entry.since} first")
    if not domain and not OLDEST <= opset <= NEWEST:
        raise OnnxUnsupportedError(f"Tallow knows the operator sets {OLDEST} to {NEWEST}")
    return entry


def operators() -> Mapping[tuple[str, str], Operator]:
    """Every operator that is composed, by (domain, name); the standard domain is ""."""
    from . import operators as families  # enters them

    assert families
    return _OPERATORS


def host_operators() -> Mapping[tuple[str, str], Operator]:
    """Every operator that is computed on the host, by (domain, name)."""
    operators()
    return _ON_HOST
