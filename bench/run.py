"""Measures the models in headless Chromium, on WebGPU and on NumPy.

    python3 build.py bench [--models NAME ...] [--devices webgpu numpy] [--rounds N] [--json FILE]

Devices take turns model by model in one browser, so that both see the same machine. Times are of
whole answers: pixels in, five best classes out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "py"))

from playwright.sync_api import Page, sync_playwright  # noqa: E402

from tallow_build import browser, server  # noqa: E402
from tallow_build.paths import DIST  # noqa: E402

COLUMNS = ("model", "device", "create", "first run", "warm", "±", "kernels", "dispatches", "slots",
           "weights", "activations")  # fmt: skip

WRITE = """async ([path, address]) => {
    const response = await fetch(address);
    const bytes = new Uint8Array(await response.arrayBuffer());
    await tallow.call("write", { path, bytes });
}"""


def arguments() -> argparse.Namespace:
    """The command line."""
    manifest = json.loads((DIST / "models" / "manifest.json").read_text("utf-8"))
    names = [entry["name"] for entry in manifest["models"]]
    parser = argparse.ArgumentParser(prog="build.py bench", description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=names, default=names, metavar="NAME")
    devices = ["webgpu", "numpy"]
    parser.add_argument("--devices", nargs="+", choices=devices, default=devices)
    parser.add_argument("--rounds", type=int, default=9, help="warm runs, 2 or more (default: 9)")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("--rounds must be 2 or more")
    return options


def open_python(page: Page, device: str, models: list[str]) -> None:
    """Boots Python on a page of its own and puts the models into its file system."""
    page.goto("python.html")
    page.evaluate("tallow.on('stderr', ({ text }) => console.error(text))")
    booted = page.evaluate("(device) => tallow.call('boot', { device })", device)
    if booted["device"] != device:
        sys.exit(f"{device} is not to be had: {booted['reason']}")
    for name in models:
        page.evaluate(WRITE, [f"{name}.onnx", f"models/{name}/{name}.onnx"])
        page.evaluate(WRITE, [f"{name}.json", f"models/{name}/card.json"])
    code = (Path(__file__).parent / "measure.py").read_text("utf-8")
    page.evaluate("(code) => tallow.call('exec', { code, filename: 'measure.py' })", code)


def measure(page: Page, name: str, device: str, rounds: int) -> dict[str, Any]:
    """The figures of one model on one device."""
    code = f"await measure({name!r}, {device!r}, {rounds})"
    answer = page.evaluate("(code) => tallow.call('exec', { code })", code)
    if answer["status"]:
        sys.exit(f"{name} on {device} failed; what Python said is above")
    figures: dict[str, Any] = answer["result"]
    return figures


def row(figures: dict[str, Any]) -> tuple[str, ...]:
    """The figures as the cells of the table."""
    held = figures["plan_bytes"]
    weights = held.get("weight", 0) + held.get("prepared", 0)
    active = held.get("scratch", 0) + held.get("input", 0) + held.get("output", 0)
    times = (figures[key] for key in ("create_ms", "first_ms", "warm_ms", "spread_ms"))
    counts = (figures[key] for key in ("kernels", "dispatches", "slots"))
    return (
        figures["model"],
        figures["device"],
        *(f"{value:.1f} ms" for value in times),
        *(str(value) for value in counts),
        *(f"{value / 1e6:.2f} MB" for value in (weights, active)),
    )


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows below their titles, in columns."""
    whole = [COLUMNS, *rows]
    widths = [max(len(line[i]) for line in whole) for i in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in whole
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures and prints."""
    options = arguments()
    results = []
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running(DIST) as address,
    ):
        pages = {}
        for device in options.devices:
            page = chromium.new_page(base_url=address)
            page.on("console", lambda message: print(message.text, file=sys.stderr))
            open_python(page, device, options.models)
            pages[device] = page
        for name in options.models:
            for device, page in pages.items():
                print(f"measuring {name} on {device} ...", file=sys.stderr, flush=True)
                results.append(measure(page, name, device, options.rounds))
    print(f"Chromium {chromium.version}; " + "; ".join(
        f"{device}: {next(r['adapter'] for r in results if r['device'] == device)}"
        for device in options.devices
    ))  # fmt: skip
    print(table([row(figures) for figures in results]))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
