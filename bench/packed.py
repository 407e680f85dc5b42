"""Measures products by weights in blocks, in the shapes of SmolLM2-135M, on this machine.

    python3 build.py bench --packed [--devices wasm webgpu] [--forms NAME ...] [--rounds N]
                           [--json FILE]

Steps under `@tl.jit` multiply one row, or 200, by weights of one form: float32, Q8_0, Q4_0 and
Q4_1 as GGUF has them. A product's time is the difference between steps of five products and of
one, by 4, so that what a call costs is not in it; the least of some rounds. On *wasm* it is the
time of one thread's processor, on *webgpu* (this machine's GPU, through the package `wgpu`) the
clock's. A token takes 30 layers' products and the head's, a prompt the layers' alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

import numpy as np  # noqa: E402

import tallow as tl  # noqa: E402
from bench import report  # noqa: E402
from tallow.core import dtype as dt  # noqa: E402
from tallow.core.hostarray import HostArray  # noqa: E402
from tallow.graph import constant  # noqa: E402
from tallow.tensor import Tensor  # noqa: E402

FORMS = ("float32", "Q8_0", "Q4_0", "Q4_1")
LAYERS = 30
SHAPES = {(576, 576): 2, (192, 576): 2, (1536, 576): 2, (576, 1536): 1}
"""Columns and depth of a layer's weights, and how many it has."""
HEAD = (49_152, 576)
PROMPT = 200
BLOCK = 32
MANY = 5

RNG = np.random.default_rng(0)


def weight(form: str, columns: int, depth: int) -> Tensor:
    """A random weight (columns, depth)."""
    blocks = depth // BLOCK
    if form == "float32":
        return tl.asarray(RNG.standard_normal((columns, depth), dtype=np.float32))
    shape = columns, blocks, BLOCK
    scale = (RNG.random((columns, blocks, 1)) * 0.02).astype(np.float16)
    s = tl.asarray(scale).astype(tl.float32)
    if form == "Q8_0":
        codes, kind = RNG.integers(-127, 128, shape, dtype=np.int8), dt.int8
    else:
        codes, kind = RNG.integers(0, 256, (columns, blocks, BLOCK // 2), np.uint8), dt.uint4
    data = HostArray(memoryview(codes.tobytes()), shape, kind)
    q = Tensor(constant(data)).astype(tl.float32)
    if form == "Q4_1":
        q = q * s + tl.asarray((-8 * scale).astype(np.float16)).astype(tl.float32)
    else:
        q = (q - 8.0) * s if form == "Q4_0" else q * s
    return tl.reshape(q, (columns, depth))


def seconds(device: str, form: str, shape: tuple[int, int], rows: int, rounds: int) -> float:
    """What a product takes."""
    columns, depth = shape
    clock = time.thread_time if device == "wasm" else time.perf_counter
    weights = [weight(form, columns, depth) for _ in range(MANY if shape != HEAD else 2)]
    x = tl.asarray(RNG.standard_normal((rows, depth), dtype=np.float32)).realize(device)

    def step(count: int) -> Callable[[], object]:
        def products(x: tl.Tensor) -> tl.Tensor:
            total = x @ tl.permute_dims(weights[0], (1, 0))
            for each in weights[1:count]:
                total = total + x @ tl.permute_dims(each, (1, 0))
            return total

        compiled = tl.jit(products, device=device)
        return lambda: compiled(x).numpy() if device != "wasm" else compiled(x)

    steps = {count: step(count) for count in (1, len(weights))}
    turns = max(1, round(2e7 / (columns * depth * rows)))
    least = dict.fromkeys(steps, float("inf"))
    for call in steps.values():
        call()
    for _ in range(rounds):
        for count, call in steps.items():
            began = clock()
            for _ in range(turns):
                call()
            least[count] = min(least[count], (clock() - began) / turns)
    return (least[len(weights)] - least[1]) / (len(weights) - 1)


def measured(device: str, form: str, rounds: int) -> dict[str, Any]:
    """Seconds of each product, by its shape and rows; of a token, and of a prompt."""
    found = {
        (shape, rows): seconds(device, form, shape, rows, rounds)
        for shape in SHAPES
        for rows in (1, PROMPT)
    }
    head = seconds(device, form, HEAD, 1, rounds)
    token, prompt = (
        LAYERS * sum(count * found[shape, rows] for shape, count in SHAPES.items())
        for rows in (1, PROMPT)
    )
    rates = {
        f"{columns}x{depth}x{rows}": columns * depth * rows / took / 1e9
        for ((columns, depth), rows), took in {**found, (HEAD, 1): head}.items()
    }
    return {"form": form, "rates": rates, "token": token + head, "prompt": prompt + head}


def main(argv: Sequence[str]) -> int:
    """Measures and reports."""
    parser = argparse.ArgumentParser(prog="build.py bench --packed", description=__doc__)
    parser.add_argument("--devices", nargs="+", default=["wasm"], metavar="NAME")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=7, help="(7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    print(report.headline(report.about()))
    rows: list[dict[str, Any]] = []
    before = tl.get_num_threads()
    tl.set_num_threads(1)
    for device in options.devices:
        for number, form in enumerate(options.forms):
            found = measured(device, form, options.rounds)
            rows.append({"device": device, **found})
            if not number:
                print(f"\n| {device} | {' | '.join(found['rates'])} | token | prompt |")
                print("|---" * (3 + len(found["rates"])) + "|")
            rates = " | ".join(f"{rate:.1f}" for rate in found["rates"].values())
            print(f"| {form} | {rates} | {1e3 * found['token']:.1f} ms "
                  f"| {found['prompt']:.2f} s |", flush=True)  # fmt: skip
    tl.set_num_threads(before)
    report.write(options.json, {**report.about(), "packed": rows})
    return 0


if __name__ == "__main__":
    report.run(main)
