"""Operators that are composed as soon as their inputs are known, even if that is at run time.

Where a shape depends on what a model is fed, composition has to wait for it. The host then has all
inputs, composes the operator on them as constants, and computes it: one definition serves both.
"""

from __future__ import annotations

from typing import Any

from ...graph import Graph, constant
from ...hostarray import from_buffer
from ...tensor import Tensor
from ..call import Call
from ..registry import host_form, operators


def on_host_once_known(name: str) -> None:
    """Enters a composed operator for the host as well, for inputs that are known when it runs."""

    def compute(call: Call, np: Any, *values: Any) -> Any:
        from ...session import compile_session

        tensors = [
            None if value is None else Tensor(constant(from_buffer(np.ascontiguousarray(value))))
            for value in values
        ]
        made = operators()["", name].function(call, *tensors)
        results = [made] if isinstance(made, Tensor) else made
        outputs = {str(place): result.node for place, result in enumerate(results)}
        with compile_session(Graph((), outputs, name), "numpy") as session:
            found = session.run({})
        return tuple(found[str(place)] for place in range(len(results)))

    host_form(name, compute)
