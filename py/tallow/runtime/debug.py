"""`debug_nans`: which op made the first NaN.

Results are read back and looked at. Only if one is not finite does NumPy compute the same graph
again, op by op, until it finds an op that makes a NaN of operands without one. So the kernels of
devices stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from ..core import context
from ..core.hostarray import HostArray
from ..errors import NonFiniteError, line_of_user
from ..graph import Node, topological
from ..ops.numpy_kernels import numpy_module

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

_LINES: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
"""The lines of the user's code that made nodes, while `debug_nans` is on."""


class debug_nans:  # noqa: N801 - called like a function, as in JAX
    """Checks every floating result for NaN and infinity; NonFiniteError names the op and the line
    that made the first one.

        tl.debug_nans(True)  # from now on
        with tl.debug_nans(True):  # or here only
            step(x, y)

    It holds for all that is computed: by `numpy()`, `realize()`, `backward()`, an optimiser's step
    and functions under `@tl.jit`, whose variables are as before the call if it raises. Infinities
    that nothing computed, such as a mask of -inf, are no errors, nor is what does not reach a
    result. Needs NumPy. Every result is read back, which takes time, and which on "webgpu" in a
    browser needs JSPI; `numpy_async` needs none.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._before = context.debug_nans.get()
        self._blocks = _blocks(enabled)
        _switch(enabled)

    def __enter__(self) -> Self:
        _switch(self._before)
        for block in self._blocks:
            block.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for block in self._blocks:
            block.__exit__(*error)


def _switch(enabled: bool) -> None:
    context.debug_nans.set(enabled)
    context.recorder.set(_record if enabled else None)


def _blocks(enabled: bool) -> tuple[context.Override, context.Override]:
    """What a with statement overrides."""
    recorder = _record if enabled else None
    return context.debug_nans.override(enabled), context.recorder.override(recorder)


def _record(node: Node) -> None:
    _LINES[node] = line_of_user()


def suspects(values: Iterable[tuple[Node, HostArray]]) -> list[Node]:
    """The nodes whose values are not finite."""
    import numpy as np

    return [
        node
        for node, data in values
        if node.dtype.is_floating and not np.isfinite(_array(data)).all()
    ]


def explain(wrong: Sequence[Node], given: Mapping[Node, HostArray]) -> None:
    """Raises NonFiniteError for nodes whose values are not finite; `given` are the values of
    inputs and buffers. An infinity that was given is none."""
    np = numpy_module()
    found: dict[Node, Array] = {}
    first: tuple[Node, bool] | None = None  # what made an infinity, or a NaN
    source: Node | None = None  # what had a NaN from the beginning
    with np.errstate(all="ignore"):
        for node in topological(wrong):
            if node in given or node.is_constant:
                value: Array = _array(given[node] if node in given else node.attrs["data"])
                value = value.astype(node.dtype.name) if not node.dtype.coded else value
                if node.dtype.is_floating and source is None and np.isnan(value).any():
                    source = node
            else:
                operands = [found[child] for child in node.inputs]
                value = np.asarray(node.op.numpy(np, *operands, **node.attrs))
                if node.dtype.is_floating and (first is None or not first[1]):
                    first = _made(np, node, value, operands) or first
                    if first and first[1]:
                        break
            found[node] = value
    if first is None and source is None and all(_has_infinity(np, found[node]) for node in wrong):
        return
    raise NonFiniteError(_message(wrong[0], first, source))


def _made(
    np: NumPy, node: Node, value: Array, operands: Sequence[Array]
) -> tuple[Node, bool] | None:
    """The node, and whether it made a NaN, if its operands are better than its value."""
    before = [x for x in operands if x.dtype.kind == "f"]
    if np.isnan(value).any() and not any(np.isnan(x).any() for x in before):
        return node, True
    if np.isinf(value).any() and all(np.isfinite(x).all() for x in before):
        return node, False
    return None


def _has_infinity(np: NumPy, value: Array) -> bool:
    return bool(np.isinf(value).any())


def _message(result: Node, first: tuple[Node, bool] | None, source: Node | None) -> str:
    what = f"a result of type {result.dtype.name} and shape {result.shape} is not finite"
    if first is not None and (first[1] or source is None):
        node, is_nan = first
        operands = ", ".join(f"{x.dtype.name} {x.shape}" for x in node.inputs)
        made = f"{'a NaN' if is_nan else 'an infinity'}: {node.op.name} of ({operands})"
        line = _LINES.get(node)
        return f"{what}; the first op that makes {made}" + (f", at {line}" if line else "")
    if source is not None:
        kind = "a constant" if source.is_constant else "a tensor that was given"
        return f"{what}; {kind} of shape {source.shape} has a NaN from the beginning"
    return f"{what} on the device, though NumPy computes finite values of the same operands"


def _array(data: HostArray) -> Any:
    if data.dtype.coded:
        import numpy as np

        return np.array(data.flat(), np.float32).reshape(data.shape)
    return data.numpy()
