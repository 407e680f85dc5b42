"""Ops of a user's (tl.custom_op): each case asserts, on one device, which is the default.

The fused attention is that of examples/, which has to be on the path.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import numpy as np

import tallow as tl
from tallow import scalar as s
from tallow.runtime.device import backend

Check = Callable[[], Awaitable[None]]
CASES: dict[str, Check] = {}

SCALE = """
// out = x * factor + 1, by rows.
override COUNT: u32;
override WIDTH: u32 = 1;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> factor: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= COUNT) {
    return;
  }
  out[id.x] = x[id.x] * factor[id.x / WIDTH] + 1.0;
}
"""


def scaled(text: str = SCALE) -> Callable[..., tl.Tensor]:
    """rows (n, m) times factors (n,), plus 1, by that WGSL."""
    return tl.custom_op(
        "scaled_rows",
        numpy=lambda x, factor: x * factor[:, None] + 1,
        shape=lambda x, factor: x.shape,
        wgsl=text,
        constants=lambda x, factor: {"COUNT": x.size, "WIDTH": x.shape[1]},
        workgroups=lambda x, factor: -(-x.size // 64),
        vjp=lambda gradient, y, x, factor: (
            gradient * tl.expand_dims(factor, axis=1),
            tl.sum(gradient * x, axis=1),
        ),
    )


def swish() -> Callable[..., tl.Tensor]:
    """x times its sigmoid."""
    return tl.custom_op(
        "own_swish",
        expression=lambda x: x / (1.0 + s.exp(-x)),
        vjp=lambda gradient, y, x: gradient * (y + (1.0 - y) / (1.0 + tl.exp(-x))),
    )


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


async def close(got: tl.Tensor, wanted: np.ndarray) -> None:
    found = await got.numpy_async()
    assert found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def case(check: Check) -> Check:
    """Enters a case under its name."""
    CASES[check.__name__] = check
    return check


async def run_case(name: str, device: str) -> dict[str, Any]:
    """Runs a case with the device as the default; what computed."""
    before = tl.default_device()
    tl.set_default_device(device)
    try:
        await CASES[name]()
        info = backend(device).info
        return {"device": info.device, "adapter": info.adapter}
    finally:
        tl.set_default_device(before)


# ---- expressions ------------------------------------------------------------------------------


@case
async def an_expression_with_neighbours() -> None:
    x = drawn(3, 40)
    y = x / (1 + np.exp(-x))
    await close(swish()(tl.asarray(x) * 2.0 - tl.asarray(x)) + 1.0, y + 1)
    await close(tl.sum(swish()(tl.asarray(x)), axis=1), y.sum(1))


@case
async def an_expression_that_broadcasts() -> None:
    reserved = tl.custom_op("mixed", expression=lambda var, loop, fn: s.fma(var, loop, fn))
    x, y = drawn(3, 4), drawn(3, 1)
    await close(reserved(tl.asarray(x), y, 2.0), x * y + 2)
    await close(reserved(tl.asarray([1, 2]), 3, 4), np.array([7, 10], np.float32))


@case
async def an_expression_with_a_loop() -> None:
    def root(x: s.Scalar) -> s.Scalar:
        """Newton's iteration until nothing changes much."""
        y, _ = s.loop(
            (x, x * 0.0 + 1.0),
            lambda y, step: step > 1e-6,
            lambda y, step: (
                s.select(step > 1e-6, (y + x / y) * 0.5, y),
                s.select(step > 1e-6, s.absolute(y - (y + x / y) * 0.5), step),
            ),
        )
        return y

    x = np.abs(drawn(3, 8)) + 0.1
    newton = tl.custom_op("newton", expression=lambda x: root(x) + root(x + 1.0))
    await close(newton(tl.asarray(x)), np.sqrt(x) + np.sqrt(x + 1))


@case
async def an_expression_of_truth() -> None:
    between = tl.custom_op("between", expression=lambda x, low, high: (low < x) & (x < high))
    x = drawn(50)
    found = await between(tl.asarray(x), -1.0, 0.5).numpy_async()
    np.testing.assert_array_equal(found, (x > -1) & (x < 0.5))


@case
async def the_gradient_of_an_expression() -> None:
    x = drawn(3, 5)
    sigmoid = 1 / (1 + np.exp(-x))
    found = tl.grad(lambda x: tl.sum(swish()(x) * 3.0))(tl.asarray(x))
    await close(found, 3 * (sigmoid + x * sigmoid * (1 - sigmoid)))


# ---- kernels ----------------------------------------------------------------------------------


@case
async def a_kernel_with_neighbours() -> None:
    x, factor = drawn(7, 10), drawn(7)
    y = scaled()(tl.asarray(x) * 2.0, tl.asarray(factor) + 1.0)
    wanted = 2 * x * (factor + 1)[:, None] + 1
    await close(y, wanted)
    await close(tl.functional.relu(y) * 2.0, np.maximum(wanted, 0) * 2)
    await close(tl.sum(y, axis=0), wanted.sum(0))
    await close(tl.concat([y, y, scaled()(x, factor)], axis=1)[:, 10:], np.hstack(
        [wanted, x * factor[:, None] + 1]
    ))  # fmt: skip


@case
async def a_kernel_of_views() -> None:
    x, factor = drawn(8, 6), drawn(12)
    y = scaled()(tl.permute_dims(tl.asarray(x), (1, 0)), tl.asarray(factor)[::2])
    await close(y, x.T * factor[::2, None] + 1)
    await close(
        scaled()(tl.reshape(tl.asarray(x), (6, 8)), tl.arange(6, dtype=tl.float32)),
        x.reshape(6, 8) * np.arange(6, dtype=np.float32)[:, None] + 1,
    )


@case
async def a_kernel_of_one_operand_twice() -> None:
    x = tl.asarray([[3.0]])
    await close(scaled()(x, x.reshape(1)), np.array([[10]], np.float32))
    pair = tl.custom_op(
        "pair",
        numpy=lambda a, b: a - 2 * b,
        shape=lambda a, b: a.shape,
        wgsl=SCALE.replace("x[id.x] * factor[id.x / WIDTH] + 1.0", "x[id.x] - 2.0 * factor[id.x]"),
        constants=lambda a, b: {"COUNT": a.size},
        workgroups=lambda a, b: (1, 1),
    )
    y = tl.asarray(drawn(20))
    await close(pair(y, y), -drawn(20))
    await close(pair(y, tl.ones(20)), drawn(20) - 2)


@case
async def a_kernel_of_known_numbers() -> None:
    """Constants of one element are literals in other kernels; this one needs them in a buffer."""
    await close(scaled()([[2.0, 3.0]], [4.0]), np.array([[9, 13]], np.float32))


PICK = """
@group(0) @binding(0) var<storage, read> data: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> at: array<i32>;
@group(0) @binding(2) var<storage, read> on: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<i32>;
/* A group for each row: fn main is below. */
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3<u32>) {
  let row = group.x; // 32-bit
  out[row] = select(-1, i32(data[row][at[row]]), on[row] == 1u);
}
"""


def pick() -> Callable[..., tl.Tensor]:
    """data (n, 4) at the index of each row, as integers, -1 where it is off."""
    return tl.custom_op(
        "pick",
        numpy=lambda data, at, on: np.where(
            on, np.take_along_axis(data, at[:, None], 1)[:, 0].astype(np.int32), np.int32(-1)
        ),
        shape=lambda data, at, on: at.shape,
        dtype="int32",
        wgsl=PICK,
        workgroups=lambda data, at, on: at.size,
    )


@case
async def a_kernel_of_other_types() -> None:
    data = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    at, on = np.array([3, 0, 2]), np.array([True, False, True])
    for floating in ("float32", "float64", "float16"):
        for whole in ("int64", "int32", "int8"):
            found = pick()(data.astype(floating), at.astype(whole), on)
            np.testing.assert_array_equal(await found.numpy_async(), [4, -1, 11])
            assert found.dtype == tl.int32


@case
async def a_kernel_in_double_precision() -> None:
    """As float32 on WebGPU; float64 elsewhere."""
    x, factor = drawn(4, 3).astype(np.float64), drawn(4).astype(np.float64)
    await close(scaled()(x, factor), x * factor[:, None] + 1)


@case
async def an_empty_kernel() -> None:
    found = await scaled()(tl.zeros((0, 4)), tl.zeros(0)).numpy_async()
    assert found.shape == (0, 4)


@case
async def a_kernel_in_a_step_with_its_gradient() -> None:
    op, x, factor = scaled(), drawn(5, 4), drawn(5)
    weight = tl.Variable(factor)

    @tl.jit
    def step(x: tl.Tensor) -> tl.Tensor:
        y = op(x, weight)
        gradient = tl.grad(lambda f: tl.sum(op(x, f) ** 2))(tl.Tensor(weight.node))
        weight.assign(weight - 0.01 * gradient)
        return tl.sum(y**2)

    expected = factor.astype(np.float64)
    for _ in range(3):
        y = x * expected[:, None] + 1
        found = await step(tl.asarray(x)).numpy_async()
        np.testing.assert_allclose(found, (y**2).sum(), rtol=1e-4)
        expected = expected - 0.01 * (2 * y * x).sum(1)
    np.testing.assert_allclose(await weight.numpy_async(), expected, rtol=1e-4)


@case
async def declared_again_with_other_code() -> None:
    """Each function keeps the code that it was declared with, in one plan too."""
    x, factor = drawn(2, 3), drawn(2)
    first = scaled()
    second = tl.custom_op(
        "scaled_rows",
        numpy=lambda x, factor: x * factor[:, None] + 5,
        shape=lambda x, factor: x.shape,
        wgsl=SCALE.replace("+ 1.0", "+ 5.0"),
        constants=lambda x, factor: {"COUNT": x.size, "WIDTH": x.shape[1]},
        workgroups=lambda x, factor: 1,
    )
    product = x * factor[:, None]
    await close(first(x, factor), product + 1)
    await close(second(x, factor), product + 5)
    await close(first(x, factor) * 2.0 + second(x, factor), 3 * product + 7)
    twice, thrice = times(2.0), times(3.0)
    await close(tl.tanh(twice(x) * thrice(x)), np.tanh(6 * x * x))


def times(number: float) -> Callable[..., tl.Tensor]:
    """Long enough to become a function of its own in WGSL."""
    return tl.custom_op("times", expression=lambda x: s.fma(x, number, s.absolute(x) * 0.0))


@case
async def fused_attention() -> None:
    """The example of examples/."""
    example = import_module("fused_attention")
    for queries, keys, width in ((5, 7, 4), (70, 33, 16), (33, 96, 64)):
        q, k = tl.asarray(drawn(2, 3, queries, width)), tl.asarray(drawn(2, 3, keys, width))
        wanted = tl.functional.scaled_dot_product_attention(q, k, k + 1.0)
        await close(example.attend(q, k, k + 1.0), await wanted.numpy_async())

    def loss(of: Any) -> Any:
        return lambda *operands: tl.sum(of(*operands) ** 2)

    own = tl.grad(loss(tl.functional.scaled_dot_product_attention), argnums=(0, 1, 2))
    mine = tl.grad(loss(example.attend), argnums=(0, 1, 2))
    q, k, v = (tl.asarray(drawn(1, 2, n, 8)) for n in (9, 11, 11))
    for found, known in zip(mine(q, k, v), own(q, k, v), strict=True):
        await close(found, await known.numpy_async())
