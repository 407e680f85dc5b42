"""Cases for every schedule of hand-written kernels: odd shapes, on which the schedule is forced.

All cases of a schedule are one graph with an output each, so that a device needs one load and one
run for them. This file is also run inside the browser (test_kernels_webgpu.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from attention_reference import attended, attention_reference
from block_kernel_cases import blocks
from kernel_case import Case
from op_cases import normal
from op_cases.window import conv_reference, pool_reference, weight_reference
from op_cases.winograd import winograd_input, winograd_output
from recurrence_kernel_cases import (
    dynamic_recurrences,
    dynamic_rounds,
    dynamic_steps_one_by_one,
    recurrences,
    recurrences_back,
)
from tree_reference import features_of, random_trees, walk_reference, walked
from winograd_reference import winograd_input_reference, winograd_output_reference

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import Compiled, Limits, compile_graph
from tallow.core.drivers import run_async
from tallow.core.dtype import as_dtype
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.devices.webgpu.codegen.kernels import ATTENTION, BLOCKS, PRODUCTS, SCHEDULES, TREES
from tallow.devices.webgpu.codegen.recurrence_kernels import (
    DYNAMIC_RECURRENCE,
    DYNAMIC_ROUND,
    DYNAMIC_STEP,
    RECURRENCE,
    RECURRENCE_BACK,
)
from tallow.devices.webgpu.codegen.window_kernels import (
    CONVOLUTIONS,
    GROUPED,
    POOL,
    TRANSFORM_INPUT,
    TRANSFORM_OUTPUT,
    WEIGHT_GRADIENTS,
)
from tallow.graph import Graph, input_node, make
from tallow.ops.window import conv2d_weight_parts, spatial_size
from tallow.runtime.device import backend
from tallow.runtime.session import Session
from tallow.tensor import Tensor

convolve: Callable[..., np.ndarray] = conv_reference
pool: Callable[..., np.ndarray] = pool_reference

Shape = tuple[int, ...]

# A schedule that rounds its operands to float16 differs by 2^-11 of each product.
TOLERANCE, HALF_TOLERANCE = 1e-4, 1e-2


# ---- matrix products --------------------------------------------------------------------------


def product(*shape: int) -> Case:
    batch, rows, inner, columns = shape
    arrays = normal(batch, rows, inner), normal(batch, inner, columns)
    return Case(f"product {shape}", arrays, tl.matmul, np.matmul)


def fused_product(*shape: int) -> Case:
    """An operand that is transposed; a bias, an activation and a residual behind."""
    batch, rows, inner, columns = shape
    arrays = (
        normal(batch, rows, inner),
        normal(batch, columns, inner),
        normal(columns),
        normal(batch, rows, columns),
    )
    return Case(
        f"fused product {shape}",
        arrays,
        lambda a, b, c, d: F.relu(a @ b.mT + c) + d,
        lambda a, b, c, d: np.maximum(a @ b.transpose(0, 2, 1) + c, 0) + d,
    )


def product_to(length: int, *shape: int) -> Case:
    """One whose sums end at a length. What lies behind it is no number."""
    batch, rows, inner, columns = shape
    a, b = normal(batch, rows, inner), normal(batch, inner, columns)
    a[:, :, length:], b[:, length:] = np.nan, np.inf

    def build(a: Tensor, b: Tensor, n: Tensor) -> Tensor:
        return tl.fill_from(a, n, 0, axis=2) @ tl.fill_from(b, n, 0, axis=1)

    return Case(
        f"product to {length} {shape}",
        (a, b, np.array(length, np.int32)),
        build,
        lambda a, b, n: a[:, :, :length] @ b[:, :length],
    )


def products() -> list[Case]:
    """Of few forms (multiples of 4 or not, one row, one batch): compiling these takes the time."""
    return [
        product(1, 1, 1, 1),
        product(1, 1, 33, 17),
        product(2, 3, 7, 17),
        product(3, 7, 1, 3),
        product(1, 37, 41, 43),
        product(1, 67, 71, 131),
        product(1, 2, 1021, 5),
        product(2, 65, 36, 68),
        fused_product(2, 13, 19, 23),
        fused_product(3, 12, 16, 20),
        fused_product(1, 13, 24, 10),
        convolution((2, 17, 7, 5), (3, 17, 1, 1)),
        product_to(22, 2, 37, 41, 43),
        product_to(0, 1, 13, 24, 20),
        product_to(17, 1, 5, 24, 20),
    ]


# ---- convolutions and pools -------------------------------------------------------------------


def convolution(x: tuple[int, ...], w: tuple[int, ...], **options: Any) -> Case:
    return Case(
        f"convolution {x} {w} {options}",
        (normal(*x), normal(*w), normal(w[0])),
        lambda x, w, b: F.conv2d(x, w, b, **options),
        lambda x, w, b: convolve(x, w, b, **options),
    )


def residual(x: tuple[int, ...], w: tuple[int, ...], **options: Any) -> Case:
    """A convolution that keeps the shape, with an activation and a residual behind."""
    return Case(
        f"residual {x} {w} {options}",
        (normal(*x), normal(*w), normal(w[0]), normal(x[0], w[0], *x[2:])),
        lambda x, w, b, r: F.relu6(F.conv2d(x, w, b, **options)) + r,
        lambda x, w, b, r: np.clip(convolve(x, w, b, **options), 0, 6) + r,
    )


def convolutions() -> list[Case]:
    return [
        convolution((1, 1, 1, 1), (1, 1, 3, 3), padding=1),
        convolution((2, 3, 17, 7), (7, 3, 3, 2), stride=(2, 1), padding=((1, 0), (2, 1))),
        convolution((1, 4, 13, 11), (12, 4, 3, 3), dilation=(2, 3), padding=(2, 3)),
        convolution((1, 17, 11, 13), (33, 17, 2, 3), padding=1),
        convolution((1, 5, 9, 8), (67, 5, 5, 5), padding=2),
        convolution((1, 33, 7, 7), (17, 33, 1, 1), stride=3),
        residual((2, 13, 9, 10), (13, 13, 3, 3), padding=1),
        residual((3, 20, 7, 19), (20, 20, 3, 3), padding=1),
    ]


def depthwise(window: int, stride: int) -> list[Case]:
    """For a kernel of one window and stride."""

    def case(x: tuple[int, ...], padding: Any) -> Case:
        w = x[1], 1, window, window
        return convolution(x, w, groups=x[1], stride=stride, padding=padding)

    small = window // 2
    cases = [
        case((1, 2, 1, 1), small),
        case((1, 3, 7, 17), small),
        case((2, 7, 17, 7), ((small, 0), (0, small))),
        case((1, 33, 11, 5), ((0, small), (small, 1))),
        case((3, 4, 13, 31), 0),
    ]
    if stride == 1:
        kernel = 17, 1, window, window
        cases.append(residual((2, 17, 7, 9), kernel, groups=17, padding=small))
    return cases


def any_depthwise() -> list[Case]:
    return [
        *depthwise(3, 1),
        *depthwise(5, 2),
        convolution((1, 7, 9, 11), (7, 1, 3, 3), groups=7, dilation=(2, 3), padding=(1, 3)),
        convolution((2, 8, 13, 7), (8, 1, 2, 5), groups=8, stride=(3, 2), padding=((0, 1), (2, 1))),
        convolution((1, 3, 17, 17), (3, 1, 7, 1), groups=3, stride=(1, 3)),
    ]


def grouped() -> list[Case]:
    return [
        convolution((2, 6, 5, 7), (9, 2, 3, 3), groups=3, padding=1),
        convolution((1, 14, 7, 3), (2, 7, 2, 3), groups=2, stride=2, padding=((1, 0), (0, 2))),
        convolution((1, 4, 17, 5), (8, 1, 3, 3), groups=4, dilation=2, padding=2),
        convolution((1, 34, 3, 3), (34, 17, 1, 1), groups=2),
        residual((1, 33, 3, 7), (33, 11, 3, 3), groups=3, padding=1),
        *depthwise(3, 2),
    ]


def pooling(shape: tuple[int, ...], window: Any, stride: Any, pads: Any, ceil: bool) -> list[Case]:
    options = {"stride": stride, "padding": pads, "ceil_mode": ceil}
    label = f"{shape} {window} {options}"

    def expected(reduce: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        return lambda x: pool(x, window, stride, pads, ceil, reduce)

    return [
        Case(
            f"maximum {label}",
            (normal(*shape),),
            lambda x: F.max_pool2d(x, window, **options),
            expected(lambda w, _: w.max((2, 3))),
        ),
        Case(
            f"average {label}",
            (normal(*shape),),
            lambda x: F.avg_pool2d(x, window, **options),
            expected(lambda w, n: w.sum((2, 3)) / n),
        ),
    ]


def pools() -> list[Case]:
    none = ((0, 0), (0, 0))
    return [
        *pooling((1, 1, 7, 7), (7, 7), (1, 1), none, False),
        *pooling((2, 3, 17, 7), (3, 3), (2, 2), ((1, 1), (1, 1)), False),
        *pooling((1, 33, 5, 11), (2, 3), (1, 2), ((0, 1), (2, 0)), False),
        *pooling((1, 8, 7, 13), (3, 2), (3, 2), ((1, 1), (0, 1)), True),
    ]


# ---- Winograd's transforms --------------------------------------------------------------------


def input_transform(padding: Any, *shape: int) -> Case:
    return Case(
        f"input {shape} {padding}",
        (normal(*shape),),
        lambda x: winograd_input(x, padding),
        lambda x: winograd_input_reference(x, padding),
    )


def input_transforms() -> list[Case]:
    none, one = ((0, 0), (0, 0)), ((1, 1), (1, 1))
    return [
        input_transform(one, 1, 1, 1, 1),
        input_transform(none, 1, 3, 3, 7),
        input_transform(one, 2, 7, 17, 33),
        input_transform(((1, 0), (0, 1)), 3, 17, 3, 17),
        input_transform(((0, 2), (3, 0)), 1, 33, 7, 4),
        input_transform(one, 2, 41, 5, 68),
    ]


def output_transform(pictures: int, height: int, width: int, channels: int) -> Case:
    tiles = pictures * -(-height // 2) * -(-width // 2)
    size = height, width
    return Case(
        f"output {pictures} {size} {channels}",
        (normal(16, tiles, channels), normal(channels), normal(pictures, *size, channels)),
        lambda m, b, r: F.relu(winograd_output(m, size) + b) + r,
        lambda m, b, r: np.maximum(winograd_output_reference(m, size) + b, 0) + r,
    )


def output_transforms() -> list[Case]:
    return [
        output_transform(1, 1, 1, 1),
        output_transform(1, 3, 3, 7),
        output_transform(2, 7, 17, 33),
        output_transform(3, 17, 2, 17),
        output_transform(1, 33, 7, 4),
        output_transform(2, 6, 41, 68),
    ]


# ---- gradients of weights ---------------------------------------------------------------------


def weight_gradient(
    x: tuple[int, ...], filters: int, kernel: tuple[int, int], parts: int, **options: Any
) -> Case:
    attrs = {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), **options}
    size = spatial_size(x, kernel, attrs)

    def expected(image: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        each = -(-len(image) // parts)
        return np.stack([
            weight_reference(  # type: ignore[no-untyped-call]
                image[at : at + each], gradient[at : at + each], kernel, **attrs,
                             groups=1)
            for at in range(0, each * parts, each)
        ])  # fmt: skip

    return Case(
        f"weight gradient {x} {filters} {kernel} {parts} {options}",
        (normal(*x), normal(x[0], *size, filters)),
        lambda image, gradient: Tensor(
            make(
                conv2d_weight_parts, image.node, gradient.node, kernel=kernel, parts=parts, **attrs
            )
        ),
        expected,
    )


def weight_gradients() -> list[Case]:
    one = ((1, 1), (1, 1))
    return [
        weight_gradient((1, 1, 1, 1), 1, (1, 1), 1),
        weight_gradient((3, 7, 5, 1), 5, (3, 2), 2, padding=one),
        weight_gradient((2, 9, 8, 3), 7, (3, 3), 2, stride=(2, 1), padding=((1, 0), (2, 1))),
        weight_gradient((2, 11, 12, 4), 12, (3, 3), 1, dilation=(2, 3), padding=((2, 2), (3, 3))),
        weight_gradient((4, 6, 7, 17), 33, (2, 3), 3, padding=one),
        weight_gradient((2, 5, 4, 16), 24, (1, 1), 2, stride=(2, 2)),
        weight_gradient((3, 8, 8, 9), 16, (5, 5), 3, padding=((2, 2), (2, 2))),
    ]


def trees() -> list[Case]:
    """Trees of every mode, with arithmetic behind."""
    draws = np.random.default_rng(38)

    def one(rows: int, count: int, depth: int) -> Case:
        return Case(
            f"trees: {count} of depth {depth}, {rows} rows",
            (features_of(draws, rows, 4), *random_trees(draws, count, depth, 4)),
            lambda x, n, s, r: walked(x, n, s, r, depth) + 1,
            lambda x, n, s, r: walk_reference(x, n.astype(int), s, r.astype(int)) + 1,
        )

    return [one(9, 5, 6), one(1, 1, 1), one(70, 40, 3), one(130, 3, 12)]


def attentions() -> list[Case]:
    """Of few forms: keys that are no multiple of 4; groups; a window; a batch that ends early."""

    def one(q: Shape, k: Shape, wide: int, **attrs: Any) -> Case:
        arrays = normal(*q), normal(*k), normal(*k[:3], wide)
        reach = np.array(attrs.pop("reach"), np.int32)
        given = {"scale": 0.4, "causal": False, "window": 0, **attrs}
        return Case(
            f"attention {q} {k} {wide} {given}",
            (*arrays, reach),
            lambda q, k, v, r: attended(q, k, v, r, **given) * 2.0,
            lambda q, k, v, r: attention_reference(q, k, v, r, **given) * 2,
        )

    return [
        one((1, 2, 5, 8), (1, 2, 7, 8), 8, reach=[7]),
        one((2, 6, 70, 16), (2, 2, 131, 16), 12, reach=[3, 60], causal=True),
        one((1, 3, 9, 64), (1, 1, 33, 64), 64, reach=[20], causal=True, window=6),
        one((2, 1, 4, 4), (2, 1, 6, 4), 4, reach=[0, 4]),
    ]


MAKERS: dict[str, Callable[[], list[Case]]] = {
    **dict.fromkeys(PRODUCTS, products),
    **dict.fromkeys(BLOCKS, blocks),
    **dict.fromkeys(CONVOLUTIONS, convolutions),
    "depthwise_3x3": partial(depthwise, 3, 1),
    "depthwise_3x3_stride2": partial(depthwise, 3, 2),
    "depthwise_5x5": partial(depthwise, 5, 1),
    "depthwise_5x5_stride2": partial(depthwise, 5, 2),
    "depthwise": any_depthwise,
    **dict.fromkeys(WEIGHT_GRADIENTS, weight_gradients),
    GROUPED.name: grouped,
    POOL.name: pools,
    TRANSFORM_INPUT.name: input_transforms,
    TRANSFORM_OUTPUT.name: output_transforms,
    RECURRENCE.name: recurrences,
    RECURRENCE_BACK.name: recurrences_back,
    DYNAMIC_RECURRENCE.name: dynamic_recurrences,
    DYNAMIC_STEP.name: dynamic_steps_one_by_one,
    DYNAMIC_ROUND.name: dynamic_rounds,
    TREES.name: trees,
    ATTENTION.name: attentions,
}


# ---- running them -----------------------------------------------------------------------------


class Always(Mapping[str, str]):
    """Names one schedule, whatever is asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, key: str) -> str:
        return self.name

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


def missing_feature(name: str, traits: Traits) -> str | None:
    """The WebGPU feature that a kernel needs and the device has not."""
    schedule = SCHEDULES[name]
    if schedule.quad and not traits.subgroups:
        return "subgroups"
    return "shader-f16" if schedule.half and not traits.float16 else None


def graph_of(name: str, cases: list[Case]) -> Graph:
    """All cases, each an output of its own, on inputs that are fed."""
    inputs, outputs = [], {}
    for number, case in enumerate(cases):
        nodes = [
            input_node(f"x{number}_{index}", array.shape, as_dtype(array.dtype))
            for index, array in enumerate(case.inputs)
        ]
        inputs += nodes
        outputs[f"y{number}"] = case.build(*map(Tensor, nodes)).node
    return Graph(tuple(inputs), outputs, name)


def forced(name: str, cases: list[Case], limits: Limits) -> Compiled:
    """The cases compiled to one schedule, where it is one of the candidates."""
    traits = replace(limits.traits, half=SCHEDULES[name].half, choices=Always(name))
    return compile_graph(graph_of(name, cases), "webgpu", replace(limits, traits=traits))


def kernels_of(compiled: Compiled) -> list[str]:
    """The schedule of each step that has one."""
    texts = [compiled.plan.modules[step.kernel["module"]] for step in compiled.plan.run]
    return [found[1] for text in texts if (found := re.match(r"// (\w+) \(kernels_wgsl/", text))]


async def run_schedule(name: str, every: int = 1) -> dict[str, Any]:
    """{"missing": feature or None, "wrong": texts, "cases", "kernels": names, "adapter"}."""
    device = backend("webgpu")
    missing = missing_feature(name, device.limits.traits)
    if missing:
        return {"missing": missing, "adapter": device.info.adapter}
    cases = MAKERS[name]()[::every]
    compiled = forced(name, cases, device.limits)
    feeds = {
        f"x{number}_{index}": array
        for number, case in enumerate(cases)
        for index, array in enumerate(case.inputs)
    }
    with Session(compiled, await run_async(device.load(compiled)), device) as session:
        results = await session.run_async(feeds)
    wrong, rounding = [], 0.0
    tolerance = HALF_TOLERANCE if SCHEDULES[name].half else TOLERANCE
    for number, case in enumerate(cases):
        got = results[f"y{number}"]
        expected = case.expected(*(array.astype(np.float64) for array in case.inputs))
        if got.shape != expected.shape:
            wrong.append(f"{case.label}: shape {got.shape}, expected {expected.shape}")
            continue
        # The error of a sum grows with its terms, however near to zero it ends.
        far = np.abs(got - expected).max() / max(1.0, np.abs(expected).max())
        rounding = max(rounding, float(far))
        if not far <= tolerance:
            wrong.append(f"{case.label}: differs by {far:.2g} of the largest value")
    return {
        "missing": None,
        "wrong": wrong,
        "rounding": rounding,
        "cases": len(cases),
        "kernels": kernels_of(compiled),
        "adapter": device.info.adapter,
    }
