"""Measures the view Train: what is left of a bare step's throughput while everything is shown.

    python3 build.py bench --train [--what mnist text] [--device wasm] [--rounds N] [--steps N]
                                   [--whole] [--json FILE]

One Chromium has two pages: the view, which learns as a visitor sees it, and python.html, where a
bare step under `@tl.jit` takes batches of the same loader, with the same network and optimiser.
They take turns, and begin a round in turns. *Shown* is the time from one step to the next, by the
steps that the view names, without the first ones and the validation; *share* is the median over the
rounds of the bare step's time divided by it. With --whole a round is a whole run, as long as Start
makes it, with the seconds until its first loss and its end, what it reaches, and the tasks of the
page's main thread that took over 50 ms.

*mnist* is LeNet-5 in batches of 64. *text* is the network of characters in batches of 8, on the
topics of Python's help, 0.46 MB of English.
"""

from __future__ import annotations

import argparse
import pydoc_data.topics
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Browser, FilePayload, sync_playwright  # noqa: E402

from bench import epoch, report  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from bench.in_browser.epoch import NAMES  # noqa: E402
from tallow_build.content import published  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.page import dist  # noqa: E402
from tallow_build.paths import DIST  # noqa: E402
from tallow_build.serving import server  # noqa: E402
from tallow_build.serving.script import BrowserPython  # noqa: E402

CODE = IN_BROWSER / "train.py"
FIRST = 10
"""Steps that are not measured, while code is compiled."""


@dataclass(frozen=True)
class Work:
    """rows: the table of layers. batch: samples of a step. optimizer: as the view has it. steps: of
    a round."""

    rows: str
    batch: int
    optimizer: dict[str, Any]
    steps: int


WORKS = {
    "mnist": Work(
        "lenet5", 64, {"name": "sgd", "lr": 0.15, "momentum": 0.9, "nesterov": True}, 900
    ),
    "text": Work("chargpt", 8, {"name": "adamw", "lr": 0.001, "weight_decay": 0.01}, 200),
}

WATCH = """() => {
  const status = document.querySelector("[data-testid=train-status]");
  const seen = { steps: [], tasks: [] };
  const { promise, resolve } = Promise.withResolvers();
  globalThis.seen = promise; // once the run is over
  const began = performance.now();
  globalThis.watching?.forEach((each) => each.disconnect());
  const states = new MutationObserver(() => {
    const { state, step } = status.dataset;
    if (state === "running" && step > 0) seen.steps.push([performance.now() - began, +step]);
    if (seen.steps.length && (state === "done" || state === "failed")) {
      seen.ended = performance.now() - began;
      seen.last = +step;
      resolve(seen);
    }
  });
  states.observe(status, { attributes: true });
  const tasks = new PerformanceObserver((list) =>
    list.getEntries().forEach(({ duration }) => seen.tasks.push(Math.round(duration))),
  );
  tasks.observe({ entryTypes: ["longtask"] });
  globalThis.watching = [states, tasks];
}"""


def text() -> str:
    """The text that is learnt from."""
    return "\n".join(pydoc_data.topics.topics.values())


class Bare:
    """The bare step, in python.html."""

    def __init__(self, chromium: Browser, address: str, device: str, what: str) -> None:
        page = chromium.new_page()
        page.set_default_timeout(0)
        self._python = BrowserPython(page, address)
        booted = self._python.boot(device)
        if booted.device != device:
            raise SystemExit(f"There is no {device} here: {booted.reason}")
        if what == "text":
            self._python.write("text.txt", text().encode())
        else:
            for name in NAMES:
                files = epoch.compressed(epoch.FOLDERS["mnist"], name)
                self._python.write(f"{name}.gz", files)
        work = WORKS[what]
        self._run(CODE.read_text("utf-8"))
        self._run(f"await bare({what!r}, {work.rows!r}, {work.batch}, {work.optimizer!r})")

    def step(self, count: int) -> float:
        """The milliseconds of a step."""
        return 1000 * float(self._run(f"await took({count})")) / count

    def _run(self, code: str) -> Any:
        ended = self._python.run(code, CODE.name, lambda _, text: print(text, file=sys.stderr))
        if ended.status:
            raise SystemExit("Tallow failed; see above")
        return ended.result


class Shown:
    """The view."""

    def __init__(self, chromium: Browser, address: str, device: str, what: str) -> None:
        self._page = page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(600_000)
        page.goto(f"{address}?device={device}#train")
        self._hook = hook = page.get_by_test_id
        self._until("train-start", "disabled === false")
        hook("train-data").select_option(what)
        if what == "text":
            file: FilePayload = {
                "name": "topics.txt",
                "mimeType": "text/plain",
                "buffer": text().encode(),
            }
            hook("train-text-file").set_input_files(file)
            self._until("train-text-count", "dataset.kept === 'true'")
            self._until("train-start", "disabled === false")

    def limit(self, samples: int) -> None:
        """Has a run learn from so many samples."""
        hook = self._hook
        hook("train-options").locator("summary").click()
        hook("train-count").fill(str(samples))
        hook("train-count").press("Tab")
        hook("train-options").locator("summary").click()

    def run(self) -> dict[str, Any]:
        """The figures of a run; milliseconds and seconds."""
        self._page.evaluate(WATCH)
        self._hook("train-start").click()
        self._page.mouse.move(0, 0)
        # The page tells: who asks it again and again takes the time of threads that learn.
        seen = self._page.evaluate("seen")
        # When a step is seen first. A status that begins anew has the last run's step for a moment;
        # the last report may come after the validation.
        steps = [entry for entry in seen["steps"] if entry[1] < seen["last"]]
        times = {step: at for at, step in reversed(steps) if step > FIRST}
        measured = sorted(times.items())[:-1]
        if len(measured) < 2:
            raise SystemExit("The view reported too seldom; give more --steps")
        (first, began), (last, ended) = measured[0], measured[-1]
        return {
            "step": (ended - began) / (last - first),
            "first": steps[0][0] / 1000,
            "seconds": seen["ended"] / 1000,
            "accuracy": float(self._value("valid-accuracy") or "nan"),
            "rate": float(self._value("rate") or "nan"),
            "tasks": seen["tasks"],
        }

    def _value(self, name: str) -> str | None:
        return self._hook(f"train-{name}").get_attribute("data-value")

    def _until(self, hook: str, condition: str) -> None:
        found = f"document.querySelector('[data-testid={hook}]')"
        self._page.wait_for_function(f"() => {found}?.{condition}")


def measured(chromium: Browser, address: str, what: str, options: Any) -> dict[str, Any]:
    """The figures of one work."""
    steps = options.steps or WORKS[what].steps
    bare = Bare(chromium, address, options.device, what)
    shown = Shown(chromium, address, options.device, what)
    if not options.whole:
        shown.limit(steps * WORKS[what].batch)
    shown.run()  # fetches and compiles
    rows = []
    for number in range(options.rounds):
        alone = [bare.step(steps)] if number % 2 == 0 else []
        row = shown.run()
        row["bare"] = (alone or [bare.step(steps)])[0]
        rows.append(row)
    return {"what": what, "device": options.device, "steps": steps, "rounds": rows}


def tell(found: dict[str, Any], whole: bool) -> None:
    """Prints a row, and the figures of whole runs."""
    rows = found["rounds"]
    shares = [row["bare"] / row["step"] for row in rows]
    low, middle, high = statistics.quantiles(shares, n=4) if len(shares) > 1 else 3 * shares
    bare, shown = (statistics.median(row[name] for row in rows) for name in ("bare", "step"))
    print(f"| {found['what']} | {found['device']} | {bare:.2f} ms | {shown:.2f} ms | {middle:.3f} "
          f"| {low:.3f} to {high:.3f} |", flush=True)  # fmt: skip
    for row in rows if whole else ():
        tasks = ", ".join(map(str, sorted(row["tasks"], reverse=True))) or "none"
        print(f"  {row['seconds']:.1f} s, first loss after {row['first']:.2f} s, "
              f"{100 * row['accuracy']:.2f} % right, long tasks: {tasks}")  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Measures and reports."""
    parser = argparse.ArgumentParser(prog="build.py bench --train", description=__doc__)
    parser.add_argument("--what", nargs="+", choices=WORKS, default=[*WORKS], help="(all)")
    parser.add_argument("--device", choices=("wasm", "webgpu", "numpy"), default="wasm")
    parser.add_argument("--rounds", type=int, default=9, help="(9)")
    parser.add_argument("--steps", type=int, help="of a round (900 or 200)")
    parser.add_argument("--whole", action="store_true", help="runs as Start makes them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    dist.put_published(DIST, published.ensure_one("mnist"))
    print(report.headline(report.about()))
    print("\n| what | device | bare step | shown | share | quartiles |")
    print("|---|---|--:|--:|--:|--:|")
    rows = []
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running(DIST) as address,
    ):
        for what in options.what:
            rows.append(measured(chromium, address, what, options))
            tell(rows[-1], options.whole)
    report.write(options.json, {**report.about(), "train": rows})
    return 0


if __name__ == "__main__":
    report.run(main)
