"""Measures what a small computation costs the host, turn after turn: Tallow beside jax-js.

    python3 build.py bench --turns [--rounds N] [--turns-a-round N] [--json FILE]

A turn is ten elementwise operations and a 256 x 256 product of what stays on the GPU, eagerly and
compiled with `jit`; each takes the result of the one before, since jax-js computes nothing that is
not asked for. *Python* is what Tallow's Python takes of a turn. *Host* is the time until the call
returns, in which the GPU may still be busy: Python and JavaScript, or JavaScript alone; jax-js
defers part of its work until something is read. *Whole* is the time until the GPU is done.
Libraries take turns in one headless Chromium; before they are timed, their answers are compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Page, sync_playwright  # noqa: E402
from starlette.routing import Mount  # noqa: E402

from bench import report  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.paths import DIST, NODE_MODULES  # noqa: E402
from tallow_build.serving import server  # noqa: E402
from tallow_build.serving.script import BrowserPython  # noqa: E402

MODES = ("eager", "jit")
CODE = [IN_BROWSER / name for name in ("clock.py", "turns.py")]
JAX = NODE_MODULES / "@jax-js" / "jax" / "dist"
TOLERANCE = 1e-4


class Tallow:
    """Tallow in Pyodide, in the worker of python.html."""

    name = "Tallow"

    def __init__(self, page: Page, address: str) -> None:
        self._python = BrowserPython(page, address)
        booted = self._python.boot("webgpu")
        if booted.device != "webgpu":
            raise SystemExit(f"There is no WebGPU here: {booted.reason}")
        self.adapter = booted.adapter
        for part in CODE:
            self._run(part.read_text("utf-8"))

    def answer(self, mode: str) -> float:
        """The sum of what a turn gives."""
        return float(self._run(f"await answer({mode!r})"))

    def turns(self, mode: str, count: int) -> dict[str, float]:
        """Milliseconds a turn: python, host, whole; and what is left behind: plans, buffers."""
        found: dict[str, float] = self._run(f"await turns({mode!r}, {count})")
        return found

    def _run(self, code: str) -> Any:
        ended = self._python.run(code, "turns.py", lambda name, text: print(text, file=sys.stderr))
        if ended.status:
            raise SystemExit("Tallow failed; see above")
        return ended.result


class JaxJs:
    """jax-js, on the main thread, as its pages have it."""

    name = "jax-js"

    def __init__(self, page: Page, address: str) -> None:
        self._page = page
        page.goto(f"{address}bench/turns.html")
        browser.until(page, "window.turns !== undefined")

    def answer(self, mode: str) -> float:
        return float(self._page.evaluate("(mode) => answer(mode)", mode))

    def turns(self, mode: str, count: int) -> dict[str, float]:
        found: dict[str, float] = self._page.evaluate("(of) => turns(...of)", [mode, count])
        return found


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if the libraries disagree, or something is left behind."""
    parser = argparse.ArgumentParser(prog="build.py bench --turns", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="of each library and mode (10)")
    parser.add_argument("--turns-a-round", type=int, default=100, help="(100)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    also = [
        Mount("/bench", server.application(IN_BROWSER)),
        Mount("/jax", server.application(JAX)),
    ]
    rows: list[dict[str, Any]] = []
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running(DIST, also=also) as address,
    ):
        tallow = Tallow(chromium.new_page(), address)
        libraries: list[Tallow | JaxJs] = [tallow, JaxJs(chromium.new_page(), address)]
        ours, theirs = ({mode: each.answer(mode) for mode in MODES} for each in libraries)
        wrong = [m for m in MODES if abs(ours[m] - theirs[m]) > TOLERANCE * abs(theirs[m])]
        if wrong:
            print(f"the answers differ: {ours} and {theirs}")
            return 1
        found: dict[tuple[str, str], list[dict[str, float]]] = {}
        for _ in range(options.rounds):
            for mode in MODES:
                for each in libraries:
                    measured = each.turns(mode, options.turns_a_round)
                    found.setdefault((each.name, mode), []).append(measured)
        about = {**report.about(), "chromium": chromium.version}
        print(report.headline(about, tallow.adapter, f"Chromium {chromium.version}"))
    print("\n| library | mode | Python, median | host, median | host, best | whole, median |")
    print("|---|---|--:|--:|--:|--:|")
    left = 0.0
    for (name, mode), each_round in found.items():
        host = [each["host"] for each in each_round]
        whole = statistics.median(each["whole"] for each in each_round)
        python = [each["python"] for each in each_round if "python" in each]
        row = {"library": name, "mode": mode, "python": python, "host": host, "whole": whole}
        left += sum(each.get("left", 0) for each in each_round)
        rows.append(row)
        cells = [statistics.median(python) if python else None, statistics.median(host), min(host)]
        shown = " | ".join("" if each is None else f"{each:.3f} ms" for each in cells)
        print(f"| {name} | {mode} | {shown} | {whole:.2f} ms |")
    print(f"\nTallow: {left:.0f} plans and buffers left behind")
    report.write(options.json, {**about, "turns": rows})
    return 1 if left else 0


if __name__ == "__main__":
    report.run(main)
