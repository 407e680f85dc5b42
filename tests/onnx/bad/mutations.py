"""Ways to damage the bytes of a model: each changes `data` in place, as `rng` decides."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any


def flip_bits(data: bytearray, rng: random.Random) -> None:
    """One to four bits are flipped."""
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def change_bytes(data: bytearray, rng: random.Random) -> None:
    """One or two bytes become limits of a varint, a large number, or anything."""
    for _ in range(rng.randint(1, 2)):
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])


def cut(data: bytearray, rng: random.Random) -> None:
    """The end is missing."""
    del data[rng.randrange(len(data)) :]


def drop(data: bytearray, rng: random.Random) -> None:
    """Some bytes in between are missing."""
    start = rng.randrange(len(data))
    del data[start : start + rng.randint(1, 16)]


def repeat(data: bytearray, rng: random.Random) -> None:
    """Some bytes are duplicated."""
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.randint(1, 64)]


NUMBERS = (0, 1, -1, 2, 7, -7, 255, 2**16, 10**9, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63))


def edit(data: bytearray, rng: random.Random) -> None:
    """A valid file with other contents: other numbers, names, operators, graphs or shapes."""
    from onnx import onnx_ml_pb2

    model = onnx_ml_pb2.ModelProto.FromString(bytes(data))
    for _ in range(rng.randint(1, 2)):
        rng.choice(EDITS)(rng.choice([*_graphs(model.graph), *model.functions]), rng)
    data[:] = model.SerializeToString()


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph, and those within it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _attribute(graph: Any, rng: random.Random) -> None:
    attributes = [a for node in graph.node for a in node.attribute]
    if not attributes:
        return
    attribute = rng.choice(attributes)
    if attribute.HasField("g"):
        attribute.g.CopyFrom(rng.choice([a.g for a in attributes]))
    elif attribute.HasField("t"):
        attribute.t.dims[:] = [rng.choice(NUMBERS)]
    elif attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(NUMBERS)
    elif attribute.floats:
        attribute.floats[0] = rng.choice([0.0, -1.0, 1e30, float("nan"), float("inf")])
    elif attribute.s:
        attribute.s = rng.choice(attributes).name.encode()
    else:
        attribute.i = rng.choice(NUMBERS)


def _lose_attribute(graph: Any, rng: random.Random) -> None:
    nodes = [node for node in graph.node if node.attribute]
    if nodes:
        attributes = rng.choice(nodes).attribute
        del attributes[rng.randrange(len(attributes))]


def _list(graph: Any, rng: random.Random) -> None:
    """Changes a number in a small list of int64, such as a shape."""
    held = [*getattr(graph, "initializer", ())]
    held += [a.t for node in graph.node for a in node.attribute if a.HasField("t")]
    tensors = [t for t in held if t.data_type == 7 and (t.raw_data or t.int64_data)]
    if not tensors:
        return
    tensor = rng.choice(tensors)
    if tensor.int64_data:
        tensor.int64_data[rng.randrange(len(tensor.int64_data))] = rng.choice(NUMBERS)
        return
    offset = 8 * rng.randrange(len(tensor.raw_data) // 8)
    raw = bytearray(tensor.raw_data)
    raw[offset : offset + 8] = rng.choice(NUMBERS).to_bytes(8, "little", signed=True)
    tensor.raw_data = bytes(raw)


def _dims(graph: Any, rng: random.Random) -> None:
    tensors = [t for t in getattr(graph, "initializer", ()) if t.dims]
    if tensors:
        tensor = rng.choice(tensors)
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(NUMBERS)


def _tensor_types(graph: Any) -> list[Any]:
    if not hasattr(graph, "input") or not hasattr(graph, "initializer"):
        return []
    return [info.type.tensor_type for info in (*graph.input, *graph.output)]


def _type(graph: Any, rng: random.Random) -> None:
    """Changes the type of a weight, an input or an output."""
    kinds = _tensor_types(graph)
    if kinds and graph.initializer and rng.random() < 0.5:
        rng.choice(graph.initializer).data_type = rng.randrange(30)
    elif kinds:
        rng.choice(kinds).elem_type = rng.randrange(17)


def _kind(graph: Any, rng: random.Random) -> None:
    """An input becomes a sequence or an optional, or has no type."""
    if _tensor_types(graph) and graph.input:
        kind = rng.choice(graph.input).type
        element = kind.tensor_type.elem_type
        kind.Clear()
        wanted = rng.randrange(3)
        if wanted:
            holder = kind.sequence_type if wanted == 1 else kind.optional_type
            holder.elem_type.tensor_type.elem_type = element


def _input_shape(graph: Any, rng: random.Random) -> None:
    shapes = [dims for kind in _tensor_types(graph) if (dims := kind.shape.dim)]
    if shapes:
        rng.choice(rng.choice(shapes)).dim_value = rng.choice(NUMBERS)


def _wiring(graph: Any, rng: random.Random) -> None:
    """A node reads another value: of another shape or type, its own, or none."""
    names = [name for node in graph.node for name in (*node.input, *node.output)]
    nodes = [node for node in graph.node if node.input]
    if not nodes:
        return
    node = rng.choice(nodes)
    node.input[rng.randrange(len(node.input))] = rng.choice([*names, ""])


def _count(graph: Any, rng: random.Random) -> None:
    """A node or the graph has one input or output too many or too few."""
    owners = [graph, *graph.node]
    values = rng.choice([getattr(rng.choice(owners), end) for end in ("input", "output")])
    if values and rng.random() < 0.5:
        del values[rng.randrange(len(values))]
    elif values:
        values.append(rng.choice(values))


def _operator(graph: Any, rng: random.Random) -> None:
    if graph.node:
        node, other = rng.choice(graph.node), rng.choice(graph.node)
        node.op_type, node.domain = other.op_type, other.domain


def _swap_weights(graph: Any, rng: random.Random) -> None:
    if getattr(graph, "initializer", ()):
        a, b = rng.choice(graph.initializer), rng.choice(graph.initializer)
        a.name, b.name = b.name, a.name


def _elsewhere(graph: Any, rng: random.Random) -> None:
    """A weight is stored in another file."""
    if getattr(graph, "initializer", ()):
        tensor = rng.choice(graph.initializer)
        tensor.ClearField("raw_data")
        tensor.data_location = 1
        locations = [
            "w.bin",
            "../w.bin",
            "/etc/passwd",
            "a\0b",
            "",
            ".",
            "..\\w",
            "C:w",
            "\ud7ff" * 99,
        ]
        tensor.external_data.add(key="location", value=rng.choice(locations))
        tensor.external_data.add(key="offset", value=str(rng.choice(NUMBERS)))


def _lose_node(graph: Any, rng: random.Random) -> None:
    if graph.node:
        del graph.node[rng.randrange(len(graph.node))]


def _repeat_node(graph: Any, rng: random.Random) -> None:
    if graph.node:
        graph.node.add().CopyFrom(rng.choice(graph.node))


def _rename(graph: Any, rng: random.Random) -> None:
    """A graph, node or operator has a name with odd characters."""
    name = rng.choice(["", "two\nlines", "\0", "\u202e", "x" * 300])
    if graph.node and rng.random() < 0.7:
        setattr(rng.choice(graph.node), rng.choice(["name", "op_type", "domain"]), name)
    else:
        graph.name = name


EDITS = (
    _attribute, _attribute, _lose_attribute, _list, _list, _dims, _type, _kind, _input_shape,
    _wiring, _wiring, _count, _operator, _swap_weights, _elsewhere, _lose_node, _repeat_node,
    _rename,
)  # fmt: skip
MUTATIONS = (edit, edit, edit, edit, flip_bits, flip_bits, change_bytes, cut, drop, repeat)
