"""Measures how long a question waits while another call reports a thousand times a second.

    python3 build.py bench --streams [--seconds N] [--browser chromium|firefox] [--json FILE]

The page's own client and worker; a long action of Python's (in_browser/streams/toy.py) reports
each of its steps, as fast as it can. Meanwhile a question that needs Python, too, is asked every
50 ms. *Alone* is its time with nothing else to do, *meanwhile* beside the stream; the
difference of their medians, and of the slowest one in twenty, is what the reports cost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Browser, Playwright, sync_playwright  # noqa: E402
from starlette.routing import Mount  # noqa: E402

from bench import report  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from tallow_build.environment import browser, firefox  # noqa: E402
from tallow_build.paths import DIST, WEB  # noqa: E402
from tallow_build.serving import server  # noqa: E402

MEASURE = """async (seconds) => {
  const { Rpc } = await import("../engine/rpc.js");
  const rpc = new Rpc(new URL("../toy/worker.js", location));
  await rpc.call("boot");
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const ask = async () => {
    const began = performance.now();
    await rpc.call("told");
    return performance.now() - began;
  };
  const asked = async (until) => {
    const times = [];
    while (!until()) {
      times.push(await ask());
      await pause(50);
    }
    return times.sort((a, b) => a - b);
  };
  await ask();
  const end = performance.now() + 1000 * seconds;
  const alone = await asked(() => performance.now() > end);
  let reports = 0;
  let over = false;
  const onProgress = ({ stage }) => (reports += stage === "count");
  const began = performance.now();
  const stream = rpc
    .call("count", { total: 1000 * seconds, milliseconds: 0 }, { onProgress })
    .then(() => (over = true));
  const meanwhile = await asked(() => over);
  await stream;
  const rate = (1000 * reports) / (performance.now() - began);
  return { alone, meanwhile, reports, rate };
}"""


@contextmanager
def started(playwright: Playwright, name: str) -> Iterator[Browser]:
    """A browser by its name. Raises SystemExit if it is not installed."""
    if name == "chromium":
        with browser.launch(playwright) as chromium:
            yield chromium
        return
    path = firefox.find()
    if path is None:
        raise SystemExit("There is no Firefox here.")
    with firefox.running(playwright, path, webgpu=False) as found:
        yield found


def at(times: Sequence[float], share: float) -> float:
    """The time below which this share of them lies."""
    return times[min(int(share * len(times)), len(times) - 1)]


def main(argv: Sequence[str]) -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="build.py bench --streams")
    parser.add_argument("--seconds", type=int, default=10, help="of each series (10)")
    parser.add_argument("--browser", choices=("chromium", "firefox"), default="chromium")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the times here too")
    options = parser.parse_args(argv)
    mounts = [
        Mount("/sources/toy", server.application(IN_BROWSER / "streams")),
        Mount("/sources", server.application(WEB, fallback=DIST)),
    ]
    with (
        sync_playwright() as playwright,
        started(playwright, options.browser) as found,
        server.running(DIST, also=mounts) as address,
    ):
        page = found.new_page()
        page.goto(f"{address}sources/boot/start.js")  # same origin, and runs no scripts
        told = page.evaluate(MEASURE, options.seconds)
        about = {**report.about(), options.browser: found.version}
        version = f"{options.browser.capitalize()} {found.version}"
    print(report.headline(about, version, f"{told['rate']:.0f} reports a second"))
    for name in ("alone", "meanwhile"):
        times = told[name]
        print(
            f"  {name:9}  {len(times)} questions: median {at(times, 0.5):.1f} ms, "
            f"19 of 20 within {at(times, 0.95):.1f} ms, slowest {times[-1]:.1f} ms"
        )
    report.write(options.json, {**about, **told})
    return 0


if __name__ == "__main__":
    report.run(main)
