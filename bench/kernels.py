"""Measures how close the products of Tallow's WebAssembly come to what one thread can do.

    python3 build.py bench --kernels [--rounds N] [--json FILE]

The limit is the most float32 arithmetic that a thread does in the same page: vectors that stay in
registers are multiplied and added, again and again, with nothing loaded or stored. *Fused* is
relaxed_madd, which is one instruction where the processor has it; *separate* a multiplication and
an addition. Products and limits take turns.
"""

from __future__ import annotations

import argparse
import base64
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Error, Page, sync_playwright  # noqa: E402

from bench import hosting, report, table  # noqa: E402
from bench.answers import WrongAnswerError  # noqa: E402
from bench.cases import Case, addition, matmul, prepare  # noqa: E402
from bench.engines import Engine, EngineError, started  # noqa: E402
from bench.figures import Figures  # noqa: E402
from tallow.devices.wasm.codegen.assembler import Function, encode  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.errors import BuildError  # noqa: E402
from tallow_build.serving import server  # noqa: E402

ENGINE = "tallow-wasm"
SIZES = (512, 1024)
LIMITS = ("fused", "separate")

# Enough independent sums to hide how long an instruction takes, in the registers that there are.
SUMS = 12
UNROLLED = 4
TURNS = 500_000

FLOP = 2.0 * 4 * SUMS * UNROLLED * TURNS

_MEASURE = """async ([base64, name, turns]) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
    const { instance } = await WebAssembly.instantiate(bytes, { tallow: { memory } });
    const run = instance.exports[name];
    run(turns / 10);
    const began = performance.now();
    run(turns);
    return performance.now() - began;
}"""


def arithmetic(name: str) -> Function:
    """As often as it is told, every sum becomes sum * 0.999 + 0.001. All are stored at the end, or
    the browser could leave them out."""
    function = Function(["i32"], exported=name)
    emit = function.emit
    factor, summand, *sums = (function.local("v128") for _ in range(SUMS + 2))
    for local, value in ((factor, 0.999), (summand, 0.001)):
        emit("f32.const", value)
        emit("f32x4.splat")
        emit("local.set", local)
    emit("loop")
    for each in sums * UNROLLED:
        emit("local.get", each)
        emit("local.get", factor)
        if name == "separate":
            emit("f32x4.mul")
        emit("local.get", summand)
        emit("f32x4.add" if name == "separate" else "f32x4.relaxed_madd")
        emit("local.set", each)
    emit("local.get", 0)
    emit("i32.const", 1)
    emit("i32.sub")
    emit("local.tee", 0)
    emit("br_if", 0)
    emit("end")
    for offset, each in enumerate(sums):
        emit("i32.const", 0)
        emit("local.get", each)
        emit("v128.store", 16 * offset)
    return function


class Limit:
    """What one thread can do, in a page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        module = encode([arithmetic(name) for name in LIMITS])
        self._module = base64.b64encode(module).decode()

    def gflops(self, name: str) -> float:
        """GFLOP/s of one of LIMITS, once. Raises BuildError if the browser refuses it."""
        try:
            passed = self._page.evaluate(_MEASURE, [self._module, name, TURNS])
        except Error as error:
            remedy = "use a browser with relaxed SIMD"
            raise BuildError("Measuring what one thread can do", error.message, remedy) from error
        return FLOP / float(passed) / 1e6


def measured(engine: Engine, case: Case, rounds: int) -> dict[str, Any]:
    """The figures of a product and of the limits, in GFLOP/s."""
    files = prepare(case)
    figures = Figures(case, files.answer.ravel(), engine.name)
    limit = Limit(engine.page)
    limits: dict[str, list[float]] = {name: [] for name in LIMITS}
    figures.first(engine.first(files), engine.adapter, engine.boot_ms)
    for _ in range(rounds):
        for name in LIMITS:
            limits[name].append(limit.gflops(name))
        figures.turn(engine.turn())
    figures.finish(engine.finish())
    row = figures.summary()
    slow, fast = (case.flop / each / 1e6 for each in reversed(row["quartiles_ms"]))
    return {
        **row,
        "gflops_quartiles": [slow, fast],
        "limits": {name: statistics.median(values) for name, values in limits.items()},
        "limits_quartiles": {name: _quartiles(values) for name, values in limits.items()},
    }


def _quartiles(values: Sequence[float]) -> list[float]:
    low, _, high = statistics.quantiles(values, n=4)
    return [low, high]


def tell(rows: Sequence[dict[str, Any]]) -> str:
    """The table, in GFLOP/s."""
    titles = ("GFLOP/s", ENGINE, "quartiles", *(f"limit, {name}" for name in LIMITS), "of fused")
    lines = [
        (
            row["title"],
            f"{row['gflops']:.1f}",
            _range(row["gflops_quartiles"]),
            *(
                f"{row['limits'][name]:.1f} ({_range(row['limits_quartiles'][name])})"
                for name in LIMITS
            ),
            f"{100 * row['gflops'] / row['limits']['fused']:.0f} %",
        )
        for row in rows
    ]
    return table.table(titles, lines, 1)


def _range(quartiles: Sequence[float]) -> str:
    low, high = quartiles
    return f"{low:.1f} to {high:.1f}"


def main(argv: Sequence[str]) -> int:
    """Measures and reports."""
    parser = argparse.ArgumentParser(
        prog="build.py bench --kernels", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--rounds", type=int, default=15, help="of the limits and products (15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    if options.rounds < 2:
        parser.error("--rounds must be 2 or more")
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running_application(hosting.application()) as address,
        started(chromium, address, {ENGINE: prepare(addition())}) as (engine,),
    ):
        about = {**report.about(), "chromium": chromium.version, "rounds": options.rounds}
        try:
            rows = [measured(engine, matmul(size), options.rounds) for size in SIZES]
        except (EngineError, WrongAnswerError) as error:
            print(f"FAILED: {error}")
            return 1
    print(report.headline(about, engine.adapter, f"Chromium {about['chromium']}"))
    print("\n" + tell(rows))
    report.write(options.json, {**about, "products": rows})
    return 0


if __name__ == "__main__":
    report.run(main)
