"""Control flow: If, Loop, Scan and SequenceMap, which run graphs of the file as often as data says.

A function here is a generator, control(node, values, bodies): a body is called with its inputs and
gives its outputs, as `yield from body(...)`. It returns the node's outputs in order.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ...dtype import bool_, int64
from ...errors import OnnxFormatError
from ...hostarray import HostArray, from_values
from ..call import Call
from ..records import NodeRecord
from ..registry import control_operator
from ..values import Value, from_numpy, to_numpy

Body = Any
"""Called with values; a generator that gives a list of values. `body.outputs`: their ValueInfos."""

MOST_TURNS = 1 << 20
"""A loop that goes on for longer is taken for one that never ends."""


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
    turns = MOST_TURNS if most is None else int(_number(most, "the number of turns"))
    goes_on = condition is None or _truth(condition, "the condition")
    stacks: list[list[Value]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
    turn = 0
    while goes_on and turn < turns:
        if turn == MOST_TURNS:
            raise OnnxFormatError(f"the loop has not ended after {MOST_TURNS:,} turns")
        results = yield from body(
            from_values([turn], (), int64), from_values([goes_on], (), bool_), *carried
        )
        goes_on = _truth(results[0], "the condition of the next turn")
        carried = results[1 : 1 + len(carried)]
        for stack, row in zip(stacks, results[1 + len(carried) :], strict=True):
            stack.append(row)
        turn += 1
    infos = body.outputs[1 + len(carried) :]
    return [*carried, *(_stacked(s, i, 0) for s, i in zip(stacks, infos, strict=True))]


def _number(value: Value, what: str) -> Any:
    if not isinstance(value, HostArray) or value.size != 1:
        raise OnnxFormatError(f"{what} must be one number")
    return value.item()


def _stacked(rows: Sequence[Value], info: Any, axis: int) -> Value:
    import numpy as np

    if rows:
        return from_numpy(np.stack([to_numpy(row) for row in rows], axis))
    if info.dtype is None:
        raise OnnxFormatError(f"nothing was given for {info.name!r}, whose type is {info.type}")
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
    results = yield from _scanned(body, states, scanned, axes, ways)
    outputs = results[len(states) :]
    axes = call.ints("scan_output_axes", (0,) * len(outputs))
    ways = call.ints("scan_output_directions", (0,) * len(outputs))
    infos = body.outputs[len(states) :]
    made = [
        _stacked(rows[::-1] if way else rows, info, axis)
        for rows, info, axis, way in zip(outputs, infos, axes, ways, strict=True)
    ]
    return [*results[: len(states)], *made]


def _scanned(
    body: Body,
    states: list[Value],
    scanned: Sequence[Value],
    axes: Sequence[int],
    ways: Sequence[int],
) -> Generator[Any, Any, list[Any]]:
    """The last states, and for each other output the list of what it was."""
    import numpy as np

    rows = []
    for value, axis, way in zip(scanned, axes, ways, strict=True):
        moved = np.moveaxis(to_numpy(value), axis, 0)
        rows.append(moved[::-1] if way else moved)
    lengths = {len(row) for row in rows}
    if len(lengths) != 1:
        raise OnnxFormatError(f"the scanned inputs have the lengths {sorted(lengths)}")
    stacks: list[list[Value]] = [[] for _ in range(len(body.outputs) - len(states))]
    for turn in range(lengths.pop()):
        now = [from_numpy(np.array(row[turn])) for row in rows]
        results = yield from body(*states, *now)
        states = results[: len(states)]
        for stack, row in zip(stacks, results[len(states) :], strict=True):
            stack.append(row)
    return [*states, *stacks]


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
        results = yield from _scanned(body, own, pieces, (0,) * count, ways)
        infos = body.outputs[len(states) :]
        made = [_stacked(r, i, 0) for r, i in zip(results[len(states) :], infos, strict=True)]
        batches.append([*results[: len(states)], *made])
    return [from_numpy(np.stack([to_numpy(x) for x in column])) for column in zip(*batches)]  # noqa: B905


@control_operator("SequenceMap", since=17)
def sequence_map(
    node: NodeRecord, values: Sequence[Value], bodies: Mapping[str, Body]
) -> Generator[Any, Any, list[Value]]:
    """The body on each element of the first sequence; other sequences go along, tensors stay."""
    body = _body(bodies, "body")
    if not values or not isinstance(values[0], list):
        raise OnnxFormatError("its first input must be a sequence")
    results: list[list[Value]] = [[] for _ in body.outputs]
    for turn in range(len(values[0])):
        now = [value[turn] if isinstance(value, list) else value for value in values]
        for made, value in zip(results, (yield from body(*now)), strict=True):
            made.append(value)
    return list(results)
