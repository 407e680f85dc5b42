"""Cases on which every schedule of reductions is forced: those of the op suite, and odd shapes.

All cases are one graph with an output each, so that a device needs one load and one run for them.
This file is also run inside the browser (test_reductions_webgpu.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from kernel_cases import Always
from op_cases import CASES, Case, booleans, integers, normal
from op_cases.composed import softmax_reference
from run_case import difference

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import Compiled, compile_graph
from tallow.core.drivers import run_async
from tallow.core.dtype import as_dtype
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.graph import Graph, input_node
from tallow.ops.kinds import REGISTRY, Reduce
from tallow.runtime.device import backend
from tallow.runtime.session import Session
from tallow.tensor import Tensor

softmax: Callable[..., np.ndarray] = softmax_reference
LOOSE = {"rtol": 1e-4, "atol": 1e-4}  # sums of hundreds of terms


def graph_of(cases: Mapping[str, Case]) -> Graph:
    """All cases, each an output of its own, on inputs that are fed."""
    inputs, outputs = [], {}
    for name, case in cases.items():
        nodes = [
            input_node(f"{name} {index}", array.shape, as_dtype(array.dtype))
            for index, array in enumerate(case.inputs)
        ]
        inputs += nodes
        outputs[name] = case.build(*map(Tensor, nodes)).node
    return Graph(tuple(inputs), outputs, "reductions")


def reduces(case: Case) -> bool:
    return any(isinstance(node.op, Reduce) for node in graph_of({"case": case}).nodes())


def layer_norm(x: np.ndarray) -> np.ndarray:
    result: np.ndarray = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return result


def folds(*shape: int) -> list[Case]:
    """Each kind of fold of a shape, over its last axis, its first, and all of them."""
    x, whole, truths = normal(*shape), integers(*shape, low=-99, high=99), booleans(*shape)
    near_one = (1 + 0.01 * normal(*shape)).astype(np.float32)
    cases = []
    for axis in (-1, 0, None):
        label = f"{shape} {axis}"
        for name in ("max", "min"):
            take = getattr(tl, name), getattr(np, name)
            for kind, array in (("float32", x), ("int32", whole), ("uint32", whole.view("u4"))):
                cases.append(case(f"{name} {kind} {label}", array, *over(take, axis)))
        for name, array in (("sum", x), ("sum", whole), ("prod", near_one), ("prod", whole | 1)):
            take = getattr(tl, name), typed(getattr(np, name))
            cases.append(case(f"{name} {array.dtype} {label}", array, *over(take, axis)))
        for name, some in (("any", truths & False), ("all", truths | True)):
            take = getattr(tl, name), getattr(np, name)
            cases.append(case(f"{name} {label}", truths, *over(take, axis)))
            cases.append(case(f"{name} alike {label}", some, *over(take, axis)))
        for name in ("argmax", "argmin"):
            take = getattr(tl, name), indexed(getattr(np, name))
            # Whole numbers repeat: the first of equal ones counts.
            for kind, array in (("float32", x), ("int32", whole // 10), ("equal", x * 0 - np.inf)):
                cases.append(case(f"{name} {kind} {label}", array, *over(take, axis)))
    return cases


def rows(*shape: int) -> list[Case]:
    """Kernels of rows, and folds with something fused before and behind."""
    x = normal(*shape, scale=3)
    weight = normal(shape[-1])
    return [
        case(f"softmax {shape}", x, F.softmax, softmax),
        case(f"layer norm {shape}", x, lambda x: F.layer_norm(x, shape[-1:]), layer_norm),
        Case(
            f"fused row {shape}",
            (x, weight),
            lambda x, w: F.softmax(x * w + 1.0) * 2.0,
            lambda x, w: softmax(x * w + 1) * 2,
            **LOOSE,
        ),
        case(
            f"fused {shape}",
            x,
            lambda x: F.relu(tl.sum(x * x + 1.0, axis=-1) * 2.0),
            lambda x: (x * x + 1).sum(-1) * 2,
        ),
        case(
            f"permuted {shape}",
            x,
            lambda x: tl.sum(tl.permute_dims(x, (1, 0))[::-1, :] + 1.0, axis=1),
            lambda x: (x.T[::-1] + 1).sum(1),
        ),
        case(
            f"padded and joined {shape}",
            x,
            lambda x: tl.concat([tl.max(x, axis=0), x[0] + 1.0]),
            lambda x: np.concatenate([x.max(0), x[0] + 1]),
        ),
    ]


def case(name: str, array: np.ndarray, build: Any, expected: Any) -> Case:
    return Case(name, (array,), build, expected, **LOOSE)


def over(take: tuple[Any, Any], axis: int | None) -> tuple[Any, Any]:
    ours, theirs = take
    return (lambda x: ours(x, axis=axis)), (lambda x: theirs(x, axis=axis))


def typed(function: Any) -> Any:
    return lambda x, axis: function(x, axis=axis, dtype=x.dtype)


def indexed(function: Any) -> Any:
    return lambda x, axis: np.asarray(function(x, axis=axis)).astype(np.int32)


def axes_of(*shape: int) -> list[Case]:
    """Several axes, side by side or not."""
    x = normal(*shape)
    return [
        case(f"sum {shape} {axes}", x, *over((tl.sum, np.sum), axes))  # type: ignore[arg-type]
        for axes in ((0, 1), (1, 2), (0, 2), (1, 3), (0, 1, 3), (1, 2, 3), (0, 1, 2, 3))
    ]


@cache
def cases() -> dict[str, Case]:
    """By name. Lengths around the sizes of a team; every lane of a vec4 at its end."""
    made = [case for case in CASES.values() if reduces(case)]
    for shape in ((1, 1), (7, 3), (17, 33), (1, 1021), (67, 8), (2, 4096)):
        made += folds(*shape)
    for shape in ((1, 3), (7, 17), (33, 64), (2, 1021), (5, 2048)):
        made += rows(*shape)
    made += axes_of(1, 7, 7, 20)
    made += axes_of(3, 5, 2, 17)
    return named(made)


@cache
def few_cases() -> dict[str, Case]:
    """Every kind of fold and row, at lengths below and above the size of a team: for Chromium,
    which takes ten times as long to compile a kernel as the desktop's WebGPU."""
    made = [*folds(7, 3), *folds(2, 1021), *rows(7, 17), *rows(2, 1021), *axes_of(3, 5, 2, 17)]
    return named(made)


def named(made: list[Case]) -> dict[str, Case]:
    found = {case.name: case for case in made}
    assert len(found) == len(made)
    return found


@cache
def long_cases() -> dict[str, Case]:
    """Folds too long for a single loop on some devices, split or not; 100003 is a prime."""
    prime, even, wide = normal(100_003), normal(1 << 17, 2), normal(3, 66_000)
    whole = integers(1 << 18, low=-(2**31), high=2**31)
    made = [
        case("sum prime", prime, *over((tl.sum, np.sum), None)),
        case("max prime", prime, *over((tl.max, np.max), None)),
        case("argmax prime", prime, *over((tl.argmax, indexed(np.argmax)), None)),
        case("argmin wide", wide, *over((tl.argmin, indexed(np.argmin)), 1)),
        case("sum columns", even, *over((tl.sum, np.sum), 0)),
        case("sum wide", wide, *over((tl.sum, np.sum), 1)),
        case("sum int32", whole, *over((tl.sum, typed(np.sum)), None)),
        case("min int32", whole, *over((tl.min, np.min), None)),
        case("any", whole == whole[-1], *over((tl.any, np.any), None)),
        case("softmax", wide, F.softmax, softmax),
        case(
            "squares",
            even.T.copy(),
            lambda x: F.relu(tl.mean(x * x + 1.0)),
            lambda x: (x * x + 1).mean(dtype=np.float32),
        ),
    ]
    return {case.name: Case(**{**vars(case), "rtol": 1e-4, "atol": 0.02}) for case in made}


LOOP = re.compile(r"for \(var \w+ = \w+; \w+ < (?![01]u)")  # over more than one element


def schedules_of(compiled: Compiled) -> set[str]:
    """The schedules of all steps that fold more than one element."""
    found = set()
    for step in compiled.plan.run:
        text = compiled.plan.modules[step.kernel["module"]]
        if any(isinstance(REGISTRY[op.op], Reduce) for op in step.host) and LOOP.search(text):
            together = "subgroup" if "subgroupAdd" in text else "workgroup"
            found.add(together if "workgroupBarrier" in text else "serial")
    return found


async def run_schedule(schedule: str, chosen: Mapping[str, Case] | None = None) -> dict[str, Any]:
    """{"missing": feature or None, "wrong": texts, "schedules": those used, "adapter"}, of all
    cases unless some are chosen."""
    device = backend("webgpu")
    traits = device.limits.traits
    if schedule == "subgroup" and not traits.subgroups:
        return {"missing": "subgroups", "adapter": device.info.adapter}
    return {"missing": None} | await run(
        cases() if chosen is None else chosen, replace(traits, choices=Always(schedule))
    )


async def run_long(software: bool) -> dict[str, Any]:
    """As run_schedule, of long folds as the rule has them on software, or on hardware."""
    traits = backend("webgpu").limits.traits
    return await run(long_cases(), replace(traits, software=software, choices={}))


async def run(chosen: Mapping[str, Case], traits: Traits) -> dict[str, Any]:
    device = backend("webgpu")
    limits = replace(device.limits, traits=traits)
    compiled = compile_graph(graph_of(chosen), "webgpu", limits)
    feeds = {
        f"{name} {index}": array
        for name, case in chosen.items()
        for index, array in enumerate(case.inputs)
    }
    with Session(compiled, await run_async(device.load(compiled)), device) as session:
        results = await session.run_async(feeds)
    wrong = [
        f"{name}: {problem}"
        for name, case in chosen.items()
        if (problem := difference(case, results[name]))
    ]
    return {
        "wrong": wrong,
        "schedules": sorted(schedules_of(compiled)),
        "adapter": device.info.adapter,
    }
