"""Measures the page's own share of a photograph's latency, beside the network alone in its tab.

    python3 build.py bench --page [--devices NAME ...] [--models NAME ...] [--photographs N]
                                  [--pause MS] [--json FILE]

Photographs are chosen one after the other, as a visitor does. *Shown* is the time that the page
shows for an answer, *chosen* the time from choosing the file until its answer is on the page. After
each photograph the page's worker is asked the same without the page: that is *alone*. The first ten
and the later ones are apart; a first visit has no saved plan, so Python compiles the network there.
WebGPU's adapter is that of the tests; the headline has its name.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from bench import report  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from bench.table import milliseconds, table  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.paths import DIST  # noqa: E402
from tallow_build.serving import server  # noqa: E402

CODE = IN_BROWSER / "photographs.js"
DEVICES = ("wasm", "webgpu")
VISITS = ("first", "second")

# The first ones, which may be slower.
FIRST = 10

# Until a page is ready, and until a first visit has saved its plan.
PATIENCE_MS = 300_000

Photograph = dict[str, Any]
Row = dict[str, Any]


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="build.py bench --page", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--devices", nargs="+", choices=DEVICES, default=DEVICES, metavar="NAME",
                        help=f"of {', '.join(DEVICES)}")  # fmt: skip
    parser.add_argument("--models", nargs="+", default=["squeezenet1_1"], metavar="NAME",
                        help="classifiers of the page (squeezenet1_1)")  # fmt: skip
    parser.add_argument("--photographs", type=int, default=2 * FIRST, metavar="N",
                        help=f"of a visit ({2 * FIRST})")  # fmt: skip
    parser.add_argument("--pause", type=int, default=700, metavar="MS",
                        help="before each photograph and each run alone (700)")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    if options.photographs <= FIRST or options.pause < 0:
        parser.error(f"--photographs must be more than {FIRST}, --pause 0 or more")
    return options


def visit(page: Page, device: str, model: str, options: argparse.Namespace) -> list[Photograph]:
    """A visit with so many photographs: file, label, shown, chosen and alone of each."""
    page.add_init_script(path=CODE)
    page.goto(f"?device={device}&model={model}#classify")
    ready = page.locator("[data-testid=status][data-state=ready]")
    ready.wait_for(timeout=PATIENCE_MS)
    actual = page.get_by_test_id("device-info").get_attribute("data-device")
    if actual != device:
        raise SystemExit(f"There is no {device} here: the page computes on {actual}")
    listed = json.loads((DIST / "samples" / "samples.json").read_text("utf-8"))
    files = [each["file"] for each in listed]
    names = [files[number % len(files)] for number in range(options.photographs)]
    found: list[Photograph] = page.evaluate(
        "(of) => bench.photographs(...of)", [names, options.pause]
    )
    return found


def visits(chromium: Browser, address: str, options: argparse.Namespace) -> Iterator[Row]:
    """Both visits of each model on each device, one after the other in a profile of their own."""
    for model in options.models:
        for device in options.devices:
            context = chromium.new_context(base_url=address)
            for number in VISITS:
                print(f"{model} on {device}, {number} visit ...", file=sys.stderr, flush=True)
                page = context.new_page()
                taken = visit(page, device, model, options)
                adapter = page.get_by_test_id("device-info").get_attribute("data-adapter")
                if number == VISITS[0]:
                    kept = page.locator("[data-testid=offline-state][data-state=kept]")
                    kept.wait_for(timeout=PATIENCE_MS)
                page.close()
                about = {"model": model, "device": device, "adapter": adapter, "visit": number}
                yield {**about, "photographs": taken}
            context.close()


def rows(found: Sequence[Row]) -> list[Row]:
    """Medians of the first photographs of each visit, and of the later ones. of_later: what is
    chosen first, as a share of what is chosen later."""
    listed = []
    for each in found:
        about = {name: each[name] for name in ("model", "device", "visit")}
        first, later = each["photographs"][:FIRST], each["photographs"][FIRST:]
        medians = [_medians(part) for part in (first, later)]
        ratio = medians[0]["chosen"] / medians[1]["chosen"]
        listed.append({**about, "part": f"first {FIRST}", **medians[0], "of_later": ratio})
        listed.append({**about, "part": "later", **medians[1], "of_later": None})
    return listed


def _medians(some: Sequence[Photograph]) -> dict[str, float]:
    def median(of: Sequence[float]) -> float:
        return float(statistics.median(of))

    return {
        **{name: median([one[name] for one in some]) for name in ("alone", "shown", "chosen")},
        "shown_more": median([one["shown"] - one["alone"] for one in some]),
        "chosen_more": median([one["chosen"] - one["alone"] for one in some]),
    }


def disagreements(found: Sequence[Row]) -> list[str]:
    """Photographs that a model names in two ways, one a line: on another device or visit, or when
    it is chosen again."""
    named: dict[tuple[str, str], set[str]] = {}
    for each in found:
        for one in each["photographs"]:
            named.setdefault((each["model"], one["file"]), set()).add(one["label"])
    return [
        f"FAILED: {model} calls {file} {' and '.join(sorted(labels))}"
        for (model, file), labels in named.items()
        if len(labels) > 1
    ]


def tell(found: Sequence[Row]) -> str:
    """The table."""
    titles = ("model", "device", "visit", "photographs", "alone", "shown", "more", "chosen", "more",
              "of later")  # fmt: skip
    times = ("alone", "shown", "shown_more", "chosen", "chosen_more")
    lines = [
        (
            *(row[name] for name in ("model", "device", "visit", "part")),
            *(milliseconds(row[name]) for name in times),
            "" if row["of_later"] is None else f"{row['of_later']:.2f}",
        )
        for row in found
    ]
    return table(titles, lines, 4)


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if a photograph got two answers."""
    options = arguments(argv)
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running(DIST) as address,
    ):
        found = list(visits(chromium, address, options))
        about = {**report.about(), "chromium": chromium.version, "pause": options.pause}
        adapters = sorted({each["adapter"] for each in found})
    summary = rows(found)
    print(report.headline(about, f"Chromium {about['chromium']}", *adapters))
    print("\n" + tell(summary))
    report.write(options.json, {**about, "rows": summary, "visits": found})
    wrong = disagreements(found)
    if wrong:
        print("\n" + "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    report.run(main)
