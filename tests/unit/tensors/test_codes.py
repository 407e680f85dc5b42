"""Coded types: their codes, packing and casts, against ml_dtypes, on every device."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tallow as tl
from tallow.core import dtype as dt
from tallow.core.codes import decoded, encoded, pack, unpack
from tallow.core.hostarray import from_buffer, from_values
from tallow.errors import FeedError
from tallow.graph import Graph, input_node
from tallow.runtime.session import compile_session
from tallow.tensor import Tensor

CODED = [dtype for dtype in dt.ALL if dtype.coded]
FLOATING = [dtype for dtype in CODED if dtype.is_floating]

random = np.random.default_rng(5)
NUMBERS = np.concatenate(
    [
        np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-30, 3e38, 448, 464, 465]),
        *(random.normal(size=400) * 2.0**power for power in range(-20, 20, 3)),
        np.arange(-20, 20) / 4,
    ]
).astype(np.float32)


def other(dtype: dt.DType) -> Any:
    return getattr(ml_dtypes, dtype.name)


def numbers_for(dtype: dt.DType) -> np.ndarray:
    """The numbers whose code the format defines: a power of two can't be zero or negative."""
    if dtype != dt.float8_e8m0fnu:
        return NUMBERS
    kept = NUMBERS[(NUMBERS > 1e-37) | np.isnan(NUMBERS)]
    halves = kept.view(np.uint32) & 0x7FFFFF == 0x400000  # rounded up here, as ONNX specifies
    return kept[~halves]


@pytest.mark.parametrize("dtype", CODED, ids=lambda dtype: dtype.name)
def test_every_code_means_what_it_should(dtype: dt.DType) -> None:
    codes = np.arange(1 << min(dtype.bits, 16)).astype(f"u{dtype.size}")
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wanted = codes.view(other(dtype)).astype(np.float64)
    np.testing.assert_array_equal(decoded(codes.tolist(), dtype), wanted)


@pytest.mark.parametrize("dtype", FLOATING, ids=lambda dtype: dtype.name)
def test_numbers_get_the_nearest_code(dtype: dt.DType) -> None:
    numbers = numbers_for(dtype)
    wanted = numbers.astype(other(dtype)).view(f"u{dtype.size}")
    np.testing.assert_array_equal([encoded(x, dtype) for x in numbers.tolist()], wanted)


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize("dtype", FLOATING, ids=lambda dtype: dtype.name)
def test_a_device_casts_as_the_host_does(dtype: dt.DType, device: str) -> None:
    numbers = numbers_for(dtype)
    if device == "webgpu":  # which may read subnormal numbers as 0
        numbers = numbers[(abs(numbers) > 1e-37) | (numbers == 0) | np.isnan(numbers)]
    x = Tensor(input_node("x", numbers.shape, dt.float32))
    outputs = {"y": x.astype(dtype).node, "z": x.astype(dtype).astype(dt.float32).node}
    with compile_session(Graph((x.node,), outputs), device) as session:
        got = session.run({"x": numbers})
    wanted = numbers.astype(other(dtype))
    assert got["y"].dtype == wanted.dtype
    words = f"u{dtype.size}"
    np.testing.assert_array_equal(got["y"].view(words), wanted.view(words))
    np.testing.assert_array_equal(got["z"], wanted.astype(np.float32))


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize("dtype", CODED, ids=lambda dtype: dtype.name)
def test_weights_and_inputs_of_every_type(dtype: dt.DType, device: str) -> None:
    shape = (7, 19)  # too many to decode at compile time, and no whole bytes
    weights = random.integers(0, 4, shape).astype(np.float32).astype(other(dtype))
    values = random.integers(0, 4, shape).astype(np.float32).astype(other(dtype))
    x = Tensor(input_node("x", shape, dtype))
    wide = x.astype(dt.float32) + tl.asarray(weights).astype(dt.float32)
    graph = Graph((x.node,), {"sum": wide.node, "same": x.node})
    with compile_session(graph, device) as session:
        for feed in (values, values.view(f"u{dtype.size}")):
            got = session.run({"x": feed})
            wanted = values.astype(np.float32) + weights.astype(np.float32)
            np.testing.assert_array_equal(got["sum"], wanted)
            np.testing.assert_array_equal(got["same"].view("u1"), values.view("u1"))
        with pytest.raises(FeedError, match=dtype.name):
            session.run({"x": values.astype(np.float32)})


def test_weights_of_few_bits_stay_packed() -> None:
    weights = np.ones((64, 64), ml_dtypes.int4)
    x = Tensor(input_node("x", (64, 64), dt.float32))
    graph = Graph((x.node,), {"y": (x + tl.asarray(weights).astype(dt.float32)).node})
    with compile_session(graph, "numpy") as session:
        held = [slot.bytes for slot in session.plan.slots if slot.kind == "weight"]
    assert max(held) == 64 * 64 // 2


@pytest.mark.parametrize("dtype", CODED, ids=lambda dtype: dtype.name)
def test_packing_is_undone(dtype: dt.DType) -> None:
    words = random.integers(0, 1 << min(dtype.bits, 8), 13).astype(np.uint8)
    assert bytes(unpack(pack(memoryview(words), dtype), dtype, 13)) == words.tobytes()


def test_the_first_element_lies_in_the_low_bits() -> None:
    assert bytes(from_values([1, -2, 3], (3,), dt.int4).data) == bytes([0xE1, 0x03])
    assert bytes(from_values([0, 1, 2, 3, 1], (5,), dt.uint2).data) == bytes([0xE4, 0x01])


def test_promotion() -> None:
    assert dt.promote(dt.bfloat16, dt.float32) == dt.float32
    assert dt.promote(dt.bfloat16, dt.float16) == dt.float32
    assert dt.promote(dt.float8_e5m2, dt.bfloat16) == dt.bfloat16
    assert dt.promote(dt.int4, dt.uint4) == dt.int8
    assert dt.promote(dt.int4, dt.int8) == dt.int8


def test_numpy_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    array = from_buffer(np.array([1, -2], ml_dtypes.bfloat16))
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    assert array.numpy().tolist() == [0x3F80, 0xC000]
    assert array.numpy().dtype == np.uint16
