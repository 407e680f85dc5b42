"""Measures writes of one row into a cache of 4,096 rows of 576 numbers, on this machine.

    python3 build.py bench --positions [--devices wasm numpy webgpu] [--rounds N] [--json FILE]

Steps under `@tl.jit` take turns: `tl.update_at` of a variable at positions that the device reads,
the same rows into variables of their own, and a step that copies the whole cache. A row's time is
the difference between steps of 33 rows and of one, by 32: what a call costs is the same. The
answers are compared first. *webgpu* is this machine's GPU, through the package `wgpu`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

import numpy as np  # noqa: E402

import tallow as tl  # noqa: E402
from bench import report  # noqa: E402

ROWS, WIDTH = 4096, 576
FEW, MANY = 1, 33
TURNS = 40


def steps(device: str) -> dict[str, Callable[[], object]]:
    """The steps. Raises SystemExit if what they leave is wrong."""
    zeros = np.zeros((ROWS, WIDTH), np.float32)
    cache, other = (tl.Variable(zeros, device=device) for _ in range(2))
    rows = [tl.Variable(zeros[:1], device=device) for _ in range(MANY)]
    new = tl.asarray(np.arange(WIDTH, dtype=np.float32)[None]).realize(device)
    at = [tl.asarray(np.int32(77 * n)).realize(device) for n in range(MANY)]

    def write(new: tl.Tensor, *at: tl.Tensor) -> None:
        for number, start in enumerate(at):
            cache.assign(tl.update_at(cache, (start, 0), new * float(number + 2)))

    def alone(new: tl.Tensor, *at: tl.Tensor) -> None:
        for number, row in enumerate(rows[: len(at)]):
            row.assign(new * float(number + 2))

    @tl.jit(device=device)
    def copy() -> None:
        other.assign(cache + 0.0)

    found: dict[str, Callable[[], object]] = {"copy": copy}
    for function in (write, alone):
        for count in (FEW, MANY):
            step = tl.jit(function, device=device)
            found[f"{function.__name__} {count}"] = partial(step, new, *at[:count])
    for call in found.values():
        call()
    copy()
    expected = np.array(zeros)
    for number in range(MANY):
        expected[77 * number] = (number + 2) * np.arange(WIDTH)
    held = np.concatenate([row.numpy() for row in rows])
    for got, right in (
        (cache.numpy(), expected),
        (other.numpy(), expected),
        (held, expected[::77]),
    ):
        if not np.array_equal(got, right[: len(got)]):
            raise SystemExit(f"wrong on {device}")
    return found


def measured(device: str, rounds: int) -> dict[str, list[float]]:
    """Microseconds of a row, written and alone, and of a copy, by round."""
    ready = tl.Variable(0.0, device=device)
    each = steps(device)
    times: dict[str, list[float]] = {name: [] for name in each}
    for _ in range(rounds):
        for name, step in each.items():
            turns = TURNS if name != "copy" else TURNS // 10
            began = time.perf_counter()
            for _ in range(turns):
                step()
            ready.numpy()
            times[name].append(1e6 * (time.perf_counter() - began) / turns)
    found = {"copy": times["copy"]}
    for name in ("write", "alone"):
        pairs = zip(times[f"{name} {MANY}"], times[f"{name} {FEW}"], strict=True)
        found[name] = [(many - few) / (MANY - FEW) for many, few in pairs]
    return found


def main(argv: Sequence[str]) -> int:
    """Measures and reports."""
    parser = argparse.ArgumentParser(prog="build.py bench --positions", description=__doc__)
    parser.add_argument("--devices", nargs="+", default=["wasm", "numpy"], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=15, help="(15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    print(report.headline(report.about()))
    print("\n| device | a row of the cache | a row alone | a copy | row / alone | copy / row |")
    print("|---|--:|--:|--:|--:|--:|")
    rows: list[dict[str, Any]] = []
    for device in options.devices:
        found = measured(device, options.rounds)
        row, alone, whole = (statistics.median(found[n]) for n in ("write", "alone", "copy"))
        print(f"| {device} | {row:.2f} µs | {alone:.2f} µs | {whole:.0f} µs | {row / alone:.2f} "
              f"| {whole / row:.0f} |", flush=True)  # fmt: skip
        rows.append({"device": device, **found})
    report.write(options.json, {**report.about(), "positions": rows})
    return 0


if __name__ == "__main__":
    report.run(main)
