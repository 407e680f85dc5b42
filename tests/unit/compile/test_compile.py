"""The compiler: what is fused, what is prepared, what shares memory; plans as golden files."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import TARGETS, Compiled, Limits, Plan, compile_graph, optimise
from tallow.compile.fuse import fuse
from tallow.compile.partition import static_nodes
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.devices.webgpu.codegen.literal import number
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor

GOLDEN = Path(__file__).parent / "golden"
rng = np.random.default_rng(5)
DEFAULT = Limits()


def weight(*shape: int) -> Tensor:
    return tl.asarray(rng.normal(size=shape).astype(np.float32))


def image(*shape: int) -> Tensor:
    return Tensor(input_node("image", shape, tl.float32))


def compiled(x: Tensor, *outputs: Tensor, limits: Limits = DEFAULT) -> Compiled:
    named = {f"y{index}": output.node for index, output in enumerate(outputs)}
    return compile_graph(Graph((x.node,), named, "test"), "webgpu", limits)


def names(plan: Plan) -> list[str]:
    return [step.name for step in plan.run]


def test_gelu_as_users_write_it_is_one_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    """The example of fusion in Burn's documentation."""
    x = image(64, 512)
    plan = compiled(x, x * (1 + tl.erf(x / math.sqrt(2))) / 2).plan
    assert len(plan.run) == 1
    assert not plan.prepare
    assert len(plan.modules) == 1
    assert [slot.kind for slot in plan.slots] == ["input", "output"]  # inputs are never written
    with capsys.disabled():
        print(f"\n{plan.modules[0]}")


def small_network() -> Compiled:
    """Convolution with batch norm and activation, depthwise with a residual, pool, classifier."""
    x = image(1, 3, 16, 16)
    y = F.conv2d(x, weight(8, 3, 3, 3), stride=2, padding=1)
    y = F.relu6(F.batch_norm(y, *(tl.asarray(np.ones(8, np.float32)) for _ in range(4))))
    y = F.hardswish(F.conv2d(y, weight(8, 1, 3, 3), weight(8), padding=1, groups=8)) + y
    y = F.conv2d(F.max_pool2d(y, 2), weight(12, 8, 1, 1), weight(12))
    y = tl.reshape(F.global_avg_pool(F.relu(y)), (1, 12))
    return compiled(x, F.softmax(F.linear(y, weight(10, 12), weight(10))))


def test_a_network_runs_in_few_kernels() -> None:
    plan = small_network().plan
    assert names(plan) == [
        "conv2d+add+maximum+minimum",
        "conv2d+add+multiply+add+maximum+minimum+multiply+add",
        "max_pool2d",
        "conv2d+add+maximum",
        "sum+multiply",
        "matmul+add",
        "max+subtract+exp+sum+divide",
    ]


def test_rows_are_normalised_in_one_kernel() -> None:
    x = image(2, 5, 32)
    normalised = F.layer_norm(x, (32,), weight(32), weight(32))
    for y in (F.softmax(x, -1), F.log_softmax(x, -1), normalised):
        assert len(compiled(x, y).plan.run) == 1
    attention = F.scaled_dot_product_attention(x, x * 2.0, x + 1.0)
    assert [name.count("matmul") for name in names(compiled(x, attention).plan)].count(1) == 2
    long = image(1, 1 << 20)
    assert len(compiled(long, F.softmax(long, -1)).plan.run) > 1


def test_plan_is_as_recorded() -> None:
    """TALLOW_UPDATE_GOLDEN=1 rewrites the file: read the difference before committing it."""
    plan = small_network().plan
    text = "\n".join([str(plan), "", *plan.modules])
    path = GOLDEN / "small_network.txt"
    if os.environ.get("TALLOW_UPDATE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_a_plan_survives_json() -> None:
    plan = small_network().plan
    again = Plan.from_json(plan.to_json())
    assert str(again) == str(plan)
    assert again.to_json() == plan.to_json()


def test_a_plan_from_json_runs() -> None:
    whole = small_network()
    again = Compiled(Plan.from_json(whole.plan.to_json()), whole.weights)
    pixels = rng.normal(size=(1, 3, 16, 16)).astype(np.float32)
    first, second = (run_sync(NumpyProgram(c).run([pixels]))[0].numpy() for c in (whole, again))
    assert np.array_equal(first, second)
    assert abs(first.sum() - 1) < 1e-5


def test_weights_are_prepared_once() -> None:
    half = tl.asarray(rng.normal(size=(8, 4, 3, 3)).astype(np.float16)).astype("float32")
    x = image(1, 4, 8, 8)
    plan = compiled(x, F.conv2d(x, half)).plan
    assert [step.name for step in plan.prepare] == ["cast"]
    assert "unpack2x16float" in plan.modules[plan.prepare[0].kernel["module"]]
    weights = [slot for slot in plan.slots if slot.kind == "weight"]
    assert [slot.bytes for slot in weights] == [8 * 4 * 9 * 2]


def test_numpy_computes_float16_in_float32() -> None:
    """Values are rounded where they leave the graph, and only there; moved ones are unchanged."""
    x = Tensor(input_node("x", (3, 16), tl.float16))
    outputs = {"sum": tl.sum(x * x, 1).node, "moved": x.mT.node}
    graph = optimise(Graph((x.node,), outputs), TARGETS["numpy"], DEFAULT)
    assert [node.dtype for node in graph.outputs.values()] == [tl.float16, tl.float16]
    halves = [node.op.name for node in graph.nodes() if node.dtype == tl.float16]
    assert sorted(halves) == ["cast", "input", "permute"]
    values = np.full((3, 16), 300, np.float16)  # their squares overflow float16
    root = compile_graph(Graph((x.node,), {"y": tl.sqrt(tl.sum(x * x, 1)).node}), "numpy")
    (got,) = run_sync(NumpyProgram(root).run([values]))
    assert got.numpy().dtype == np.float16
    assert got.numpy().tolist() == [1200, 1200, 1200]


def test_batch_norm_costs_nothing_at_run_time() -> None:
    x = image(1, 4, 8, 8)
    statistics = [tl.asarray(np.full(8, value, np.float32)) for value in (0.1, 2.0, 0.5, 0.3)]
    plain = compiled(x, F.conv2d(x, weight(8, 4, 3, 3), weight(8))).plan
    normed = compiled(x, F.batch_norm(F.conv2d(x, weight(8, 4, 3, 3), weight(8)), *statistics)).plan
    assert [name for name in names(normed) if "multiply" in name] == []
    assert len(normed.run) <= len(plain.run) + 1
    assert any("multiply" in step.name for step in normed.prepare)


def test_regions_are_channels_last() -> None:
    """Between the first convolution and the last there is no permute."""
    x = image(1, 4, 8, 8)
    y = F.relu(F.conv2d(x, weight(8, 4, 3, 3), padding=1))
    y = tl.concat([F.conv2d(y, weight(8, 8, 3, 3), padding=1), y], axis=1)
    y = F.max_pool2d(tl.pad(y, [(0, 0), (0, 0), (1, 1), (1, 1)]), 2)[:, 4:]
    y = F.conv2d(y * tl.reshape(weight(12), (1, -1, 1, 1)), weight(4, 12, 1, 1))
    assert sum("permute" in name for name in names(compiled(x, y).plan)) == 2


def test_no_kernel_binds_more_than_the_adapter_allows() -> None:
    x = image(4, 4)
    parts = [tl.reshape(x, (16,))[index : index + 4] * weight(4) for index in range(12)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part * weight(4)
    for most in (3, 4, 8):
        joined = tl.concat(parts)
        plan = compiled(x, total, joined, limits=Limits(storage_buffers=most)).plan
        assert max(len(step.bindings) for step in plan.run) <= most
        program = NumpyProgram(compiled(x, total, joined, limits=Limits(storage_buffers=most)))
        pixels = np.arange(16, dtype=np.float32)
        assert len(run_sync(program.run([pixels]))) == 2


def test_common_subexpressions_are_computed_once() -> None:
    x = image(8, 8)
    y = tl.exp(x + 1.0) * tl.exp(x + 1.0)
    (module,) = compiled(x, y).plan.modules
    assert len(re.findall(r"select\(exp\w*\(", module)) == 1


def test_what_is_known_is_folded() -> None:
    x = image(2, 4)
    y = x * (tl.asarray(2.0) * 3.0 + 1.0) * 1.0 + 0.0
    (module,) = compiled(x, y).plan.modules
    assert "7f" in module
    assert module.count(" * ") == 1


@pytest.mark.parametrize("rows", [8, 40])
def test_what_jumps_is_known_or_computed_for_all_its_readers(rows: int) -> None:
    """Positions between elements, which Python and a GPU may round differently: the element before
    a position, the weight of the next one, and whether it is inside use the same floor and
    comparison."""
    at = tl.asarray(rng.uniform(0, 9, (rows, 4)).astype(np.float32)) / 3.0
    low, x = tl.floor(at), image(rows, 4)
    first = low[:2].astype(tl.int32)
    results = [x * (at - low), tl.where(at < 2.0, x, 0.0), x[:2] * first.astype(tl.float32)]
    graph = Graph((x.node,), {str(i): y.node for i, y in enumerate(results)}, "test")
    ops = [node.op.name for node in optimise(graph, TARGETS["webgpu"], DEFAULT).nodes()]
    jumps = [ops.count(name) for name in ("floor", "less")]
    assert jumps == ([0, 0] if rows == 8 else [1, 1])
    assert ops.count("cast") == (1 if rows == 8 else 2)  # back to float32; to int32, if at all


def test_kernels_share_no_computation() -> None:
    """One kernel computes what two kernels read, however little it is: each would round it in its
    own way. Both may follow an index."""
    x = image(6, 8)
    at = x * 3.7 + 0.1
    low = tl.floor(at)
    share = tl.permute_dims(at - low, (1, 0))
    rows = tl.take(weight(9, 5), tl.reshape(low, (48,)).astype(tl.int32), axis=0)
    results = [share, rows * tl.reshape(at, (48, 1)), tl.sum(low, axis=1), tl.concat([low, at])]
    graph = Graph((x.node,), {str(i): y.node for i, y in enumerate(results)}, "test")
    graph = optimise(graph, TARGETS["webgpu"], DEFAULT)
    groups = fuse(graph, static_nodes(graph), set(), DEFAULT.storage_buffers).groups
    assert len(groups) > 4
    counts = Counter(node for group in groups for node in group.members)
    again = {node.op.name for node, count in counts.items() if count > 1}
    assert again <= {"reshape", "expand", "permute", "slice", "iota"}
    assert {"floor", "multiply", "add"} <= {node.op.name for node in counts}


def test_what_does_not_fit_its_type_is_not_folded() -> None:
    """The lowest number, as in masks, cast to an integer: devices differ."""
    x = image(2)
    lowest = tl.asarray([-3.4e38, 5.0]) * 1.0
    program = NumpyProgram(compiled(x, lowest.astype(tl.int32) + 1))
    with np.errstate(invalid="ignore"):
        assert run_sync(program.run([np.zeros(2, np.float32)]))[0].tolist()[1] == 6


def test_outputs_may_be_inputs_or_constants() -> None:
    x = image(2, 3)
    known = tl.asarray([1.0, 2.0])
    program = NumpyProgram(compiled(x, x, tl.reshape(x, (3, 2)), known, x + 1.0))
    same, shaped, given, more = run_sync(program.run([np.arange(6, dtype=np.float32)]))
    assert same.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert shaped.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert given.tolist() == [1, 2]
    assert more.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_numbers_as_literals(sign: int) -> None:
    """Rounded to fewer digits they would be too large; attention masks use them."""
    largest = sign * 3.4028234663852886e38
    text = number(largest, tl.float32).strip("()").removesuffix("f")
    assert np.float32(text) == np.float32(largest)
    assert abs(float(text)) <= abs(largest)  # Chromium's compiler rejects larger ones
    beyond = number(10 * largest, tl.float32)
    assert beyond == f"bitcast<f32>({'minus_' if sign < 0 else ''}inf_bits)"


def test_float_literals_are_exact() -> None:

    for value in (rng.normal(size=70) * 10.0 ** np.arange(-35, 35)).astype(np.float32):
        text = number(float(value), tl.float32).strip("()").rstrip("f")
        assert np.float32(text) == value
