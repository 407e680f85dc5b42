"""Measures kernels and models on this machine's own GPU, through the package `wgpu`.

    python3 build.py bench --native [--peak TFLOPS] [--peak-float16 TFLOPS] [--json FILE]
                                    [--parts matmul conv packed models] [--types float32 float16]

It measures matrix products from 256 to 8192, the convolutions of SqueezeNet 1.1 and
EfficientNet-Lite0, products with packed weights next to the same ones in float32, and the models.
Each runs in float32 and with factors rounded to float16, as after
`tl.set_float32_matmul_precision("medium")`, with the default kernels, not tuned ones. Times are
wall-clock times over several runs in one submit, without transfers and Python; each answer is
checked against NumPy first. Cases are skipped, with the reason, if they do not fit on the adapter,
would be computed in float32 anyway, or would take more than some seconds per run. The first row, a
kernel that only moves memory, shows how busy the machine is. If a CPU emulates the GPU, the last
figure is the rate by the CPU time spent, as if nothing else used its cores.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "py"))

import tallow as tl  # noqa: E402
from tallow.compile import Limits, compile_graph  # noqa: E402
from tallow.core.drivers import run_sync  # noqa: E402
from tallow.core.dtype import BY_NAME  # noqa: E402
from tallow.core.hostarray import from_values  # noqa: E402
from tallow.devices.numpy.runner import NumpyProgram  # noqa: E402
from tallow.devices.webgpu.native.backend import NativeBackend  # noqa: E402
from tallow.devices.webgpu.native.device import Adapter, find_adapter  # noqa: E402
from tallow.devices.webgpu.native.program import NativeProgram  # noqa: E402
from tallow.graph import Graph, Node, input_node, make  # noqa: E402
from tallow.ops import contract, window  # noqa: E402
from tallow.tensor import Tensor, asarray  # noqa: E402
from tallow_build.content import models  # noqa: E402

MODELS = ROOT / "dist" / "models"
SIZES = (256, 512, 1024, 2048, 4096, 8192)
PACKED = ((512, 512, 512), (1, 384, 384), (1, 2048, 2048))  # rows, inner length, columns
MAX_SECONDS = 4.0  # seconds that one run may take
ROUNDS = 5
BUDGET = 10.0  # seconds for all rounds of a case, unless a single one takes longer
TOLERANCE = {"float32": 1e-4, "float16": 1e-2}  # relative to an answer's largest value
# Image side, channels in and out, kernel, stride, groups.
CONVOLUTIONS = {
    "squeezenet stem": (224, 3, 64, 3, 2, 1),
    "squeezenet squeeze": (56, 128, 16, 1, 1, 1),
    "squeezenet expand, early": (56, 16, 64, 3, 1, 1),
    "squeezenet expand, late": (14, 64, 256, 3, 1, 1),
    "squeezenet classifier": (14, 512, 1000, 1, 1, 1),
    "efficientnet stem": (224, 3, 32, 3, 2, 1),
    "efficientnet expand, early": (112, 16, 96, 1, 1, 1),
    "efficientnet expand, middle": (28, 40, 240, 1, 1, 1),
    "efficientnet project, late": (7, 1152, 320, 1, 1, 1),
    "efficientnet head": (7, 320, 1280, 1, 1, 1),
    "efficientnet depthwise 3, stride 2": (112, 96, 96, 3, 2, 96),
    "efficientnet depthwise 3": (14, 480, 480, 3, 1, 480),
    "efficientnet depthwise 5": (28, 240, 240, 5, 1, 240),
    "efficientnet depthwise 5, stride 2": (56, 144, 144, 5, 2, 144),
}


@dataclass(frozen=True)
class Row:
    """A figure, or why there is none. rate: in GFLOP/s, or GB/s for the kernel that only moves
    memory."""

    part: str
    name: str
    dtype: str
    milliseconds: float = 0.0
    rate: float = 0.0
    kernels: str = ""
    share: float | None = None  # of the card's peak
    alone: float | None = None  # the rate by CPU time, if the CPU emulates the GPU
    left_out: str | None = None


class LeftOutError(Exception):
    """Why a case has no figure."""


def trivial() -> tuple[Graph, float]:
    """Doubling of 16 MB, and the bytes that it moves."""
    node = input_node("x", (1 << 22,), tl.float32)
    return Graph((node,), {"y": (Tensor(node) * 2.0).node}, "doubling"), 8.0 * node.size


def product(size: int) -> tuple[Graph, float]:
    """A matrix product and its operations."""
    a, b = (input_node(name, (1, size, size), tl.float32) for name in "ab")
    return Graph((a, b), {"y": make(contract.matmul, a, b)}, f"matmul {size}"), 2.0 * size**3


def convolution(name: str) -> tuple[Graph, float]:
    """A channels-last convolution and its operations."""
    side, channels, out, kernel, stride, groups = CONVOLUTIONS[name]
    x = input_node("x", (1, side, side, channels), tl.float32)
    weights = np.random.default_rng(1).normal(size=(kernel, kernel, channels // groups, out))
    low = (kernel - 1) // 2
    y = make(
        window.conv2d,
        x,
        tl.asarray(weights.astype(np.float32)).node,
        stride=(stride, stride),
        padding=((low, kernel - 1 - low),) * 2,
        dilation=(1, 1),
        groups=groups,
    )
    return Graph((x,), {"y": y}, name), operations(y)


def packed(shape: tuple[int, int, int], name: str) -> tuple[Graph, float]:
    """A product of an input and a constant of the given type, scaled by column; its operations."""
    rows, inner, columns = shape
    x, dtype = input_node("x", (rows, inner), tl.float32), BY_NAME[name]
    numbers = np.random.default_rng(1).integers(-8, 8, inner * columns).tolist()
    weight = asarray(from_values(numbers, (inner, columns), dtype)).astype(tl.float32)
    scale = tl.asarray(np.linspace(0.01, 0.02, columns, dtype=np.float32))
    y = Tensor(x) @ (weight * scale)
    return Graph((x,), {"y": y.node}, f"product with {name}"), 2.0 * rows * inner * columns


def model(name: str) -> tuple[Graph, float]:
    """A model of dist/ and the operations of its products and convolutions."""
    graph = tl.onnx.load(models.in_dist(name)).graph()
    return graph, sum(operations(node) for node in graph.nodes())


def operations(node: Node) -> float:
    """Multiplications and additions of a product or convolution; 0 for any other node."""
    if node.op is contract.matmul:
        return 2.0 * node.size * node.inputs[0].shape[2]
    if node.op is window.conv2d:
        return 2.0 * node.size * float(np.prod(node.inputs[1].shape[:3]))
    return 0.0


def limits(backend: NativeBackend, dtype: str) -> Limits:
    """The adapter's limits, with or without float16 products."""
    traits = replace(backend.limits.traits, half=dtype == "float16")
    return replace(backend.limits, traits=traits)


def checked(backend: NativeBackend, graph: Graph, dtype: str) -> tuple[NativeProgram, str]:
    """The program of a graph, after checking its answer against NumPy; its steps' names."""
    try:
        compiled = compile_graph(graph, "webgpu", limits(backend, dtype))
        if dtype == "float16" and not any("enable f16;" in m for m in compiled.plan.modules):
            reason = "" if backend.limits.traits.float16 else " because it lacks shader-f16"
            raise LeftOutError(f"this adapter computes it in float32 anyway{reason}")
        program = run_sync(backend.load(compiled))
    except tl.DeviceMemoryError as error:
        raise LeftOutError(str(error)) from error
    rng = np.random.default_rng(0)
    feeds = [rng.normal(size=port.shape).astype(port.dtype) for port in compiled.plan.inputs]
    got = run_sync(program.run(feeds))[0].numpy()
    if len(feeds) == 2:  # a product: two rows are enough to check it
        got, wanted = got[0, :2], feeds[0][0, :2] @ feeds[1][0]
    else:
        wanted = run_sync(NumpyProgram(compile_graph(graph, "numpy")).run(feeds))[0].numpy()
    slack = TOLERANCE[dtype] * np.abs(wanted).max()
    np.testing.assert_allclose(got, wanted, atol=slack, rtol=0)
    names = [step.name for step in compiled.plan.run]
    return program, names[0] if len(names) == 1 else f"{len(names)} dispatches"


def measure(backend: NativeBackend, graph: Graph, dtype: str) -> tuple[float, float, str]:
    """Median seconds of a run, by wall-clock time and by CPU time, and what ran."""
    program, names = checked(backend, graph, dtype)
    try:
        once = program.seconds(1)
        repeats = min(500, max(1, round(0.2 / once)))
        rounds = 1 if once * repeats * ROUNDS > BUDGET else ROUNDS
        walls, spent = [], []
        for _ in range(rounds):
            start_time = time.process_time()
            walls.append(program.seconds(repeats))
            spent.append((time.process_time() - start_time) / repeats / (os.cpu_count() or 1))
        return statistics.median(walls), statistics.median(spent), names
    finally:
        program.close()


def cases(parts: list[str]) -> Iterator[tuple[str, str, Callable[[], tuple[Graph, float]]]]:
    """Part, name and graph of everything to measure."""
    yield "memory", "doubling 16 MB (GB/s)", trivial
    if "matmul" in parts:
        for size in SIZES:
            yield "matmul", f"{size} x {size} x {size}", partial(product, size)
    if "conv" in parts:
        for name in CONVOLUTIONS:
            yield "conv", name, partial(convolution, name)
    if "packed" in parts:
        for shape in PACKED:
            for kept in ("float32", "int8", "int4", "bfloat16", "float8_e4m3fn"):
                label = f"{' x '.join(map(str, shape))}, {kept} weight"
                yield "packed", label, partial(packed, shape, kept)
    if "models" in parts and MODELS.is_dir():
        names = json.loads((MODELS / "manifest.json").read_text("utf-8"))["models"]
        for name in (entry["name"] for entry in names):
            yield "models", name, partial(model, name)


def rows(backend: NativeBackend, parts: list[str], dtype: str, peak: float | None) -> Iterator[Row]:
    """Measures all cases with factors of one type. peak: the card's, in TFLOP/s."""
    rate, adapter = math.inf, find_adapter()  # operations per second of the previous product
    for part, name, build in cases(parts):
        if part == "memory" and dtype != "float32":
            continue
        try:
            graph, work = build()
            if part == "matmul" and work / rate > MAX_SECONDS:
                raise LeftOutError(f"a run would take about {work / rate:.0f} seconds")
            seconds, spent, names = measure(backend, graph, dtype)
        except LeftOutError as reason:
            yield Row(part, name, dtype, left_out=str(reason))
            continue
        if part == "matmul":
            rate = work / seconds
        share = work / seconds / 1e12 / peak if peak and part != "memory" else None
        alone = work / spent / 1e9 if isinstance(adapter, Adapter) and adapter.software else None
        yield Row(part, name, dtype, 1000 * seconds, work / seconds / 1e9, names, share, alone)


def text_of(row: Row) -> str:
    """A row of the table."""
    about = f"{row.part:7} {row.name:36} {row.dtype:7}"
    if row.left_out:
        return f"{about} skipped: {row.left_out}"
    share = f" {row.share:7.1%}" if row.share is not None else ""
    alone = f" {row.alone:9.2f} alone" if row.alone is not None else ""
    return f"{about} {row.milliseconds:10.3f} ms {row.rate:9.2f}{share}{alone}  {row.kernels}"


def main() -> None:
    """Measures and prints."""
    about = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="build.py bench --native", description=about)
    parts, types = ["matmul", "conv", "packed", "models"], ["float32", "float16"]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--types", nargs="+", choices=types, default=types)
    parser.add_argument("--peak", type=float, help="the card's TFLOP/s, to show shares of it")
    parser.add_argument("--peak-float16", type=float, help="the same for float16 factors")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    try:
        backend = NativeBackend()
    except tl.DeviceUnavailableError as error:
        sys.exit(str(error))
    peaks = {"float32": options.peak, "float16": options.peak_float16}
    shown = [f", {dtype} peak {peak} TFLOP/s" for dtype, peak in peaks.items() if peak]
    print(f"{backend.info.adapter}; GFLOP/s{''.join(shown)}")
    results = []
    for dtype in options.types:
        for row in rows(backend, options.parts, dtype, peaks[dtype]):
            print(text_of(row), flush=True)
            results.append(asdict(row))
    if options.json:
        report: dict[str, Any] = {"adapter": backend.info.adapter, "rows": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
