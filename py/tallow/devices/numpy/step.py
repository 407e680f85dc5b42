"""A step of a plan on NumPy arrays: what can be settled at load is, and few calls are left.

Every read and the result is an array over a buffer that stays where it is, so that views are taken
once. Ops write straight into the result's array where they can, elementwise ones over an operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...compile.plan import HostOp, Step
from ...core.dtype import BY_NAME
from ...ops.kinds import Spec, op_named
from .specialized import WEIGHTS, Clamp, Kernel, Workspace, bind, is_ufunc, widened, writes_over

if TYPE_CHECKING:
    from ...arrays import Array, NumPy


@dataclass(eq=False)
class _Value:
    """A value in a step. array: where it is, if that is the same at every run. known: it never
    changes. maker: the index of the op that makes a new array for it at every run."""

    spec: Spec
    array: Array | None = None
    known: bool = False
    maker: int = -1


@dataclass(eq=False)
class _Action:
    """A call at every run: of a kernel, with the operands' arrays and `out`, or, if `out` is None,
    of a function that returns a new array. operands: None where the kernel holds its own."""

    function: Kernel
    operands: list[_Value | None]
    result: _Value


class BoundStep:
    """A step, bound to its arrays; call it to run it.

    reads, target: arrays of the shapes that the step says. known: which reads never change.
    used: which reads it still needs, a kernel having its own copy of others. kept: the bytes of
    these copies.
    """

    def __init__(
        self,
        np: NumPy,
        step: Step,
        reads: Sequence[Array],
        known: Sequence[bool],
        target: Array,
        workspace: Workspace,
    ) -> None:
        self._np = np
        self._target = target
        self._workspace = workspace
        self._reads = [
            _Value((shape, BY_NAME[dtype]), array, constant)
            for (shape, dtype), array, constant in zip(step.reads, reads, known, strict=True)
        ]
        self._values: list[_Value] = []
        self._actions: list[_Action] = []
        self._last = _last_uses(step.host)
        self._host = step.host
        before = workspace.kept
        self._owner = -1  # the op whose result is in the target
        self._waiting = max(  # the last op that reads what is in the target before the step
            (
                _last_use(step.host, self._last, number)
                for number, op in enumerate(step.host)
                for kind, index, *_ in op.operands
                if kind == "read" and np.may_share_memory(reads[index], target)
            ),
            default=-1,
        )
        for number, op in enumerate(step.host):
            self._values.append(self._bind(number, op))
        self._finish(self._values[-1])
        self.kept = workspace.kept - before
        arrays = [value.array for a in self._actions for value in a.operands if value]
        self.used = [
            any(array is not None and np.may_share_memory(array, read) for array in arrays)
            for read in reads
        ]
        self._made: list[Any] = [None] * len(step.host)
        self._calls = [_call(action, self._made) for action in self._actions]
        # Whatever only binding needed may go: weights, if kernels have packed them.
        del self._reads, self._values, self._actions, self._target, self._host

    def __call__(self) -> None:
        for call in self._calls:
            call()
        self._made[:] = [None] * len(self._made)

    def _operand(self, operand: list[Any]) -> _Value:
        if operand[0] != "number":
            index: int = operand[1]
            return self._reads[index] if operand[0] == "read" else self._values[index]
        number = self._np.array(operand[1], dtype=operand[2]).reshape(operand[3])
        return _Value((number.shape, BY_NAME[operand[2]]), number, True)

    def _bind(self, number: int, op: HostOp) -> _Value:
        np, record = self._np, op_named(op.op)
        operands = [self._operand(operand) for operand in op.operands]
        spec = record.infer([value.spec for value in operands], op.attrs)
        known = all(value.known for value in operands)
        settled = all(value.array is not None for value in operands)
        if op.op == "cast" and settled and self._ends_in_views(number):
            return _Value(spec, operands[0].array, known)  # converted by the copy that follows
        if settled and (getattr(record, "view", False) or not operands):
            array = record.numpy(np, *(value.array for value in operands), **op.attrs)
            if known or np.may_share_memory(array, operands[0].array):
                return _Value(spec, array, known)
        arrays = [value.array if value.known else None for value in operands]
        kernel = bind(np, op.op, op.attrs, arrays, self._workspace)
        out = None if kernel is None else self._claim_target(number, op, spec)
        given: list[_Value | None] = list(operands)
        if kernel is None or (out is None and is_ufunc(op.op)):
            result = _Value(spec, maker=number)
            self._actions.append(_Action(_evaluation(np, op), given, result))
            return result
        if op.op in WEIGHTS and arrays[WEIGHTS[op.op]] is not None:
            given[WEIGHTS[op.op]] = None
        if out is None:
            result = _Value(spec, maker=number)
            self._actions.append(_Action(_allocating(np, kernel, spec), given, result))
            return result
        if isinstance(kernel, Clamp) and self._actions:
            before = self._actions[-1]
            if isinstance(before.function, Clamp) and before.result is operands[kernel.varying]:
                both = before.function.then(kernel)
                if both and before.result.array is not None:
                    before.function = both
                    return before.result
        if is_ufunc(op.op):
            given = [self._widened(value) for value in operands]
        result = _Value(spec, out)
        self._actions.append(_Action(kernel, given, result))
        return result

    def _ends_in_views(self, number: int) -> bool:
        """Whether all that follows an op looks at its result in other shapes, one by one."""
        rest = list(enumerate(self._host))[number + 1 :]
        return all(
            getattr(op_named(op.op), "view", False) and op.operands[0] == ["op", index - 1]
            for index, op in rest
        )

    def _claim_target(self, number: int, op: HostOp, spec: Spec) -> Array | None:
        """The target in the result's shape, if it can hold the result now; else None."""
        shape, dtype = spec
        target = self._target
        if target.dtype != dtype.name or target.size != _size(shape):
            return None
        if not target.flags.c_contiguous:
            return None
        if self._waiting > number or (self._waiting == number and not writes_over(op.op)):
            return None
        if self._owner >= 0:
            last = self._last[self._owner]
            if last > number or (last == number and not is_ufunc(op.op)):
                return None
        self._owner = number
        return target.reshape(shape)

    def _widened(self, value: _Value) -> _Value:
        if not value.known or value.array is None:
            return value
        return _Value(value.spec, widened(self._np, value.array, self._workspace), True)

    def _finish(self, value: _Value) -> None:
        """Makes sure that the last value ends up in the target, row by row."""
        np, target = self._np, self._target
        array = value.array
        fits = array is not None and array.flags.c_contiguous and array.dtype == target.dtype
        if fits and np.shares_memory(array, target):
            return

        def copy(operands: Sequence[Array], out: Array) -> None:
            np.copyto(out, operands[0], casting="unsafe")

        result = _Value(value.spec, target.reshape(value.spec[0]))
        self._actions.append(_Action(copy, [value], result))


def _size(shape: Sequence[int]) -> int:
    size = 1
    for dim in shape:
        size *= dim
    return size


def _last_uses(host: Sequence[HostOp]) -> list[int]:
    """The last op that reads each op's result, itself or through what may be a view of it."""
    last = [-1] * len(host)
    if host:
        last[-1] = len(host)
    for number in reversed(range(len(host))):
        end = _last_use(host, last, number)
        for operand in host[number].operands:
            if operand[0] == "op":
                last[operand[1]] = max(last[operand[1]], end)
    return last


def _last_use(host: Sequence[HostOp], last: Sequence[int], number: int) -> int:
    """The last op that needs the operands of an op, whose result may be a view of them."""
    return number if writes_over(host[number].op) else max(number, last[number])


def _evaluation(np: NumPy, op: HostOp) -> Kernel:
    evaluate, attrs = op_named(op.op).numpy, op.attrs
    return lambda operands, out: evaluate(np, *operands, **attrs)


def _allocating(np: NumPy, kernel: Kernel, spec: Spec) -> Kernel:
    shape, dtype = spec

    def run(operands: Sequence[Array], out: Array) -> Array:
        made = np.empty(shape, dtype.name)
        kernel(operands, made)
        return made

    return run


def _call(action: _Action, made: list[Any]) -> Callable[[], None]:
    function, maker = action.function, action.result.maker
    out: Any = action.result.array  # None for a function that returns a new array
    arrays: list[Any] = [value.array if value else None for value in action.operands]
    late = [(n, v.maker) for n, v in enumerate(action.operands) if v and v.array is None]

    def call() -> None:
        operands = arrays
        if late:
            operands = arrays.copy()
            for index, source in late:
                operands[index] = made[source]
        result = function(operands, out)
        if maker >= 0:
            made[maker] = result

    return call
