"""Measures training steps: Tallow beside jax-js, on the same device, in one headless Chromium.

    python3 build.py bench --training [--networks NAME ...] [--devices webgpu wasm] [--steps N]
                                      [--rounds N] [--json FILE]

A step is forward, backward and Adam's update of one batch, with a new batch uploaded and the loss
read. Both libraries begin with the same weights and see the same batches; before times count, their
losses are compared. They take turns. *First* is a library's first step, with tracing and compiling,
once both pages have come to rest; *Python* what Tallow's Python takes of a step, without the
runner.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Page, sync_playwright  # noqa: E402
from starlette.routing import Mount  # noqa: E402
from starlette.staticfiles import StaticFiles  # noqa: E402

from bench import report  # noqa: E402
from bench.serving import IN_BROWSER  # noqa: E402
from bench.turns import JAX  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.paths import DIST  # noqa: E402
from tallow_build.serving import server  # noqa: E402
from tallow_build.serving.script import BrowserPython  # noqa: E402

NETWORKS = {"mlp": 25, "lenet": 3, "resnet": 3, "transformer": 3, "lstm": 3}
"""With the steps of a round: about a second of Tallow's, at least."""
DEVICES = ("webgpu", "wasm")
CODE = [IN_BROWSER / name for name in ("clock.py", "training.py")]
REST = 15.0
"""Seconds before the first step: a browser goes on compiling pages that have just loaded."""
TOLERANCE = 2e-3
"""Of the losses, relative: Adam divides by the roots of small numbers, which rounding changes."""


class Tallow:
    """Tallow in Pyodide, in the worker of python.html."""

    name = "Tallow"

    def __init__(self, page: Page, address: str, device: str) -> None:
        self._python = BrowserPython(page, address)
        booted = self._python.boot(device)
        if booted.device != device:
            raise SystemExit(f"There is no {device} here: {booted.reason}")
        self.adapter = booted.adapter
        for part in CODE:
            self._run(part.read_text("utf-8"))

    def steps(self, network: str, count: int) -> dict[str, Any]:
        """So many more steps: ms and losses of each, and what Python takes of it."""
        found: dict[str, Any] = self._run(f"await steps({network!r}, {count})")
        return found

    def _run(self, code: str) -> Any:
        ended = self._python.run(code, "training.py", lambda _, text: print(text, file=sys.stderr))
        if ended.status:
            raise SystemExit("Tallow failed; see above")
        return ended.result


class JaxJs:
    """jax-js, on the main thread, as its pages have it; without isolation, on one thread."""

    name = "jax-js"

    def __init__(self, page: Page, address: str, device: str) -> None:
        self._page = page
        page.goto(f"{address}bench/training.html?device={device}")
        browser.until(page, "window.steps !== undefined")

    def steps(self, network: str, count: int) -> dict[str, Any]:
        self._page.set_default_timeout(600_000)
        found: dict[str, Any] = self._page.evaluate("(of) => steps(...of)", [network, count])
        return found


def measured(libraries: Sequence[Tallow | JaxJs], network: str, options: Any) -> dict[str, Any]:
    """The figures of one network: first step, median and quartiles, losses, by library."""
    found: dict[str, dict[str, Any]] = {}
    for each in libraries:
        start = each.steps(network, 3)
        found[each.name] = {"first": start["ms"][0], "ms": [], "losses": start["losses"]}
    for _ in range(options.rounds):
        for each in libraries:
            more = each.steps(network, options.steps or NETWORKS[network])
            row = found[each.name]
            row["ms"] += more["ms"]
            row["losses"] += more["losses"]
            for name in ("call_ms", "plans", "live"):
                if name in more:
                    row.setdefault(name, []).append(more[name])
    return found


def agree(found: dict[str, dict[str, Any]]) -> bool:
    """Whether the libraries' first losses are the same."""
    ours, theirs = (found[name]["losses"][:3] for name in (Tallow.name, JaxJs.name))
    return all(abs(a - b) <= TOLERANCE * abs(b) for a, b in zip(ours, theirs, strict=True))


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if the libraries disagree."""
    parser = argparse.ArgumentParser(prog="build.py bench --training", description=__doc__)
    parser.add_argument("--networks", nargs="+", choices=[*NETWORKS], default=[*NETWORKS])
    parser.add_argument("--devices", nargs="+", choices=DEVICES, default=DEVICES)
    parser.add_argument("--steps", type=int, help="of each library a round (25 or 3)")
    parser.add_argument("--rounds", type=int, default=4, help="(4)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    also = [
        # Without the headers of our own pages: the peer's threads need scripts from memory, and a
        # page that is isolated would use them.
        Mount("/bench", StaticFiles(directory=IN_BROWSER)),
        Mount("/jax", server.application(JAX)),
    ]
    rows: list[dict[str, Any]] = []
    wrong = []
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running(DIST, also=also) as address,
    ):
        about = {**report.about(), "chromium": chromium.version}
        for device in options.devices:
            tallow = Tallow(chromium.new_page(), address, device)
            libraries: list[Tallow | JaxJs] = [
                tallow,
                JaxJs(chromium.new_page(), address, device),
            ]
            time.sleep(REST)
            print(report.headline(about, tallow.adapter, f"Chromium {chromium.version}"))
            columns = "network | device | library | first | step | quartiles | of jax-js | Python"
            print(f"\n| {columns} |")
            print("|---|---|---|--:|--:|--:|--:|--:|")
            for network in options.networks:
                found = measured(libraries, network, options)
                if not agree(found):
                    losses = [each["losses"][:3] for each in found.values()]
                    wrong.append(f"{network} on {device}: {losses}")
                theirs = statistics.median(found[JaxJs.name]["ms"])
                for name, row in found.items():
                    low, middle, high = statistics.quantiles(row["ms"], n=4)
                    calls = [each for part in row.get("call_ms", []) for each in part]
                    ratio = f"{middle / theirs:.3f}" if name == Tallow.name else ""
                    call = f"{statistics.median(calls):.2f} ms" if calls else ""
                    print(
                        f"| {network} | {device} | {name} | {row['first']:.0f} ms "
                        f"| {middle:.1f} ms | {low:.1f} to {high:.1f} ms | {ratio} | {call} |",
                        flush=True,
                    )
                    rows.append({"network": network, "device": device, "library": name, **row})
    report.write(options.json, {**about, "training": rows})
    for each in wrong:
        print(f"the losses differ: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    report.run(main)
