"""torch.jit, as the identity: Tallow compiles whatever is computed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import UnionType
from typing import Any, Final, TypeVar

import tallow.nn as _nn

from ..errors import MissingNameError

__path__: list[str] = []  # jit.annotations is in names.py

T = TypeVar("T")

ScriptModule = _nn.Module
ScriptFunction = Callable[..., Any]


def script(obj: object = None, *args: object, **options: object) -> Any:
    """The function or module itself. Also a decorator."""
    return (lambda each: each) if obj is None else obj


def trace(func: T, example_inputs: object = None, *args: object, **options: object) -> T:
    """The function or module itself; `tallow.jit` traces a function."""
    return func


def ignore(drop: object = False, **options: object) -> Any:
    """The function itself."""
    return drop if callable(drop) else (lambda function: function)


def freeze(mod: T, *args: object, **options: object) -> T:
    """The module itself."""
    return mod


def annotate(the_type: object, the_value: T) -> T:
    """The value itself."""
    return the_value


unused = export = script_method = interface = script_if_tracing = ignore
_overload = _overload_method = _script_if_tracing = ignore
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list  # for annotations
trace_module = optimize_for_inference = freeze


def fork(func: Callable[..., T], *args: object, **options: object) -> T:
    """What the function gives, at once."""
    return func(*args, **options)


def wait(future: T) -> T:
    """The value itself."""
    return future


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False


def isinstance(obj: object, target_type: type | UnionType | tuple[type | UnionType, ...]) -> bool:
    """Whether an object is of a type, by Python's `isinstance`."""
    import builtins

    return builtins.isinstance(obj, target_type)


class optimized_execution(nullcontext[None]):  # noqa: N801 - PyTorch's name
    """Changes nothing within it."""

    def __init__(self, should_optimize: bool = True) -> None:
        super().__init__()


def _programs(what: str) -> MissingNameError:
    return MissingNameError(
        f"torch.jit.{what}: TorchScript programs are not supported; save a state_dict(), or write "
        "an ONNX file with torch.onnx.export"
    )


def save(m: object, f: object, **options: object) -> None:
    """Raises MissingNameError: there are no scripted modules to write."""
    raise _programs("save")


def load(f: object, **options: object) -> Any:
    """Raises MissingNameError: there are no scripted modules to read."""
    raise _programs("load")


Attribute = annotate

__all__ = ["Final", "ScriptModule", "export", "ignore", "is_scripting", "script", "trace", "unused"]
