"""WebAssembly's products by weights in blocks: each form in which graphs say it, whether it stays
packed, and how far the answers are from NumPy's float64."""

from __future__ import annotations

import numpy as np
import pytest
from block_forms import FORMS, Weight, centred, known, least, scaled
from wasm_runs import RNG, fed, given, random, run

import tallow as tl
from tallow.compile import compile_graph
from tallow.compile.plan import Plan
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.errors import DTypeError, ShapeError
from tallow.graph import Graph, Node, make
from tallow.ops.blocks import block_matmul
from tallow.tensor import Tensor

TOLERANCE = 2e-4
"""Of the largest element of a row: rounding to 16 bits moves each by less."""


def ops(plan: Plan) -> set[str]:
    return {host.op for step in (*plan.prepare, *plan.run) for host in step.host}


def planned(result: Tensor, feeds: dict[Node, np.ndarray]) -> Plan:
    return compile_graph(Graph(tuple(feeds), {"y": result.node}, "blocks"), "wasm").plan


def close(found: np.ndarray, wanted: np.ndarray) -> None:
    most = np.abs(wanted).max(-1, keepdims=True)
    assert (np.abs(found - wanted) <= TOLERANCE * most).all()


@pytest.mark.parametrize(
    "sizes", [(64, 256, 1), (67, 768, 3), (33, 256, 16), (70, 512, 200)], ids=str
)
@pytest.mark.parametrize("form", FORMS)
def test_products(form: str, sizes: tuple[int, int, int]) -> None:
    columns, depth, rows = sizes
    weight, plain = FORMS[form](columns, depth)
    a = random(rows, depth)
    x = fed("a", a)
    y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
    close_and_packed(y, {x: a}, a.astype(np.float64) @ plain.T, plain.size)


def close_and_packed(
    y: Tensor, feeds: dict[Node, np.ndarray], wanted: np.ndarray, elements: int
) -> None:
    for relaxed in (True, False):
        found, steps = run(y.node, feeds, relaxed)
        assert not steps
        close(found, wanted)
    plan = planned(y, feeds)
    assert "block_matmul" in ops(plan)
    # Of the weight at most bytes are made, where its codes are in two planes.
    assert all(slot.bytes <= elements for slot in plan.slots if slot.kind == "prepared")


@pytest.mark.parametrize("depth", [96, 608, 1952])
def test_depths_that_no_super_block_divides(depth: int) -> None:
    weight, plain = least(50, depth)
    a = random(2, 3, depth)
    x = fed("a", a)
    y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
    close_and_packed(y, {x: a}, a.astype(np.float64) @ plain.T, plain.size)


def test_what_follows_is_fused_and_views_are_read() -> None:
    weight, plain = centred(72, 256)
    a, b = random(256, 5), random(5, 72)
    x, z = fed("a", a), fed("b", b)
    product = tl.matmul(tl.permute_dims(Tensor(x), (1, 0)), tl.permute_dims(weight, (1, 0)))
    y = tl.maximum(product + Tensor(z), 0.0)
    found, steps = run(y.node, {x: a, z: b}, True)
    assert not steps
    close(found, np.maximum(a.T.astype(np.float64) @ plain.T + b, 0))
    assert len(planned(y, {x: a, z: b}).run) == 1


def test_rows_of_different_sizes_keep_their_digits() -> None:
    """A large element costs those of other chunks nothing."""
    weight, plain = scaled(64, 512, "int8")
    a = random(4, 512)
    a[:, 100] = 1e4
    a[1] *= 1e-30
    a[2] = 0
    x = fed("a", a)
    found, _ = run(tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0))).node, {x: a}, True)
    wanted = a.astype(np.float64) @ plain.T
    close(found, wanted)
    assert (found[2] == 0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_shows(bad: float) -> None:
    weight, _ = least(64, 256)
    a = random(3, 256)
    a[1, 7] = bad
    x = fed("a", a)
    found, _ = run(tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0))).node, {x: a}, True)
    assert not np.isfinite(found[1]).any()
    assert np.isfinite(found[[0, 2]]).all()


@pytest.mark.parametrize("form", FORMS)
def test_the_most_probable_is_that_of_float64(form: str) -> None:
    """Of random logits, whose first two are closer to each other than a language model's."""
    weight, plain = FORMS[form](1000, 256)
    a = random(512, 256)
    x = fed("a", a)
    found, _ = run(tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0))).node, {x: a}, True)
    wanted = a.astype(np.float64) @ plain.T
    assert (found.argmax(-1) == wanted.argmax(-1)).mean() >= 0.995


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_looked_up_in_the_same_constant(form: str) -> None:
    """A table of embeddings that is also the head is in memory once, packed."""
    weight, plain = FORMS[form](300, 256)
    ids = np.array([[299, 0], [7, 7]], np.int32)
    i = given("i", ids)
    rows = tl.take(weight, Tensor(i), axis=0)
    found, steps = run(rows.node, {i: ids}, True)
    assert not steps
    np.testing.assert_allclose(found, plain[ids], rtol=2e-6, atol=1e-6)
    y = tl.matmul(rows, tl.permute_dims(weight, (1, 0)))
    close_and_packed(y, {i: ids}, plain[ids] @ plain.T, plain.size)
    plan = planned(y, {i: ids})
    large = [slot for slot in plan.slots if slot.kind == "weight" and slot.bytes >= 300 * 64]
    assert len(large) == (2 if form == "joined" else 1)  # its upper bits are a constant too


def of_all(columns: int, depth: int) -> Weight:
    """One scale and zero point; the elements of a column lie apart, as in an ONNX file."""
    values = RNG.integers(0, 255, (depth, columns), np.uint8, endpoint=True)
    numbers = (known(values).astype(tl.float32) - 131.0) * known(np.float32(0.01))
    return tl.permute_dims(numbers, (1, 0)), (values.T.astype(np.float64) - 131) * np.float32(0.01)


@pytest.mark.parametrize("rows", [1, 3, 64, 200])
@pytest.mark.parametrize("what", ["a scale for each column", "one for all"])
def test_columns_of_one_block(what: str, rows: int) -> None:
    weight, plain = of_all(96, 512) if what == "one for all" else scaled(64, 256, "int8", 256)
    a = random(rows, plain.shape[1])
    x = fed("a", a)
    y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
    close_and_packed(y, {x: a}, a.astype(np.float64) @ plain.T, plain.size)


def test_codes_that_lie_apart_are_turned_once_for_all_plans() -> None:
    weight, _ = of_all(96, 512)
    origins = []
    for rows in (1, 2):
        a = random(rows, 512)
        x = fed("a", a)
        y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
        compiled = compile_graph(Graph((x,), {"y": y.node}, "turned"), "wasm")
        origins += [each.origin for _, each in compiled.weights if each.nbytes == 96 * 512]
    assert len(origins) == 2
    assert origins[0] is origins[1] is not None


def test_integers_by_integers_are_no_blocks() -> None:
    weight, plain = of_all(96, 512)
    values = RNG.integers(0, 255, (3, 512), np.uint8, endpoint=True)
    x = given("a", values)
    y = tl.matmul(Tensor(x).astype("float32") * 0.5, tl.permute_dims(weight, (1, 0)))
    found, _ = run(y.node, {x: values}, True)
    close(found, values * 0.5 @ plain.T)
    assert "block_matmul" not in ops(planned(y, {x: values}))


@pytest.mark.parametrize("what", ["narrow", "short", "odd"])
def test_what_has_no_kernel_is_computed_as_before(what: str) -> None:
    columns, depth, block = {
        "narrow": (3, 2048, 32),
        "short": (64, 256, 8),
        "odd": (64, 144, 48),
    }[what]
    weight, plain = scaled(columns, depth, "int8", block)
    a = random(5, plain.shape[1])
    x = fed("a", a)
    y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
    found, _ = run(y.node, {x: a}, True)
    close(found, a.astype(np.float64) @ plain.T)
    assert "block_matmul" not in ops(planned(y, {x: a}))


@pytest.mark.parametrize("bits", [4, -4, 8, -8])
def test_the_record_computes_the_same_in_numpy(bits: int) -> None:
    kind = np.int8 if bits == -8 else np.uint8
    word = RNG.integers(0, 100, (40, 4, 32 * abs(bits) // 8), kind)
    s, m = (RNG.random((40, 4)).astype(np.float16) for _ in range(2))
    a = random(1, 3, 128)
    x = fed("a", a)
    operands = [known(each).node for each in (word, s, m)]
    y = make(block_matmul, x, *operands, block=32, bits=bits, zero=3)
    found, steps = run(y, {x: a}, True)
    assert not steps
    program = NumpyProgram(compile_graph(Graph((x,), {"y": y}, "record"), "numpy"))
    (wanted,) = run_sync(program.run([a]))
    close(found, wanted.numpy())
    operands[0] = known(word.reshape(40, -1).view(np.uint32)).node
    y = make(block_matmul, x, *operands, block=32, bits=bits, zero=3)
    program = NumpyProgram(compile_graph(Graph((x,), {"y": y}, "words"), "numpy"))
    (of_words,) = run_sync(program.run([a]))
    np.testing.assert_array_equal(of_words.numpy(), wanted.numpy())


def test_operands_that_do_not_fit_are_refused() -> None:
    x, word = fed("a", random(1, 3, 64)), known(np.zeros((8, 2, 32), np.int8)).node
    scale = known(np.ones((8, 2), np.float16)).node
    good = {"block": 32, "bits": -8, "zero": 0}
    make(block_matmul, x, word, scale, **good)
    with pytest.raises(DTypeError, match="int8 of 8 bits"):
        make(block_matmul, x, word, scale, **{**good, "bits": 8})
    with pytest.raises(DTypeError, match="float16 or float32"):
        make(block_matmul, x, word, known(np.ones((8, 2), np.int32)).node, **good)
    with pytest.raises(ShapeError, match="do not fit"):
        make(block_matmul, x, word, known(np.ones((8, 1), np.float16)).node, **good)
