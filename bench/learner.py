"""Measures what `tl.train.Learner` leaves of a bare compiled step's throughput, in one process.

    python3 build.py bench --learner [--devices numpy wasm webgpu] [--desktop] [--networks NAME ...]
                                     [--steps N] [--rounds N] [--json FILE]

Both train the same network, from the same weights, with the same batches, which are on the device.
An epoch ends with a validation of two batches. The learner has a metric and lines of progress; the
bare loop has two functions under `@tl.jit`, and reads a loss at the end of an epoch. They take
turns, epoch by epoch, and begin a round in turns. *Share* is the median, over the rounds, of the
bare loop's time divided by the learner's. With --desktop here, else in Pyodide in Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import sync_playwright  # noqa: E402

import tallow as tl  # noqa: E402
from bench import report  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from bench.in_browser import learner  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.paths import DIST  # noqa: E402
from tallow_build.serving import server  # noqa: E402
from tallow_build.serving.script import BrowserPython  # noqa: E402

CODE = IN_BROWSER / "learner.py"
DEVICES = ("numpy", "wasm", "webgpu")
STEPS = {"mlp": 200, "lenet": 50}
Round = Callable[[str, int], dict[str, Any]]


def on_desktop(device: str) -> Round:
    """A round here."""
    tl.set_default_device(device)
    learner.made.clear()
    return lambda network, count: asyncio.run(learner.round_of(network, count))


def in_chromium(chromium: Any, address: str, device: str) -> Round:
    """A round in a page of its own."""
    page = chromium.new_page()
    page.set_default_timeout(0)
    python = BrowserPython(page, address)
    booted = python.boot(device)
    if booted.device != device:
        raise SystemExit(f"There is no {device} here: {booted.reason}")

    def run(code: str) -> Any:
        ended = python.run(code, CODE.name, lambda _, text: print(text, file=sys.stderr))
        if ended.status:
            raise SystemExit("Tallow failed; see above")
        return ended.result

    run(CODE.read_text("utf-8"))
    return lambda network, count: dict(run(f"await round_of({network!r}, {count})"))


def measured(one: Round, network: str, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one network: ms of a step, and the share, by round."""
    steps = options.steps or STEPS[network]
    one(network, steps)  # compiles
    rounds = [one(network, steps) for _ in range(options.rounds)]
    bare, learned = (
        [1000 * each[name]["seconds"] / steps for each in rounds] for name in ("Bare", "Learned")
    )
    shares = [a / b for a, b in zip(bare, learned, strict=True)]
    return {"network": network, "steps": steps, "bare": bare, "learner": learned, "shares": shares}


def main(argv: Sequence[str]) -> int:
    """Measures and reports."""
    parser = argparse.ArgumentParser(prog="build.py bench --learner", description=__doc__)
    parser.add_argument("--desktop", action="store_true", help="here, without a browser")
    parser.add_argument("--devices", nargs="+", choices=(*DEVICES, "native"), help="(all)")
    parser.add_argument("--networks", nargs="+", choices=[*STEPS], default=[*STEPS])
    parser.add_argument("--steps", type=int, help="of an epoch (200 or 50)")
    parser.add_argument("--rounds", type=int, default=9, help="(9)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    devices = options.devices or (DEVICES[:2] if options.desktop else DEVICES)
    print(report.headline(report.about()))
    print("\n| network | device | bare step | with the learner | share | quartiles |")
    print("|---|---|--:|--:|--:|--:|")
    rows = []
    with ExitStack() as stack:
        if not options.desktop:
            playwright = stack.enter_context(sync_playwright())
            chromium = stack.enter_context(browser.launch(playwright))
            address = stack.enter_context(server.running(DIST))
        for device in devices:
            one = on_desktop(device) if options.desktop else in_chromium(chromium, address, device)
            for network in options.networks:
                row = {"device": device, **measured(one, network, options)}
                low, middle, high = statistics.quantiles(row["shares"], n=4)
                bare, learned = (statistics.median(row[name]) for name in ("bare", "learner"))
                print(f"| {network} | {device} | {bare:.2f} ms | {learned:.2f} ms | {middle:.3f} "
                      f"| {low:.3f} to {high:.3f} |", flush=True)  # fmt: skip
                rows.append(row)
    report.write(options.json, {**report.about(), "learner": rows})
    return 0


if __name__ == "__main__":
    report.run(main)
