"""Control flow: If, Loop, Scan and SequenceMap, which run graphs of the file as the data requires.

Each function here is a generator, control(node, values, bodies), that returns the node's outputs in
order. It calls a body with its inputs and gets its outputs, by `yield from body(...)`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ....core.dtype import bool_, int64
from ....core.hostarray import HostArray, from_values
from ....errors import DeviceLostError, OnnxFormatError, TallowError
from ..call import Call
from ..records import NodeRecord, ValueInfo
from ..registry import control_operator
from ..values import Value, check_memory, from_numpy, size_in_bytes, to_numpy

Body = Any
"""A generator function from values to a list of values. `body.outputs`: their ValueInfos."""


class Rows:
    """The results of a body, turn by turn, in one column per output; stacked in the end."""

    def __init__(self, infos: Sequence[Any]) -> None:
        self.infos = infos
        self.columns: list[list[Value]] = [[] for _ in infos]
        self._examples: list[Value] = [None] * len(self.infos)
        self._bytes = self._turns = 0

    def add(self, row: Sequence[Value]) -> None:
        """Adds a turn. Raises DeviceMemoryError if the rows and their stacked copy do not fit."""
        self._bytes += sum(map(size_in_bytes, row))
        self._turns += 1
        check_memory(
            2 * self._bytes, f"the results of {self._turns:,} turns and a stacked copy of them"
        )
        for column, value in zip(self.columns, row, strict=True):
            column.append(value)

    def infer_from_trial(self, body: Body, *inputs: Value) -> Generator[Any, Any, None]:
        """If there was no turn, runs the body on the inputs of a first turn, to find types and
        shapes that the file does not give. Raises OnnxFormatError if the body fails."""
        if self._turns or all(info.dtype and info.shape is not None for info in self.infos):
            return
        try:
            results = yield from body(*inputs)
        except DeviceLostError:
            raise
        except TallowError as error:
            names = ", ".join(repr(info.name) for info in self.infos)
            raise OnnxFormatError(
                f"it makes no turn, the file does not give the type and shape of {names}, "
                f"and a trial turn to find them fails: {error}"
            ) from error
        self._examples = results[len(results) - len(self.infos) :]

    def stacked(self, axes: Sequence[int] = (), directions: Sequence[int] = ()) -> list[Value]:
        """Each column as one value, stacked along a new axis, by default the first. directions: 1
        for columns in reverse order."""
        axes = axes or (0,) * len(self.columns)
        directions = directions or (0,) * len(self.columns)
        return [
            _stacked(rows[::-1] if backward else rows, info, axis, example)
            for rows, info, axis, backward, example in zip(
                self.columns, self.infos, axes, directions, self._examples, strict=True
            )
        ]


def _truth(value: Value, what: str) -> bool:
    if not isinstance(value, HostArray) or value.size != 1:
        raise OnnxFormatError(f"{what} must be one boolean")
    return bool(value.item())


def _body(bodies: Mapping[str, Body], name: str) -> Body:
    if name not in bodies:
        raise OnnxFormatError(f"the attribute {name!r} is missing or not a graph")
    return bodies[name]


@control_operator("If")
def if_(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """Runs one of two graphs."""
    if len(values) != 1:
        raise OnnxFormatError(f"it has {len(values)} inputs; expected 1")
    taken = "then_branch" if _truth(values[0], "the condition") else "else_branch"
    results: list[Value] = yield from _body(bodies, taken)()
    return results


@control_operator("Loop")
def loop(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """Carries values from turn to turn; stacks the body's other outputs, one row per turn."""
    body = _body(bodies, "body")
    if len(values) < 2:
        raise OnnxFormatError(f"it has {len(values)} inputs; expected 2 or more")
    trip_count, condition, *carried = values
    turns = None if trip_count is None else int(_number(trip_count, "the number of turns"))
    goes_on = condition is None or _truth(condition, "the condition")
    rows = Rows(body.outputs[1 + len(carried) :])
    turn = 0

    def inputs() -> list[Value]:
        return [from_values([turn], (), int64), from_values([goes_on], (), bool_), *carried]

    while goes_on and (turns is None or turn < turns):
        results = yield from body(*inputs())
        goes_on = _truth(results[0], "the condition of the next turn")
        carried = results[1 : 1 + len(carried)]
        rows.add(results[1 + len(carried) :])
        turn += 1
    yield from rows.infer_from_trial(body, *inputs())
    return [*carried, *rows.stacked()]


def _number(value: Value, what: str) -> Any:
    if not isinstance(value, HostArray) or value.size != 1:
        raise OnnxFormatError(f"{what} must be one number")
    return value.item()


def _stacked(rows: Sequence[Value], info: ValueInfo, axis: int, example: Value) -> Value:
    """The rows along a new axis. Without rows, an empty value with the type and shape of the file
    or of the example."""
    import numpy as np

    if rows:
        return from_numpy(np.stack([to_numpy(row) for row in rows], axis))
    if example is not None:
        row = np.expand_dims(to_numpy(example), axis)
        return from_numpy(np.delete(row, 0, axis))
    if info.dtype is None:
        raise TypeError(f"{info.type} has no empty value")
    dims = [dim if isinstance(dim, int) else 0 for dim in info.shape or ()]
    dims.insert(axis % (len(dims) + 1), 0)
    return from_numpy(np.zeros(dims, info.dtype.name))


@control_operator("Scan", since=8)
def scan(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """Iterates along an axis of its scanned inputs; stacks the body's outputs."""
    assert node.opset is not None
    call = Call(node, node.opset)
    body, count = _body(bodies, "body"), call.get("num_scan_inputs", int)
    if node.opset < 9:
        return (yield from _scan_in_batches(call, values, body, count))
    states, scanned = list(values[: len(values) - count]), values[len(values) - count :]
    axes = call.ints("scan_input_axes", (0,) * count)
    directions = call.ints("scan_input_directions", (0,) * count)
    last, rows = yield from _scanned(body, states, scanned, axes, directions)
    axes = call.ints("scan_output_axes", (0,) * len(rows.infos))
    directions = call.ints("scan_output_directions", (0,) * len(rows.infos))
    return [*last, *rows.stacked(axes, directions)]


def _scanned(
    body: Body,
    states: list[Value],
    scanned: Sequence[Value],
    axes: Sequence[int],
    directions: Sequence[int],
) -> Generator[Any, Any, tuple[list[Value], Rows]]:
    """The last states, and the rows of the other outputs."""
    import numpy as np

    lanes = []
    for value, axis, backward in zip(scanned, axes, directions, strict=True):
        moved = np.moveaxis(to_numpy(value), axis, 0)
        lanes.append(moved[::-1] if backward else moved)
    lengths = {len(lane) for lane in lanes}
    if len(lengths) != 1:
        raise OnnxFormatError(f"the scanned inputs have different lengths: {sorted(lengths)}")
    rows = Rows(body.outputs[len(states) :])
    for turn in range(lengths.pop()):
        row = [from_numpy(np.array(lane[turn])) for lane in lanes]
        results = yield from body(*states, *row)
        states = results[: len(states)]
        rows.add(results[len(states) :])
    nothing = [from_numpy(np.zeros(lane.shape[1:], lane.dtype)) for lane in lanes]
    yield from rows.infer_from_trial(body, *states, *nothing)
    return states, rows


def _scan_in_batches(
    call: Call, values: Sequence[Value], body: Body, count: int
) -> Generator[Any, Any, list[Value]]:
    """Operator set 8: a leading batch axis, and optional sequence lengths as the first input."""
    import numpy as np

    lengths, *rest = values
    directions = call.ints("directions", (0,) * count)
    states, scanned = rest[: len(rest) - count], [to_numpy(x) for x in rest[len(rest) - count :]]
    batches = []
    for item in range(scanned[0].shape[0]):
        end = scanned[0].shape[1] if lengths is None else int(to_numpy(lengths)[item])
        own = [from_numpy(np.array(to_numpy(state)[item])) for state in states]
        pieces = [from_numpy(np.array(x[item, :end])) for x in scanned]
        last, rows = yield from _scanned(body, own, pieces, (0,) * count, directions)
        batches.append([*last, *rows.stacked()])
    return [from_numpy(np.stack([to_numpy(x) for x in column])) for column in zip(*batches)]  # noqa: B905


@control_operator("SequenceMap", since=17)
def sequence_map(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """Runs the body for each element of the first sequence and of any others; tensors repeat."""
    body = _body(bodies, "body")
    if not values or not isinstance(values[0], list):
        raise OnnxFormatError("its first input must be a sequence")
    rows = Rows(body.outputs)
    for turn in range(len(values[0])):
        row = [value[turn] if isinstance(value, list) else value for value in values]
        rows.add((yield from body(*row)))
    return list(rows.columns)
