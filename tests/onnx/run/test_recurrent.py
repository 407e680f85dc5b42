"""Networks of recurrent layers: long ones, saved ones, and their plans."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from op_cases import CASES
from run_case import difference, feeds_of, graph_of

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.errors import DTypeError, OptionError, ShapeError
from tallow.functional.recurrent import recurrence
from tallow.graph import Graph, input_node
from tallow.ops import numpy_kernels
from tallow.ops import recurrence as ops
from tallow.tensor import Tensor

from ..graphs import model, node, value, weight

RANDOM = np.random.default_rng(8)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FEATURES, SIZE = 6, 5


def layer(op: str, x: str, outputs: str, features: int, **attributes: Any) -> tuple[Any, list[Any]]:
    """A bidirectional layer and its weights."""
    width, name = GATES[op] * SIZE, outputs.split()[0]
    shapes = {"w": (2, width, features), "r": (2, width, SIZE), "b": (2, 2 * width)}
    weights = [
        weight(f"{name}_{key}", RANDOM.uniform(-1, 1, shape).astype(np.float32))
        for key, shape in shapes.items()
    ]
    names = " ".join([x, *(tensor.name for tensor in weights)])
    made = node(op, names, outputs, hidden_size=SIZE, direction="bidirectional", **attributes)
    return made, weights


def network() -> onnx.ModelProto:
    """Two layers, as exporters write them: states joined, directions concatenated."""
    first, weights = layer("LSTM", "x", "y1 h1 c1", FEATURES)
    second, more = layer("GRU", "z1", "y2 h2", 2 * SIZE, linear_before_reset=1)
    nodes = [
        first,
        node("Transpose", "y1", "t1", perm=[0, 2, 1, 3]),
        node("Reshape", "t1 shape", "z1"),
        second,
        node("Concat", "h1 c1 h2", "last", axis=0),
    ]
    shape = weight("shape", np.array([0, 0, -1], np.int64))
    return model(nodes, [value("x", ["T", "B", FEATURES])], "y2 last", [shape, *weights, *more])


def inputs(time: int, batch: int) -> dict[str, np.ndarray]:
    return {"x": RANDOM.standard_normal((time, batch, FEATURES), dtype=np.float32)}


def assert_same(got: Any, wanted: Any) -> None:
    for mine, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def test_layers_are_saved_as_layers(tmp_path: Path) -> None:
    proto, path = network(), tmp_path / "again.onnx"
    tl.onnx.save(tl.onnx.load(proto.SerializeToString()), path, shapes={"B": 2})
    onnx.checker.check_model(str(path), full_check=True)
    operators = Counter(n.op_type for n in onnx.load(path).graph.node)
    assert (operators["LSTM"], operators["GRU"], operators["Slice"]) == (1, 1, 0), operators
    before = onnxruntime.InferenceSession(proto.SerializeToString())
    after = onnxruntime.InferenceSession(str(path))
    for size in ((3, 2), (70, 2)):
        feeds = inputs(*size)
        assert_same(after.run(None, feeds), before.run(None, feeds))


def test_a_long_sequence_is_a_few_steps() -> None:
    content, feeds = network().SerializeToString(), inputs(1500, 1)
    with tl.onnx.load(content).session("numpy") as session:
        got = session.run(feeds)
        assert not session.report().host
    assert_same(got.values(), onnxruntime.InferenceSession(content).run(None, feeds))


@pytest.mark.parametrize("backward", [(False,), (True,), (False, True)])
def test_a_gpu_takes_a_sequence_in_parts(
    backward: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On NumPy, which executes the same steps as the GPU."""
    ways, (time, batch) = len(backward), (23, 2)
    shapes = [(time, batch, FEATURES), (ways, 4 * SIZE, FEATURES), (ways, 4 * SIZE, SIZE)]
    arrays = [RANDOM.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    arrays.append(np.array([23, 9], np.int32))
    kinds = [tl.float32, tl.float32, tl.float32, tl.int32]
    nodes = tuple(
        input_node(f"x{i}", array.shape, kind)
        for i, (array, kind) in enumerate(zip(arrays, kinds, strict=True))
    )
    x, weights, hidden, lengths = map(Tensor, nodes)
    y, last = recurrence("lstm", x, weights, hidden, lengths=lengths, backward=backward)
    graph = Graph(nodes, {"y": y.node, "last": last.node})

    def run(device: str) -> tuple[list[np.ndarray], list[str]]:
        compiled = compile_graph(graph, device)
        results = run_sync(NumpyProgram(compiled).run(arrays))
        return [r.numpy() for r in results], [step.name for step in compiled.plan.run]

    whole, _ = run("numpy")
    monkeypatch.setattr(ops, "MAX_TURNS", 60)
    parts, steps = run("webgpu")
    wanted = -(-time // ops.most_steps("lstm", SIZE))
    assert sum("recurrence_steps" in name for name in steps) == wanted > 1
    assert_same(parts, whole)


@pytest.mark.parametrize("size", [1, 64, 256, 257, 1024, 2048])
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_kernel_ends_before_a_driver_ends_it(cell: str, size: int) -> None:
    units, products = -(-size // 256), 2 if cell == "gru" else 1
    turns = units * products * (size + 3) // 4 * ops.most_steps(cell, size)
    assert 0 < turns < 32768 or ops.most_steps(cell, size) == 1


def test_what_does_not_fit_is_said() -> None:
    x, weights, hidden = tl.zeros((3, 1, 2)), tl.zeros((1, 8, 2)), tl.zeros((1, 8, 2))
    recurrence("lstm", x, weights, hidden)
    with pytest.raises(OptionError, match="'cnn' is not one of rnn, gru, lstm"):
        recurrence("cnn", x, weights, hidden)
    with pytest.raises(OptionError, match="activations"):
        recurrence("lstm", x, weights, hidden, activations=[("Tanh", 0.0, 0.0)])
    with pytest.raises(ShapeError, match=r"weights is \(1, 8, 2\); expected \(1, 6, 2\)"):
        recurrence("gru", x, weights, hidden)
    with pytest.raises(ShapeError, match="no steps"):
        recurrence("lstm", tl.zeros((0, 1, 2)), weights, hidden)
    with pytest.raises(ShapeError, match="three axes"):
        recurrence("lstm", tl.zeros((3, 2)), weights, hidden)
    with pytest.raises(DTypeError, match="lengths is float32"):
        recurrence("lstm", x, weights, hidden, lengths=tl.zeros((1,)))
    with pytest.raises(DTypeError, match="one floating type"):
        recurrence("lstm", x, weights, hidden.astype(tl.float16))


@pytest.mark.parametrize("name", [name for name in CASES if "recurrence" in name])
def test_cells_without_blas(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a browser, where NumPy has no BLAS."""
    monkeypatch.setattr(numpy_kernels, "HAS_BLAS", False)
    program = NumpyProgram(compile_graph(graph_of(name), "numpy"))
    (output,) = run_sync(program.run(list(feeds_of(name).values())))
    wrong = difference(CASES[name], output.numpy())
    assert wrong is None, wrong
