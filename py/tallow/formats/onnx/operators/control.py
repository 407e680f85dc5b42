"""Control flow: If, Loop, Scan and SequenceMap, which run graphs of the file as often as data says.

A function here is a generator, control(node, values, bodies): a body is called with its inputs and
gives its outputs, as `yield from body(...)`. It returns the node's outputs in order.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ....dtype import bool_, int64
from ....errors import DeviceLostError, OnnxFormatError, TallowError
from ....hostarray import HostArray, from_values
from ..call import Call
from ..records import NodeRecord
from ..registry import control_operator
from ..values import Value, check_memory, from_numpy, size_in_bytes, to_numpy

Body = Any
"""Called with values; a generator that gives a list of values. `body.outputs`: their ValueInfos."""


class Rows:
    """What a body gives, turn by turn, in a column for each output; stacked in the end."""

    def __init__(self, infos: Sequence[Any]) -> None:
        self.infos = infos
        self.columns: list[list[Value]] = [[] for _ in infos]
        self._examples: list[Value] = [None] * len(self.infos)
        self._bytes = self._turns = 0

    def add(self, row: Sequence[Value]) -> None:
        """Another turn's. Raises DeviceMemoryError if all do not fit, as they are and stacked."""
        self._bytes += sum(map(size_in_bytes, row))
        self._turns += 1
        check_memory(
            2 * self._bytes, f"what {self._turns:,} turns gave, and all of it in one piece"
        )
        for column, value in zip(self.columns, row, strict=True):
            column.append(value)

    def imagined(self, body: Body, *inputs: Value) -> Generator[Any, Any, None]:
        """Where there was no turn, runs the body on what a first turn would have, for the types and
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
                f"it has no turn, the file does not give the type and shape of each of {names}, "
                f"and a turn to find them out fails: {error}"
            ) from error
        self._examples = results[len(results) - len(self.infos) :]

    def stacked(self, axes: Sequence[int] = (), ways: Sequence[int] = ()) -> list[Value]:
        """Each column as one value, along a new axis: the first, or that of `axes`; backwards where
        `ways` says so."""
        axes, ways = axes or (0,) * len(self.columns), ways or (0,) * len(self.columns)
        return [
            _stacked(rows[::-1] if way else rows, info, axis, example)
            for rows, info, axis, way, example in zip(
                self.columns, self.infos, axes, ways, self._examples, strict=True
            )
        ]


def _truth(value: Value, what: str) -> bool:
    if not isinstance(value, HostArray) or value.size != 1:
        raise OnnxFormatError(f"{what} must be one boolean")
    return bool(value.item())


def _body(bodies: Mapping[str, Body], name: str) -> Body:
    if name not in bodies:
        raise OnnxFormatError(f"the attribute {name!r} is missing, or no graph")
    return bodies[name]


@control_operator("If")
def if_(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    if len(values) != 1:
        raise OnnxFormatError(f"its number of inputs is {len(values)}; expected 1")
    taken = "then_branch" if _truth(values[0], "the condition") else "else_branch"
    results: list[Value] = yield from _body(bodies, taken)()
    return results


@control_operator("Loop")
def loop(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """Values are carried from turn to turn; what else the body gives is stacked, a row a turn."""
    body = _body(bodies, "body")
    if len(values) < 2:
        raise OnnxFormatError(f"its number of inputs is {len(values)}; expected 2 or more")
    most, condition, *carried = values
    turns = None if most is None else int(_number(most, "the number of turns"))
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
    yield from rows.imagined(body, *inputs())
    return [*carried, *rows.stacked()]


def _number(value: Value, what: str) -> Any:
    if not isinstance(value, HostArray) or value.size != 1:
        raise OnnxFormatError(f"{what} must be one number")
    return value.item()


def _stacked(rows: Sequence[Value], info: Any, axis: int, example: Value) -> Value:
    """The rows along a new axis. Of no rows, the type and shape are those that the file says, or
    those of the example."""
    import numpy as np

    if rows:
        return from_numpy(np.stack([to_numpy(row) for row in rows], axis))
    if example is not None:
        row = np.expand_dims(to_numpy(example), axis)
        return from_numpy(np.delete(row, 0, axis))
    dims = [dim if isinstance(dim, int) else 0 for dim in info.shape or ()]
    dims.insert(axis % (len(dims) + 1), 0)
    return from_numpy(np.zeros(dims, info.dtype.name))


@control_operator("Scan", since=8)
def scan(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """Goes along an axis of its scanned inputs; stacks what the body gives."""
    assert node.opset is not None
    call = Call(node, node.opset)
    body, count = _body(bodies, "body"), call.get("num_scan_inputs", int)
    if node.opset < 9:
        return (yield from _scan_in_batches(call, values, body, count))
    states, scanned = list(values[: len(values) - count]), values[len(values) - count :]
    axes = call.ints("scan_input_axes", (0,) * count)
    ways = call.ints("scan_input_directions", (0,) * count)
    last, rows = yield from _scanned(body, states, scanned, axes, ways)
    axes = call.ints("scan_output_axes", (0,) * len(rows.infos))
    ways = call.ints("scan_output_directions", (0,) * len(rows.infos))
    return [*last, *rows.stacked(axes, ways)]


def _scanned(
    body: Body,
    states: list[Value],
    scanned: Sequence[Value],
    axes: Sequence[int],
    ways: Sequence[int],
) -> Generator[Any, Any, tuple[list[Value], Rows]]:
    """The last states, and what the other outputs were."""
    import numpy as np

    lanes = []
    for value, axis, way in zip(scanned, axes, ways, strict=True):
        moved = np.moveaxis(to_numpy(value), axis, 0)
        lanes.append(moved[::-1] if way else moved)
    lengths = {len(lane) for lane in lanes}
    if len(lengths) != 1:
        raise OnnxFormatError(f"the scanned inputs have the lengths {sorted(lengths)}")
    rows = Rows(body.outputs[len(states) :])
    for turn in range(lengths.pop()):
        now = [from_numpy(np.array(lane[turn])) for lane in lanes]
        results = yield from body(*states, *now)
        states = results[: len(states)]
        rows.add(results[len(states) :])
    nothing = [from_numpy(np.zeros(lane.shape[1:], lane.dtype)) for lane in lanes]
    yield from rows.imagined(body, *states, *nothing)
    return states, rows


def _scan_in_batches(
    call: Call, values: Sequence[Value], body: Body, count: int
) -> Generator[Any, Any, list[Value]]:
    """Operator set 8: a leading batch axis, and optional lengths of the sequences before all."""
    import numpy as np

    lengths, *rest = values
    ways = call.ints("directions", (0,) * count)
    states, scanned = rest[: len(rest) - count], [to_numpy(x) for x in rest[len(rest) - count :]]
    batches = []
    for item in range(scanned[0].shape[0]):
        end = scanned[0].shape[1] if lengths is None else int(to_numpy(lengths)[item])
        own = [from_numpy(np.array(to_numpy(state)[item])) for state in states]
        pieces = [from_numpy(np.array(x[item, :end])) for x in scanned]
        last, rows = yield from _scanned(body, own, pieces, (0,) * count, ways)
        batches.append([*last, *rows.stacked()])
    return [from_numpy(np.stack([to_numpy(x) for x in column])) for column in zip(*batches)]  # noqa: B905


@control_operator("SequenceMap", since=17)
def sequence_map(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """The body on each element of the first sequence; other sequences go along, tensors stay."""
    body = _body(bodies, "body")
    if not values or not isinstance(values[0], list):
        raise OnnxFormatError("its first input must be a sequence")
    rows = Rows(body.outputs)
    for turn in range(len(values[0])):
        now = [value[turn] if isinstance(value, list) else value for value in values]
        rows.add((yield from body(*now)))
    return list(rows.columns)
