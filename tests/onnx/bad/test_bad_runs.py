"""Runs that would not end, or need too much memory: an error in one line, in time."""

from __future__ import annotations

import asyncio
import inspect
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl

from ..graphs import model, node, value, weight

INT, BOOL, TEXT = TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
ONE, BILLION = np.float32([1]), 10**9
X = {"x": np.ones(4, np.float32)}
DEVICES = ["numpy", "webgpu"]


def session_of(proto: onnx.ModelProto, device: str = "numpy", **options: Any) -> Any:
    return tl.onnx.load(proto.SerializeToString()).session(device, **options)


def refusal(
    error: type[Exception],
    proto: onnx.ModelProto,
    feeds: Any,
    *,
    device: str = "numpy",
    **more: Any,
) -> str:
    """The error, in one line, when a model is loaded, compiled or run."""
    with pytest.raises(error) as caught:
        session_of(proto, device, **more).run(feeds)
    text = str(caught.value)
    assert text and "\n" not in text
    return text


# ---- loops ------------------------------------------------------------------------------------


def around(
    nodes: list[Any], carried: Any, results: list[Any], weights: Any = (), count: str = "n"
) -> Any:
    """A Loop over x that never ends: its body returns what it carries, then rows."""
    inputs = [value("i", [], INT), value("c", [], BOOL), carried]
    outputs = [value("on", [], BOOL), *results]
    graph = helper.make_graph(
        [node("Identity", "c", "on"), *nodes], "body", inputs, outputs, weights
    )
    names = " ".join(f"y{number}" for number in range(len(results)))
    return node("Loop", f"{count} _ x", names, body=graph)


def endless(made: Any, inputs: Any = None) -> onnx.ModelProto:
    counts = [weight("n", np.int64(2**63 - 1))]
    return model([made], inputs or [value("x", [4])], " ".join(made.output), counts, opset=21)


V = value("v", None)
ADDS = [node("Add", "v v", "w")]
INNER = node(
    "Loop", "n _ v", "w",
    body=helper.make_graph(
        [node("Identity", "c2", "on2"), node("Add", "v2 v2", "w2")], "inner",
        [value("i2", [], INT), value("c2", [], BOOL), value("v2", None)],
        [value("on2", [], BOOL), value("w2", None)],
    ),
)  # fmt: skip
NEVER = {
    "the largest count": around(ADDS, V, [value("w", None)]),
    "no count": around(ADDS, V, [value("w", None)], count="_"),
    "one in another": around([INNER], V, [value("w", None)]),
}


@pytest.mark.parametrize("kind", NEVER)
@pytest.mark.parametrize("device", DEVICES)
def test_a_loop_without_an_end(kind: str, device: str, request: pytest.FixtureRequest) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    text = refusal(tl.RealizeError, endless(NEVER[kind]), X, device=device, most_turns=60)
    assert "Loop" in text
    assert "not ended after 60 turns" in text
    assert "session(most_turns=...)" in text


def test_a_loop_ends_without_being_told() -> None:
    for make in (tl.onnx.Model.session, tl.onnx.Model.session_async):
        assert inspect.signature(make).parameters["most_turns"].default == 100_000


def test_the_bound_is_of_one_run_and_can_be_raised() -> None:
    proto = endless(NEVER["no count"])
    proto.graph.node[0].input[0] = "count"
    proto.graph.initializer.append(weight("count", np.int64(40)))
    refusal(tl.RealizeError, proto, X, most_turns=39)
    session = session_of(proto, most_turns=40)
    for _ in range(3):
        assert session.run(X)["y0"].tolist() == [2.0**40] * 4


def test_a_scan_along_a_billion_empty_rows() -> None:
    body = helper.make_graph(
        [node("Identity", "s", "t")],
        "body",
        [value("s", None), value("r", None)],
        [value("t", None)],
    )
    scan = node("Scan", "x rows", "y", body=body, num_scan_inputs=1)
    proto = model([scan], [value("x", [4]), value("rows", [BILLION, 0])])
    feeds = {**X, "rows": np.zeros((BILLION, 0), np.float32)}
    assert "Scan" in refusal(tl.RealizeError, proto, feeds, most_turns=50)


def test_others_come_before_the_next_turn_and_may_end_the_run() -> None:
    async def cancelled() -> int:
        session = session_of(endless(NEVER["no count"]), most_turns=1 << 60)
        run = asyncio.ensure_future(session.run_async(X))
        turns = 0
        while session.report().device and turns < 5:
            await asyncio.sleep(0)
            turns += 1
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return turns

    # A new thread has no event loop, whatever runs in this one.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(asyncio.run, cancelled()).result() == 5


LITTLE = 1 << 22  # the simulated memory of the host, in bytes


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tallow.formats.onnx.values.host_memory", "tallow.compile.limits.host_memory"):
        monkeypatch.setattr(name, lambda: LITTLE)


SEQUENCE = helper.make_tensor_sequence_value_info
BIG = weight("big", np.int64([1 << 14]))
GROWING = {
    "rows": (
        endless(around(
            [*ADDS, node("Expand", "v4 big", "row")], V, [value("w", None), value("row", None)],
            [BIG, weight("v4", ONE)],
        )),
        r"Loop .*the results of 33 turns and .*: 4,325,376 bytes, but only 4,194,304",
    ),
    "a tensor that doubles": (
        endless(around([node("Concat", "v v", "w", axis=0)], V, [value("w", None)])),
        r"cannot fit: .* needs .* bytes, and there are 4,194,304 at most",
    ),
    "a text that doubles": (
        endless(
            around([node("StringConcat", "v v", "w")], value("v", [1], TEXT),
                   [value("w", [1], TEXT)]),
            [value("x", [1], TEXT)],
        ),
        r"StringConcat .*: strings of [\d,]+ characters: [\d,]+ bytes, but only 4,194,304",
    ),
    "a sequence": (
        endless(
            around([node("Expand", "v4 big", "row"), node("SequenceInsert", "v row", "w")],
                   SEQUENCE("v", 1, None), [SEQUENCE("w", 1, None)], [BIG, weight("v4", ONE)]),
            [SEQUENCE("x", 1, None)],
        ),
        r"Loop .*: its sequences: [\d,]+ bytes, but only 4,194,304",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("kind", GROWING)
def test_what_grows_without_bound(kind: str) -> None:
    proto, message = GROWING[kind]
    feeds = {"a text that doubles": {"x": np.array(["ab"], object)}, "a sequence": {"x": []}}
    with pytest.raises(tl.DeviceMemoryError, match=message) as caught:
        session_of(proto).run(feeds.get(kind, X))
    assert "\n" not in str(caught.value)


def test_a_tensor_that_doubles_on_webgpu(native: str) -> None:
    proto = endless(around([node("Concat", "v v", "w", axis=0)], V, [value("w", None)]))
    assert "cannot fit" in refusal(tl.DeviceMemoryError, proto, X, device="webgpu")


# ---- a billion elements -----------------------------------------------------------------------


def one(op: str, inputs: str, opset: int = 21, **known: Any) -> onnx.ModelProto:
    attributes = known.pop("attributes", {})
    weights = [weight(name, np.asarray(array)) for name, array in known.items()]
    return model([node(op, inputs, "y", **attributes)], (), "y", weights, opset)


def then(*more: onnx.NodeProto) -> onnx.ModelProto:
    """A billion zeros, and a result computed from them."""
    nodes = [node("ConstantOfShape", "s", "z"), *more]
    weights = [
        weight("s", np.int64([BILLION])),
        weight("k", np.int64([1])),
        weight("a", np.int64(0)),
    ]
    return model(nodes, (), "y", weights, 21)


PIXELS = np.ones((1, 1, 2, 2), np.float32)
LARGE = {
    "ConstantOfShape": one("ConstantOfShape", "s", s=np.int64([BILLION])),
    "Expand": one("Expand", "x s", x=ONE, s=np.int64([BILLION])),
    "Tile": one("Tile", "x s", x=ONE, s=np.int64([BILLION])),
    "Range": one("Range", "a b c", a=np.int64(0), b=np.int64(BILLION), c=np.int64(1)),
    "Pad": one("Pad", "x s", x=ONE, s=np.int64([0, BILLION])),
    "Resize": one("Resize", "x _ s", x=PIXELS, s=np.float32([1, 1, 3e4, 3e4])),
    "Upsample": one("Upsample", "x s", 9, x=PIXELS, s=np.float32([1, 1, 3e4, 3e4])),
    "OneHot": one("OneHot", "i d v", i=np.int64([1]), d=np.int64(BILLION), v=np.float32([0, 1])),
    "EyeLike": model(
        [node("ConstantOfShape", "s", "z"), node("EyeLike", "z", "y")], (), "y",
        [weight("s", np.int64([40000, 40000]))],
    ),
    "RandomNormal": one("RandomNormal", "", attributes={"shape": [BILLION]}),
    "RandomUniform": one("RandomUniform", "", attributes={"shape": [BILLION]}),
    "Multinomial": one("Multinomial", "x", x=PIXELS[0, 0], attributes={"sample_size": BILLION}),
    "ConvTranspose": one("ConvTranspose", "x x", x=PIXELS,
                         attributes={"output_shape": [40000, 40000]}),
    "AffineGrid": one("AffineGrid", "t s", x=ONE, t=np.ones((1, 2, 3), np.float32),
                      s=np.int64([1, 1, 30000, 30000])),
    "CenterCropPad": one("CenterCropPad", "x s", x=ONE, s=np.int64([BILLION])),
    "a product": one("Mul", "a b", a=np.ones((40000, 1), np.float32),
                     b=np.ones((1, 40000), np.float32)),
    "a matrix product": one("MatMul", "a b", a=np.ones((40000, 1), np.float32),
                            b=np.ones((1, 40000), np.float32)),
    "CumSum": then(node("CumSum", "z a", "y")),
    "NonZero": then(node("NonZero", "z", "y")),
    "Unique": then(node("Unique", "z", "y")),
    "TopK": then(node("TopK", "z k", "y i")),
}  # fmt: skip


@pytest.fixture
def gigabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tallow.formats.onnx.values.host_memory", "tallow.compile.limits.host_memory"):
        monkeypatch.setattr(name, lambda: 1 << 30)


@pytest.mark.usefixtures("gigabyte")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", LARGE)
def test_a_billion_elements(kind: str, device: str, request: pytest.FixtureRequest) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    refused_in_little_memory(LARGE[kind], {}, device)


def refused_in_little_memory(proto: onnx.ModelProto, feeds: Any, device: str) -> None:
    tracemalloc.start()
    try:
        text = refusal(tl.DeviceMemoryError, proto, feeds, device=device)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert "bytes" in text or "workgroups" in text


FED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ConstantOfShape": ("ConstantOfShape", "s", {}),
    "Expand": ("Expand", "x s", {"x": ONE}),
    "Tile": ("Tile", "x s", {"x": ONE}),
    "Range": ("Range", "a s b", {"a": np.int64(0), "b": np.int64(1)}),
    "Tile of texts": ("Tile", "x s", {"x": np.array(["a"], object)}),
    "Expand of texts": ("Expand", "x s", {"x": np.array(["a"], object)}),
}


@pytest.mark.usefixtures("gigabyte")
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("kind", FED)
def test_a_billion_elements_that_a_feed_asks_for(kind: str, computed: bool) -> None:
    op, inputs, known = FED[kind]
    nodes = [node("Add", "q q", "s")] if computed else [node("Identity", "q", "s")]
    shape = [] if op == "Range" else [1]
    weights = [weight(name, np.asarray(array)) for name, array in known.items()]
    proto = model([*nodes, node(op, inputs, "y")], [value("q", shape, INT)], "y", weights, 21)
    feeds = {"q": np.full(shape, BILLION // (2 if computed else 1), np.int64)}
    refused_in_little_memory(proto, feeds, "numpy")


def test_a_sequence_of_ten_million_parts() -> None:
    nodes = [node("SplitToSequence", "x", "q"), node("SequenceLength", "q", "y")]
    proto = model(nodes, [value("x", [10**7])], opset=21)
    text = refusal(tl.OnnxFormatError, proto, {"x": np.zeros(10**7, np.float32)})
    assert "a sequence of 10,000,000 parts is too long; the maximum is 262,144" in text


def test_more_skips_than_a_text_has_words() -> None:
    made = node(
        "TfIdfVectorizer", "x", "y", min_gram_length=2, max_gram_length=2, max_skip_count=2**62,
        mode="TF", ngram_counts=[0, 0], ngram_indexes=[0], pool_int64s=[1, 3],
    )  # fmt: skip
    proto = model([made], [value("x", [4], INT)], opset=9)
    assert session_of(proto).run({"x": np.int64([1, 2, 3, 3])})["y"].tolist() == [2]
