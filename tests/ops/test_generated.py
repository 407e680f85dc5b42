"""Every core op on shapes, attributes and types that Hypothesis draws: all backends agree.

NumPy is compared with onnxruntime, which runs what `tl.onnx.save` writes (where it lacks a type,
the onnx package's reference evaluator does), and WebGPU with NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator
from op_cases import OF_WEBASSEMBLY
from tree_reference import random_trees

import tallow as tl
from tallow.core.dtype import DType
from tallow.functional.recurrent import DEFAULTS
from tallow.graph import Graph, Node, input_node, make
from tallow.ops import recurrence as ops
from tallow.ops.dynamic_recurrence import OF_WEBGPU
from tallow.ops.kinds import REGISTRY, Elementwise, Reduce
from tallow.ops.linalg import Hosted

EXAMPLES = 6
KINDS = {"f": tl.float32, "i": tl.int32, "u": tl.uint32, "b": tl.bool_}
Draw = Callable[[st.SearchStrategy[Any]], Any]

# Begin graphs, or are made by a pass for one kind of kernel (tests/ops/test_winograd.py,
# tests/ops/test_wasm_kernels.py, tests/unit/compile/test_lengths.py).
NOT_DRAWN = {
    "input", "buffer", "constant", "iota", "recurrence_steps", "dynamic_steps", "matmul_to",
    "recurrence_kept", "recurrence_back",
    "winograd_input", "winograd_output", "conv2d_weight_parts", "after",
    *(record.name for record in (*OF_WEBASSEMBLY, *OF_WEBGPU)),
}  # fmt: skip

# onnxruntime refuses to divide integers by 0.
NO_ZERO = {"trunc_divide", "floor_divide", "remainder"}

# Sines near multiples of pi: WGSL allows an absolute error of 2^-11.
LOOSE = {"sin", "cos", "tan"}


class Drawn:
    """A graph of one op that is being drawn: its inputs and their values."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.nodes: list[Node] = []
        self.feeds: dict[str, np.ndarray] = {}

    def shape(self, rank: int | None = None, least: int = 1, most: int = 6) -> tuple[int, ...]:
        lengths = st.integers(least, most)
        if rank is not None:
            return tuple(self.draw(lengths) for _ in range(rank))
        return tuple(self.draw(st.lists(lengths, min_size=1, max_size=4)))

    def axis(self, shape: tuple[int, ...]) -> int:
        return int(self.draw(st.integers(0, len(shape) - 1)))

    def dtype(self, accepts: str = "fi") -> DType:
        return KINDS[self.draw(st.sampled_from(accepts))]

    def input(self, shape: tuple[int, ...], dtype: DType, low: float = -4, high: float = 4) -> Node:
        """An input of multiples of 1/8, or of whole numbers, from a drawn seed."""
        rng = np.random.default_rng(self.draw(st.integers(0, 2**32 - 1)))
        parts = 8 if dtype.kind == "f" else 1
        least = max(low, 0) if dtype.kind in "ub" else low
        most = 1 if dtype.kind == "b" else high
        ends = math.ceil(parts * least), math.floor(parts * most)
        values = rng.integers(*ends, shape, endpoint=True) / parts
        name = f"x{len(self.nodes)}"
        self.nodes.append(input_node(name, shape, dtype))
        self.feeds[name] = np.asarray(values, dtype.name)
        return self.nodes[-1]


def _elementwise(one: Drawn, op: Elementwise) -> Node:
    shape, dtype = one.shape(), one.dtype(op.accepts)
    attrs: dict[str, Any] = {}
    if op.name == "cast":
        attrs["dtype"] = one.dtype("fib")
    if op.name == "bitcast":
        dtype = one.dtype("fiu")
        attrs["dtype"] = one.dtype("fiu")
    operands = [one.input(shape, tl.bool_ if op.name == "where" and i == 0 else dtype)
                for i in range(op.arity)]  # fmt: skip
    last = operands[-1].attrs["name"]
    if op.name in NO_ZERO:
        values = one.feeds[last]
        values[values == 0] = 3
    if op.name == "position":
        one.feeds[last][...] = 5  # beyond all that is drawn
    if op.name == "checked":
        attrs |= {"count": 300, "ignored": None, "what": "the index"}
        one.feeds[last] = np.abs(one.feeds[last])
    if "shift" in op.name:
        one.feeds[last] = np.abs(one.feeds[last])
    return make(op, *operands, **attrs)


def _reduce(one: Drawn, op: Reduce) -> Node:
    shape = one.shape()
    count = 1 if op.indexed else one.draw(st.integers(1, len(shape)))
    axes = one.draw(st.permutations(range(len(shape))))[:count]
    low, high = (-2, 2) if op.name == "prod" else (-4, 4)
    return make(op, one.input(shape, one.dtype(), low, high), axes=tuple(sorted(axes)))


def _reshape(one: Drawn) -> Node:
    shape = one.shape()
    size = math.prod(shape)
    first = one.draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0]))
    return make(REGISTRY["reshape"], one.input(shape, one.dtype()), shape=(first, size // first))


def _permute(one: Drawn) -> Node:
    shape = one.shape()
    axes = tuple(one.draw(st.permutations(range(len(shape)))))
    return make(REGISTRY["permute"], one.input(shape, one.dtype()), axes=axes)


def _expand(one: Drawn) -> Node:
    wide = one.shape()
    narrow = tuple(1 if one.draw(st.booleans()) else dim for dim in wide)
    return make(REGISTRY["expand"], one.input(narrow, one.dtype()), shape=wide)


def _slice(one: Drawn) -> Node:
    shape = one.shape()
    starts, steps, sizes = [], [], []
    for dim in shape:
        start, step = one.draw(st.integers(0, dim - 1)), one.draw(st.sampled_from([-2, -1, 1, 2]))
        most = (dim - 1 - start) // step + 1 if step > 0 else start // -step + 1
        starts.append(start)
        steps.append(step)
        sizes.append(one.draw(st.integers(1, most)))
    x = one.input(shape, one.dtype())
    return make(REGISTRY["slice"], x, starts=tuple(starts), steps=tuple(steps), shape=tuple(sizes))


def _pad(one: Drawn) -> Node:
    shape = one.shape()
    widths = st.tuples(st.integers(0, 3), st.integers(0, 3))
    pads = tuple(one.draw(widths) for _ in shape)
    return make(REGISTRY["pad"], one.input(shape, one.dtype()), pads=pads, value=2)


def _concat(one: Drawn) -> Node:
    shape, dtype = one.shape(), one.dtype()
    axis = one.axis(shape)
    lengths = one.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    parts = [one.input((*shape[:axis], n, *shape[axis + 1 :]), dtype) for n in lengths]
    return make(REGISTRY["concat"], *parts, axis=axis)


def _take(one: Drawn) -> Node:
    shape = one.shape()
    axis = one.axis(shape)
    x = one.input(shape, one.dtype())
    indices = one.input(one.shape(1), tl.int32, -shape[axis], shape[axis] - 1)
    return make(REGISTRY["take"], x, indices, axis=axis)


def _take_along_axis(one: Drawn) -> Node:
    shape = one.shape()
    axis = one.axis(shape)
    x = one.input(shape, one.dtype())
    other = (*shape[:axis], one.draw(st.integers(1, 5)), *shape[axis + 1 :])
    indices = one.input(other, tl.int32, -shape[axis], shape[axis] - 1)
    return make(REGISTRY["take_along_axis"], x, indices, axis=axis)


def _start(one: Drawn) -> Node:
    return one.input((), tl.int32, -12, 12)


def _slice_at(one: Drawn) -> Node:
    shape = one.shape(least=2)
    axis = one.axis(shape)
    size = one.draw(st.integers(1, shape[axis] - 1))
    cut = (*shape[:axis], size, *shape[axis + 1 :])
    x = one.input(shape, one.dtype())
    return make(REGISTRY["slice_at"], x, _start(one), axes=(axis,), shape=cut)


def _fill_from(one: Drawn) -> Node:
    shape = one.shape()
    x = one.input(shape, one.dtype())
    return make(REGISTRY["fill_from"], x, _start(one), axis=one.axis(shape), value=2)


def _update_at(one: Drawn) -> Node:
    shape, dtype = one.shape(least=2), one.dtype()
    axis = one.axis(shape)
    sizes = tuple(one.draw(st.integers(1, dim - (a == axis))) for a, dim in enumerate(shape))
    x, new = one.input(shape, dtype), one.input(sizes, dtype)
    starts = tuple(
        0 if a == axis else one.draw(st.integers(0, dim - size))
        for a, (dim, size) in enumerate(zip(shape, sizes, strict=True))
    )
    return make(REGISTRY["update_at"], x, new, _start(one), axes=(axis,), starts=starts)


def _matmul(one: Drawn) -> Node:
    batch, m, k, n = one.shape(4, most=20)
    dtype = one.dtype()
    a, b = one.input((batch, m, k), dtype), one.input((batch, k, n), dtype)
    return make(REGISTRY["matmul"], a, b)


def _window(one: Drawn) -> dict[str, Any]:
    pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))
    return {"stride": one.draw(pairs), "dilation": one.draw(pairs)}


def _conv2d(one: Drawn) -> Node:
    groups = one.draw(st.integers(1, 3))
    attrs = {**_window(one), "groups": groups, "padding": ((1, 0), (0, 2))}
    size, kernel = one.shape(2, least=7, most=12), one.shape(2, most=3)
    inner, outer = one.shape(2, most=5)
    x = one.input((one.draw(st.integers(1, 2)), *size, groups * inner), tl.float32)
    weight = one.input((*kernel, inner, groups * outer), tl.float32)
    return make(REGISTRY["conv2d"], x, weight, **attrs)


def _patches(one: Drawn) -> Node:
    attrs = {**_window(one), "padding": ((1, 0), (0, 2)), "value": 0}
    x = one.input((*one.shape(1, most=2), *one.shape(2, least=7, most=9), 2), tl.float32)
    return make(REGISTRY["patches"], x, kernel=one.shape(2, most=3), **attrs)


def _conv2d_weight(one: Drawn) -> Node:
    conv = _conv2d(one)
    x, weight = conv.inputs
    gradient = one.input(conv.shape, tl.float32)
    one.feeds.pop(weight.attrs["name"])
    one.nodes.remove(weight)
    return make(REGISTRY["conv2d_weight"], x, gradient, kernel=weight.shape[:2], **dict(conv.attrs))


def _pool(name: str) -> Callable[[Drawn], Node]:
    def draw(one: Drawn) -> Node:
        kernel = one.shape(2, most=3)
        # ONNX wants less padding than kernel.
        padding = tuple((min(1, k - 1), min(1, k - 1)) for k in kernel)
        x = one.input((1, *one.shape(2, least=7, most=12), one.draw(st.integers(1, 5))), tl.float32)
        return make(REGISTRY[name], x, kernel=kernel, padding=padding, **_window(one))

    return draw


def _argsort(one: Drawn) -> Node:
    shape = one.shape()
    count = one.draw(st.integers(1, shape[-1]))
    x = one.input(shape, one.dtype())
    return make(REGISTRY["argsort"], x, descending=one.draw(st.booleans()), count=count)


def _scatter(one: Drawn) -> Node:
    batch, rows, length, count = one.shape(4)
    data = one.input((batch, rows, length), tl.float32)
    indices = one.input((batch, count), tl.int32, 0, rows - 1)
    updates = one.input((batch, count, length), tl.float32)
    reduction = one.draw(st.sampled_from(["none", "add", "mul", "max", "min"]))
    if reduction == "none":  # of several updates of an index, ONNX does not say which stays
        one.feeds["x1"] = np.stack([np.roll(np.arange(max(rows, count)), i)[:count] % rows
                                    for i in range(batch)]).astype(np.int32)  # fmt: skip
    return make(REGISTRY["scatter"], data, indices, updates, reduction=reduction)


def _recurrence(one: Drawn) -> Node:
    cell = one.draw(st.sampled_from(sorted(DEFAULTS)))
    ways = one.draw(st.sampled_from([(False,), (True,), (False, True)]))
    time, batch, features, size = one.shape(4)
    width = ops.GATES[cell] * size
    more = {
        "bias": (len(ways), 2 * width),
        "states": (ops.STATES[cell], len(ways), batch, size),
    }
    if cell == "lstm":
        more["peepholes"] = (len(ways), 3 * size)
    given = tuple(name for name in more if one.draw(st.booleans()))
    shapes = [(time, batch, features), (len(ways), width, features), (len(ways), width, size)]
    return make(
        ops.recurrence,
        *(
            one.input(shape, tl.float32, -1, 1)
            for shape in (*shapes, *(more[name] for name in given))
        ),
        cell=cell,
        given=given,
        backward=ways,
        activations=DEFAULTS[cell],
        clip=one.draw(st.sampled_from([0.0, 0.5])),
        linear_before_reset=cell == "gru" and one.draw(st.booleans()),
        input_forget=False,
        order=tuple(one.draw(st.permutations(range(ops.GATES[cell])))),
    )


def _recurrence_gradient(one: Drawn) -> Node:
    layer = _recurrence(one)
    gradient = one.input(layer.shape, tl.float32, -1, 1)
    operands = gradient, layer, *layer.inputs
    return make(REGISTRY["recurrence_gradient"], *operands, **dict(layer.attrs))


def _walk_trees(one: Drawn) -> Node:
    rows, trees, depth, features = one.shape(4)
    rng = np.random.default_rng(one.draw(st.integers(0, 2**32 - 1)))
    x = one.input((rows, features), tl.float32)
    tables = [tl.asarray(table).node for table in random_trees(rng, trees, depth, features)]
    return make(
        REGISTRY["walk_trees"], x, *tables, depth=depth, modes=tuple(range(6)), missing=True
    )


def _attention(one: Drawn) -> Node:
    batch, shared, group, rows = one.shape(4, most=3)
    keys, size, wide = (one.draw(st.integers(1, 70)), *(4 * each for each in one.shape(2)))
    heads = shared * group
    shapes = (batch, heads, rows, size), (batch, shared, keys, size), (batch, shared, keys, wide)
    operands = [one.input(shape, tl.float32, -2, 2) for shape in shapes]
    causal = one.draw(st.booleans())
    window = one.draw(st.integers(0, 5)) if causal else 0
    reach = one.input((batch,), tl.int32, 0, keys)
    return make(REGISTRY["attention"], *operands, reach, scale=0.5, causal=causal, window=window)


OTHERS: dict[str, Callable[[Drawn], Node]] = {
    "argsort": _argsort,
    "attention": _attention,
    "concat": _concat,
    "conv2d": _conv2d,
    "conv2d_weight": _conv2d_weight,
    "patches": _patches,
    "expand": _expand,
    "fill_from": _fill_from,
    "matmul": _matmul,
    "max_pool2d": _pool("max_pool2d"),
    "pad": _pad,
    "permute": _permute,
    "recurrence": _recurrence,
    "recurrence_gradient": _recurrence_gradient,
    "reshape": _reshape,
    "scatter": _scatter,
    "slice": _slice,
    "slice_at": _slice_at,
    "sum_pool2d": _pool("sum_pool2d"),
    "take": _take,
    "take_along_axis": _take_along_axis,
    "update_at": _update_at,
    "walk_trees": _walk_trees,
}
NAMES = [
    name
    for name, op in REGISTRY.items()
    if name not in NOT_DRAWN and not isinstance(op, Hosted)  # tests/unit/tensors/test_linalg.py
]


@st.composite
def graphs(draw: Draw, name: str) -> tuple[Graph, dict[str, np.ndarray]]:
    """A graph of one op, and what it is fed."""
    one, op = Drawn(draw), REGISTRY[name]
    if isinstance(op, Elementwise):
        result = _elementwise(one, op)
    elif isinstance(op, Reduce):
        result = _reduce(one, op)
    else:
        result = OTHERS[name](one)
    return Graph(tuple(one.nodes), {"y": result}, name), one.feeds


def _on(device: str, graph: Graph, feeds: dict[str, np.ndarray]) -> np.ndarray:
    with tl.compile_session(graph, device) as session:
        result: np.ndarray = session.run(feeds)["y"]
        assert session.device == device
    return result


def _elsewhere(graph: Graph, feeds: dict[str, np.ndarray]) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    with TemporaryDirectory() as folder:
        path = Path(folder, "drawn.onnx")
        tl.onnx.save(graph, path)
        proto = onnx.load(path)
    try:
        other: Any = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    except Exception as error:
        if not any(words in str(error) for words in ("NOT_IMPLEMENTED", "official support")):
            raise
        other = ReferenceEvaluator(proto)
    result: np.ndarray = other.run(["y"], feeds)[0]
    return result


def _assert_close(name: str, mine: np.ndarray, other: np.ndarray, whose: str) -> None:
    assert (mine.shape, mine.dtype) == (other.shape, other.dtype), whose
    rtol, atol = (2e-2, 1e-3) if name in LOOSE else (1e-3, 1e-4)
    np.testing.assert_allclose(mine, other, rtol=rtol, atol=atol, err_msg=f"{name}: {whose}")


@pytest.mark.parametrize("name", NAMES)
def test_backends_agree(name: str, native: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(graphs(name))
    def check(drawn: tuple[Graph, dict[str, np.ndarray]]) -> None:
        graph, feeds = drawn
        with np.errstate(all="ignore"):
            mine = _on("numpy", graph, feeds)
            _assert_close(name, mine, _elsewhere(graph, feeds), "onnxruntime")
        _assert_close(name, _on("webgpu", graph, feeds), mine, "WebGPU")

    check()


def test_every_op_is_drawn() -> None:
    plain = {name for name, op in REGISTRY.items() if isinstance(op, (Elementwise, Reduce))}
    assert set(NAMES) == plain | set(OTHERS)
