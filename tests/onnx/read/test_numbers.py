"""Lists of numbers and strings in ONNX files: protobuf's parser, which takes steps for each, reads
only short ones, and agrees about long ones."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import tallow as tl
from tallow.formats.onnx.read import proto, reader, wire
from tallow.formats.onnx.read.external import ExternalFiles

from ..graphs import model, node, value, weight

Load = Callable[[Any], tl.onnx.Model]
COUNT = 3000
RANDOM = np.random.default_rng(0)


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def held(number: int, content: bytes) -> bytes:
    """A field that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def wide(dtype: str, count: int = COUNT) -> list[int]:
    """Integers of every length as varints, and the ends of the type's range."""
    info = np.iinfo(dtype)
    found = [int(info.min), int(info.max), 0, 1, 127]
    for bits in RANDOM.integers(1, info.bits - 1, count - len(found)):
        sign = -1 if info.min and RANDOM.random() < 0.5 else 1
        found.append(sign * int(RANDOM.integers(0, 1 << int(bits))))
    return found


FLOATS = np.concatenate([RANDOM.standard_normal(COUNT - 4), [np.inf, -np.inf, -0.0, 1e-45]]).astype(
    np.float32
)

# The element type of a tensor, its list's field, the wire type of a single number, its numbers.
TENSORS: dict[str, tuple[int, int, int, Any]] = {
    "float": (TensorProto.FLOAT, 4, 5, FLOATS),
    "double": (TensorProto.DOUBLE, 10, 1, RANDOM.standard_normal(COUNT)),
    "int32": (TensorProto.INT32, 5, 0, np.array(wide("int32"), np.int32)),
    "int8": (TensorProto.INT8, 5, 0, np.array(wide("int8"), np.int8)),
    "uint16": (TensorProto.UINT16, 5, 0, np.array(wide("uint16"), np.uint16)),
    "bool": (TensorProto.BOOL, 5, 0, np.arange(COUNT) % 3 > 0),
    "int64": (TensorProto.INT64, 7, 0, np.array(wide("int64"), np.int64)),
    "uint32": (TensorProto.UINT32, 11, 0, np.array(wide("uint32"), np.uint32)),
    "uint64": (TensorProto.UINT64, 11, 0, np.array(wide("uint64"), np.uint64)),
}


def encoded(number: int, kind: int, values: Any, how: str) -> bytes:
    """A list of numbers: packed, as single fields, or both in turn; long runs and short ones."""

    def each(item: Any) -> bytes:
        return varint(int(item)) if kind == 0 else item.tobytes()

    def single(items: Any) -> bytes:
        return b"".join(varint(number << 3 | kind) + each(item) for item in items)

    def together(items: Any) -> bytes:
        return held(number, b"".join(map(each, items)))

    if how == "packed":
        return together(values)
    if how == "single":
        return single(values)
    cuts = [0, 1, 2, 700, 705, 2000, len(values)]
    parts = [values[a:b] for a, b in itertools.pairwise(cuts)]
    return b"".join((together, single)[turn % 2](part) for turn, part in enumerate(parts))


def with_tensor(content: bytes) -> bytes:
    """A model with these bytes for an initializer."""
    made = model([node("Identity", "w", "y")], [])
    graph = made.graph.SerializeToString() + held(5, content)
    made.ClearField("graph")
    return made.SerializeToString() + held(7, graph)


def with_attribute(content: bytes, *more: bytes) -> bytes:
    """A model with these bytes for the attribute of a node."""
    made = model([], [], outputs="y")
    graph = made.graph.SerializeToString()
    for part in (content, *more):
        graph += held(1, held(2, b"y") + held(4, b"Constant") + held(5, part))
    made.ClearField("graph")
    return made.SerializeToString() + held(7, graph)


@pytest.fixture(params=[True, False], ids=["NumPy", "no NumPy"])
def loaded(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Any], tl.onnx.Model]:
    """Loads a model, with or without NumPy."""

    def load(source: Any) -> tl.onnx.Model:
        with monkeypatch.context() as patched:
            if not request.param:
                patched.setitem(sys.modules, "numpy", None)
            return tl.onnx.load(source)

    return load


@pytest.fixture
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Fails unless protobuf parsed no list of numbers, and few fields were looked at one by one."""
    parsed: list[Any] = []
    fields = 0
    parse, following = proto.parse, wire._next

    def counted(*args: Any) -> Any:
        nonlocal fields
        fields += 1
        return following(*args)

    def kept(*args: Any, **options: Any) -> Any:
        parsed.append(parse(*args, **options))
        return parsed[-1]

    monkeypatch.setattr(wire, "_next", counted)
    monkeypatch.setattr(proto, "parse", kept)

    def check() -> None:
        (made,) = parsed
        assert len(made.SerializeToString()) < 1000
        assert 0 < fields < 100

    return check


@pytest.mark.parametrize("how", ["packed", "single", "mixed"])
@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("by_path", [False, True], ids=["bytes", "path"])
def test_tensors(
    name: str,
    how: str,
    by_path: bool,
    loaded: Load,
    nothing_is_left: Callable[[], None],
    tmp_path: Path,
) -> None:
    number, field, kind, values = TENSORS[name]
    content = (
        varint(1 << 3) + varint(COUNT) + varint(2 << 3) + varint(number)
        + encoded(field, kind, values, how) + held(8, b"w")
    )  # fmt: skip
    data = with_tensor(content)
    source: Any = data
    if by_path:
        source = tmp_path / "m.onnx"
        source.write_bytes(data)
    (array,) = loaded(source).constants
    nothing_is_left()
    from onnx import numpy_helper

    wanted = numpy_helper.to_array(ModelProto.FromString(data).graph.initializer[0])
    np.testing.assert_array_equal(wanted, values)
    assert array.numpy().dtype == wanted.dtype
    np.testing.assert_array_equal(array.numpy(), wanted)


@pytest.mark.parametrize("how", ["packed", "single", "mixed"])
@pytest.mark.parametrize("typed", [True, False], ids=["typed", "untyped"])
@pytest.mark.parametrize("name", ["floats", "ints"])
def test_attributes(
    name: str, typed: bool, how: str, loaded: Load, nothing_is_left: Callable[[], None]
) -> None:
    field, kind, values = {
        "floats": (7, 5, FLOATS), "ints": (8, 0, np.array(wide("int64"), np.int64))
    }[name]  # fmt: skip
    type_ = varint(20 << 3) + varint(6 if name == "floats" else 7) if typed else b""
    content = held(1, f"value_{name}".encode()) + encoded(field, kind, values, how) + type_
    data = with_attribute(content)
    (array,) = [n.attrs["data"] for n in loaded(data).graph().nodes() if n.is_constant]
    nothing_is_left()
    wanted = getattr(ModelProto.FromString(data).graph.node[0].attribute[0], name)
    assert array.flat() == list(wanted) == values.tolist()


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "untyped"])
def test_strings(typed: bool) -> None:
    """Empty ones, long ones, and others than ASCII's; one that is not UTF-8 is refused."""
    texts = ["", "é", "x" * 127, "y" * 128, "z" * 70_000, *(str(i) for i in range(COUNT)), ""]
    made = held(1, b"value_strings") + b"".join(held(9, each.encode()) for each in texts)
    made += varint(20 << 3) + varint(8) if typed else b""
    data = with_attribute(made)
    (found,) = records(data).graph.nodes[0].attributes.values()
    assert found == tuple(texts)
    assert len(proto.parse(data, {}).SerializeToString()) < 200
    with pytest.raises(tl.OnnxFormatError, match="not UTF-8"):
        tl.onnx.load(with_attribute(made + held(9, b"\xff" * 2000)))
    for damaged in (b"\x4a", b"\x4a\x05abc", b"\x4a\xff\xff\xff"):
        with pytest.raises(tl.OnnxFormatError, match="protobuf cannot read"):
            tl.onnx.load(with_attribute(made + damaged))


def records(data: bytes, *, without: bool = True) -> Any:
    """The records of a model, whether or not its lists are taken out of it."""
    taken: wire.Taken = {}
    parsed = proto.parse(data, taken if without else None)
    assert bool(taken) == without
    return reader.read_model(parsed, ExternalFiles(None), taken)


def described(graph: Any) -> Any:
    """All of a graph, with the numbers in it as lists."""

    def shown(found: Any) -> Any:
        if hasattr(found, "nodes"):
            return described(found)
        return (found.dtype, found.shape, found.flat()) if hasattr(found, "flat") else found

    nodes = [
        (n.op_type, n.inputs, n.outputs, {k: shown(v) for k, v in n.attributes.items()})
        for n in graph.nodes
    ]
    return nodes, {name: shown(constant) for name, constant in graph.constants.items()}


def test_lists_at_every_level() -> None:
    """In an initializer, an attribute, its tensor, a graph in it, and a function; each among short
    ones that stay."""
    floats, ints = FLOATS.tolist(), wide("int64")

    def tensor(name: str, count: int) -> TensorProto:
        return helper.make_tensor(name, TensorProto.INT64, [count], ints[:count])

    inner = helper.make_graph(
        [node("Constant", "", "a", value_floats=floats[:2]),
         node("Constant", "", "b", value_floats=floats)],
        "inner", [], [value("b", None)], [tensor("in", COUNT)],
    )  # fmt: skip
    function = helper.make_function(
        "own", "F", [], ["f"],
        [node("Constant", "", "n", value_ints=[1]), node("Constant", "", "f", value_ints=ints)],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    made = model(
        [
            node("Constant", "", "p", value=tensor("", 3)),
            node("Constant", "", "q", value=tensor("", COUNT)),
            node("Constant", "", "r", value_ints=ints),
            node("If", "c", "s", then_branch=inner, else_branch=inner),
            helper.make_node("F", [], ["t"], domain="own"),
        ],
        [value("c", [], TensorProto.BOOL)],
        outputs="p q r s t",
        weights=[tensor("v", 2), tensor("w", COUNT), weight("raw", FLOATS)],
        functions=[function],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)],
    )
    data = made.SerializeToString()
    assert described(records(data).graph) == described(records(data, without=False).graph)


def test_what_protobuf_merges_is_left_to_it() -> None:
    """Two values of an attribute that may have one."""
    ints = helper.make_tensor("", TensorProto.INT64, [2 * COUNT], range(2 * COUNT))
    half = TensorProto(int64_data=range(COUNT))
    first = TensorProto(int64_data=range(COUNT, 2 * COUNT))
    ints.ClearField("int64_data")
    content = (
        held(1, b"value") + held(5, half.SerializeToString())
        + held(5, ints.SerializeToString()) + held(5, first.SerializeToString())
        + varint(20 << 3) + varint(4)
    )  # fmt: skip
    taken: wire.Taken = {}
    parsed = proto.parse(with_attribute(content), taken)
    assert not taken
    found = reader.read_model(parsed, ExternalFiles(None))
    assert found.graph.nodes[0].attributes["value"].flat() == list(range(2 * COUNT))


LONG = encoded(8, 0, np.arange(COUNT), "single")


@pytest.mark.parametrize(
    "content",
    [
        held(8, b"\x80" * 2000),
        held(8, b"\x01" * 2000 + b"\x80"),
        held(8, b"\xff" * 10 + b"\x01" * 2000),
        held(8, b"\xff" * 11 + b"\x01" * 2000),
        held(7, b"\x00" * 2001),
        LONG + b"\x40",
        LONG + b"\x40\x80\x80",
        LONG + b"\x40" + b"\xff" * 11,
        LONG + b"\x43",
        LONG + varint(8 << 3 | 2) + varint(1 << 20),
        encoded(7, 5, FLOATS, "single") + b"\x3d\x00\x00",
    ],
)
def test_damaged_lists_are_refused(content: bytes, loaded: Load) -> None:
    """As protobuf does, in one line."""
    data = with_attribute(held(1, b"value_ints") + content)
    with pytest.raises(tl.OnnxFormatError, match="protobuf cannot read") as caught:
        loaded(data)
    assert "\n" not in str(caught.value)


def test_a_number_that_does_not_fit_its_type(loaded: Load) -> None:
    numbers = [1] * COUNT + [300]
    tensor = TensorProto(name="w", dims=[COUNT + 1], data_type=TensorProto.INT8, int32_data=numbers)
    with pytest.raises(tl.OnnxFormatError, match="'w': a value does not fit int8"):
        loaded(with_tensor(tensor.SerializeToString()))
    tensor = TensorProto(name="w", dims=[7], data_type=TensorProto.FLOAT, float_data=FLOATS)
    with pytest.raises(tl.OnnxFormatError, match=rf"needs 7 elements .* has {COUNT:,} "):
        tl.onnx.load(with_tensor(tensor.SerializeToString()))


def test_a_file_without_lists_needs_no_numpy(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    made = model([node("Add", "x w", "y")], [value("x", [COUNT])], weights=[weight("w", FLOATS)])
    path.write_bytes(made.SerializeToString())
    code = (
        "import sys, tallow as tl; from pathlib import Path; "
        "sys.modules['numpy'] = None; "
        "from tallow.formats.onnx.read import wire; "
        f"data = memoryview(Path({str(path)!r}).read_bytes()); "
        "rest, taken = wire.take_out(data, 1 << 10, True); "
        "assert list(taken) == [(7, 0)]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
