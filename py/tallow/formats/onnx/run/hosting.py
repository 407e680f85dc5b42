"""Computes a node on the host, with its host operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....errors import DeviceMemoryError, OnnxError, OnnxFormatError, OnnxUnsupportedError
from ..call import Call
from ..reasons import Reason
from ..records import NodeRecord
from ..registry import find_on_host
from ..values import Value, from_numpy, to_numpy
from .builder import check_inputs, describe

AT_FAULT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What NumPy raises for invalid values."""


@dataclass(frozen=True, slots=True)
class HostStep:
    """A node that the host computes, and why."""

    node: NodeRecord
    reason: Reason


def compute(node: NodeRecord, values: Sequence[Value]) -> dict[str, Value]:
    """The outputs of a node by name. Raises OnnxFormatError for invalid values."""
    import numpy as np

    entry = find_on_host(node)
    assert entry is not None and node.opset is not None, node
    call = Call(node, node.opset)
    try:
        check_inputs(entry.min_inputs, entry.max_inputs, values)
        arrays = {id(value): value for value in values}  # converts a repeated value only once
        arrays = {key: to_numpy(value) for key, value in arrays.items()}
        result = entry.function(call, np, *(arrays[id(value)] for value in values))
        results = result if isinstance(result, tuple) else (result,)
        made = {name: from_numpy(x) for name, x in zip(node.outputs, results) if name}  # noqa: B905
    except OnnxError as error:
        raise type(error)(f"{describe(node)}: {error}") from error
    except MemoryError as error:
        raise DeviceMemoryError(f"{describe(node)}: {one_line(error)}") from error
    except AT_FAULT as error:
        raise OnnxFormatError(f"{describe(node)}: {one_line(error)}") from error
    unknown = call.unknown_attributes()
    if unknown:
        raise OnnxUnsupportedError(f"{describe(node)}: its attribute {unknown[0]!r} is unknown")
    return made


def one_line(error: Exception) -> str:
    """The message of another library's error, on one line."""
    return " ".join(str(error).split()) or "out of memory"
