"""Damaged copies of models, COUNT of each: `python mutants.py COUNT MODEL...`, PYTHONPATH set.

Each is loaded, and where that succeeds, compiled and run, under bounds of memory and time. Prints
how they ended, as JSON: {"outcomes": {exception or "ran": count}, "offences": [...]}. An offence
is any exception but TallowError, or one that took too long.
"""

from __future__ import annotations

import collections
import json
import math
import random
import signal
import sys
from pathlib import Path
from typing import Any

import tallow as tl

MEMORY = 3 << 30  # bytes of address space
SECONDS = 10  # for one mutant


def flip_bits(data: bytearray, rng: random.Random) -> None:
    """One to four bits turned over."""
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def change_bytes(data: bytearray, rng: random.Random) -> None:
    """A byte or two become the ends of a varint, a large number, or anything."""
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
    """Some bytes stand there twice."""
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.randint(1, 64)]


NUMBERS = (0, 1, -1, 2, 7, -7, 255, 2**16, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63))


def edit(data: bytearray, rng: random.Random) -> None:
    """A sound file that says something else: other numbers, names, operators or shapes."""
    from onnx import onnx_ml_pb2

    model = onnx_ml_pb2.ModelProto.FromString(bytes(data))
    for _ in range(rng.randint(1, 2)):
        rng.choice(EDITS)(model.graph, rng)
    data[:] = model.SerializeToString()


def _attribute(graph: Any, rng: random.Random) -> None:
    attributes = [a for node in graph.node for a in node.attribute]
    if not attributes:
        return
    attribute = rng.choice(attributes)
    if attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(NUMBERS)
    elif attribute.s:
        attribute.s = rng.choice(attributes).name.encode()
    else:
        attribute.i = rng.choice(NUMBERS)


def _list(graph: Any, rng: random.Random) -> None:
    """A number in a small list of int64, such as a shape."""
    tensors = [t for t in graph.initializer if t.data_type == 7 and t.raw_data]
    if not tensors:
        return
    tensor = rng.choice(tensors)
    place = 8 * rng.randrange(len(tensor.raw_data) // 8)
    raw = bytearray(tensor.raw_data)
    raw[place : place + 8] = rng.choice(NUMBERS).to_bytes(8, "little", signed=True)
    tensor.raw_data = bytes(raw)


def _dims(graph: Any, rng: random.Random) -> None:
    tensors = [t for t in graph.initializer if t.dims]
    if tensors:
        tensor = rng.choice(tensors)
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(NUMBERS)


def _type(graph: Any, rng: random.Random) -> None:
    """Of a weight, or of an input."""
    kinds = [info.type.tensor_type for info in graph.input]
    if graph.initializer and rng.random() < 0.5:
        rng.choice(graph.initializer).data_type = rng.randrange(30)
    elif kinds:
        rng.choice(kinds).elem_type = rng.randrange(17)


def _input_shape(graph: Any, rng: random.Random) -> None:
    shapes = [info.type.tensor_type.shape.dim for info in graph.input]
    shapes = [dims for dims in shapes if dims]
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


def _operator(graph: Any, rng: random.Random) -> None:
    if graph.node:
        rng.choice(graph.node).op_type = rng.choice(graph.node).op_type


def _swap_weights(graph: Any, rng: random.Random) -> None:
    if graph.initializer:
        a, b = rng.choice(graph.initializer), rng.choice(graph.initializer)
        a.name, b.name = b.name, a.name


def _lose_node(graph: Any, rng: random.Random) -> None:
    if graph.node:
        del graph.node[rng.randrange(len(graph.node))]


EDITS = (
    _attribute, _attribute, _list, _list, _dims, _type, _input_shape, _wiring, _wiring, _operator,
    _swap_weights, _lose_node,
)  # fmt: skip
MUTATIONS = (edit, edit, edit, edit, flip_bits, flip_bits, change_bytes, cut, drop, repeat)


def use(data: bytes) -> str:
    """Loads, compiles and runs; the name of how it ended. What is not a TallowError passes."""
    try:
        model = tl.onnx.load(data)
        shapes = {
            info.name: tuple(dim if isinstance(dim, int) else 1 for dim in info.shape or ())
            for info in model.inputs
        }
        if sum(map(math.prod, shapes.values())) > 1 << 24:
            return "too large to feed"
        feeds = {
            info.name: _zeros(shapes[info.name], info.dtype.name if info.dtype else "object")
            for info in model.inputs
        }
        if _largest(model) > 1 << 24:
            return "too large to run"
        with model.session("numpy") as session:
            session.run(feeds)
    except tl.TallowError as error:
        assert str(error), "an error without words"
        return type(error).__name__
    return "ran"


def _largest(model: tl.onnx.Model) -> int:
    """Elements of the largest value, where that is known before the model runs."""
    try:
        return max(node.size for node in model.graph().nodes())
    except tl.TallowError:
        return 0  # running it says what is wrong, or computes it on the host


def _zeros(shape: tuple[int, ...], dtype: str) -> object:
    import numpy as np

    return np.zeros(shape, dtype)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def main(count: str, *paths: str) -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _too_long)
    outcomes: collections.Counter[str] = collections.Counter()
    offences = []
    for path in paths:
        whole = Path(path).read_bytes()
        assert use(whole) == "ran", path
        for seed in range(int(count)):
            rng = random.Random(f"{Path(path).name} {seed}")
            data, mutation = bytearray(whole), MUTATIONS[seed % len(MUTATIONS)]
            mutation(data, rng)
            if hasattr(signal, "SIGALRM"):
                signal.alarm(SECONDS)
            try:
                outcomes[use(bytes(data))] += 1
            except BaseException as error:
                kind = f"{type(error).__name__}: {error}"
                offences.append(f"{Path(path).name}, seed {seed}, {mutation.__name__}: {kind}")
            finally:
                if hasattr(signal, "SIGALRM"):
                    signal.alarm(0)
    print(json.dumps({"outcomes": outcomes, "offences": offences}))


if __name__ == "__main__":
    main(*sys.argv[1:])
