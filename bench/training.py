"""Measures training steps: Tallow beside jax-js and borch, in one headless Chromium.

    python3 build.py bench --training [--networks NAME ...] [--devices webgpu wasm] [--steps N]
                                      [--peers jax-js borch] [--rounds N] [--json FILE]

A step is forward, backward and Adam's update of one batch, with a new batch uploaded and the loss
read. All libraries begin with the same weights and see the same batches; before times count, their
losses are compared. They take turns. *First* is a library's first step, with tracing and compiling,
once all pages have come to rest; *Python* what Tallow's Python takes of a step, without the
runner. borch has WebGPU alone; pip fetches its wheel.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import Page, sync_playwright  # noqa: E402
from starlette.routing import Mount  # noqa: E402
from starlette.staticfiles import StaticFiles  # noqa: E402

from bench import report  # noqa: E402
from bench.hosting import IN_BROWSER  # noqa: E402
from bench.turns import JAX  # noqa: E402
from tallow_build.environment import browser, sources  # noqa: E402
from tallow_build.environment.sources import Origin, Package  # noqa: E402
from tallow_build.paths import CACHE, DIST, NODE_MODULES  # noqa: E402
from tallow_build.serving import server  # noqa: E402
from tallow_build.serving.script import BrowserPython  # noqa: E402

NETWORKS = {"mlp": 25, "lenet": 3, "resnet": 3, "transformer": 3, "lstm": 3}
"""With the steps of a round: about a second of Tallow's, at least."""
DEVICES = ("webgpu", "wasm")
CODE = [IN_BROWSER / name for name in ("clock.py", "batches.py", "training.py")]
REST = 15.0
"""Seconds before the first step: a browser goes on compiling pages that have just loaded."""
TOLERANCE = 1e-2
"""Of the losses, relative: Adam divides by the roots of small numbers, which rounding changes.
After two steps borch's ResNet is 0.7 % away from Tallow's, with the same program."""


WHEELS = CACHE / "wheels"
BORCH = Package(
    "pyborch",
    "1.14.1",
    "wheel",
    "80809bb34907f5d1a31e919c0affd228f16baa871592a24815d812298992c19c",
    size=1_149_754,
)


class Library(Protocol):
    """What trains the networks."""

    @property
    def name(self) -> str: ...

    def steps(self, network: str, count: int) -> dict[str, Any]:
        """So many more steps: ms and losses of each, and what else it can tell."""


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


class PeerPage:
    """A library's own page, which has a function `steps`; without isolation, on one thread."""

    def __init__(self, name: str, page: Page, address: str, seconds: float) -> None:
        self.name = name
        self._page = page
        page.goto(address)
        browser.until(page, "window.steps !== undefined", seconds=seconds)

    def steps(self, network: str, count: int) -> dict[str, Any]:
        """So many more steps: ms and losses of each."""
        self._page.set_default_timeout(600_000)
        found: dict[str, Any] = self._page.evaluate("(of) => steps(...of)", [network, count])
        return found


def jax_js(page: Page, address: str, device: str) -> PeerPage:
    """jax-js, on the main thread, as its pages have it."""
    return PeerPage("jax-js", page, f"{address}bench/training.html?device={device}", 30)


def borch(page: Page, address: str, _: str) -> PeerPage:
    """borch in Pyodide, on the main thread. When it starts it times a long kernel about sixty
    times, which takes minutes without a GPU."""
    name = f"pyborch-{BORCH.version}-py3-none-any.whl"
    wheels = [sources.pyodide_numpy(), (Origin(BORCH, None, BORCH.sha256), WHEELS / name)]
    sources.fetch(wheels)
    query = urlencode([("wheel", path.name) for _, path in wheels])
    return PeerPage("borch", page, f"{address}bench/borch.html?{query}", 600)


class Peer(NamedTuple):
    """How a peer starts in a new page, and where it can."""

    start: Callable[[Page, str, str], Library]
    devices: Sequence[str]


PEERS = {"jax-js": Peer(jax_js, DEVICES), "borch": Peer(borch, ["webgpu"])}


def measured(libraries: Sequence[Library], network: str, options: Any) -> dict[str, Any]:
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


def agree(found: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the libraries' first losses are the same."""
    first, *others = (row["losses"][:3] for row in found.values())
    return all(
        abs(a - b) <= TOLERANCE * abs(a)
        for other in others
        for a, b in zip(first, other, strict=True)
    )


def heading(peers: Sequence[str]) -> list[str]:
    """The table's first lines."""
    before = ["network", "device", "library", "first", "step", "quartiles"]
    columns = [*before, *(f"of {peer}" for peer in peers), "Python"]
    rules = ["---"] * 3 + ["--:"] * (len(columns) - 3)
    return [f"| {' | '.join(columns)} |", f"|{'|'.join(rules)}|"]


def lines(
    network: str, device: str, found: Mapping[str, Mapping[str, Any]], peers: Sequence[str]
) -> list[str]:
    """A line of the table for each library: the first is Tallow's, with its share of the peers'
    time."""
    medians = {name: statistics.median(row["ms"]) for name, row in found.items()}
    written = []
    for name, row in found.items():
        low, middle, high = statistics.quantiles(row["ms"], n=4)
        ours = name == Tallow.name
        of = [f"{middle / medians[peer]:.3f}" if ours and peer in medians else "" for peer in peers]
        calls = [each for part in row.get("call_ms", []) for each in part]
        call = f"{statistics.median(calls):.2f} ms" if calls else ""
        times = [f"{row['first']:.0f} ms", f"{middle:.1f} ms", f"{low:.1f} to {high:.1f} ms"]
        written.append(f"| {' | '.join([network, device, name, *times, *of, call])} |")
    return written


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if the libraries disagree."""
    parser = argparse.ArgumentParser(prog="build.py bench --training", description=__doc__)
    parser.add_argument("--networks", nargs="+", choices=[*NETWORKS], default=[*NETWORKS])
    parser.add_argument("--devices", nargs="+", choices=DEVICES, default=DEVICES)
    parser.add_argument("--peers", nargs="*", choices=[*PEERS], default=[*PEERS])
    parser.add_argument("--steps", type=int, help="of each library a round (25 or 3)")
    parser.add_argument("--rounds", type=int, default=4, help="(4)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    also = [
        # Without the headers of our own pages: the peer's threads need scripts from memory, and a
        # page that is isolated would use them.
        Mount("/bench", StaticFiles(directory=IN_BROWSER)),
        Mount("/jax", server.application(JAX)),
        Mount("/pyodide", StaticFiles(directory=NODE_MODULES / "pyodide")),
        Mount("/wheels", StaticFiles(directory=WHEELS, check_dir=False)),
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
            peers = [name for name in options.peers if device in PEERS[name].devices]
            libraries = [tallow, *(PEERS[name].start(chromium.new_page(), address, device)
                                   for name in peers)]  # fmt: skip
            time.sleep(REST)
            print(report.headline(about, tallow.adapter, f"Chromium {chromium.version}"))
            print("", *heading(peers), sep="\n")
            for network in options.networks:
                found = measured(libraries, network, options)
                if not agree(found):
                    losses = [each["losses"][:3] for each in found.values()]
                    wrong.append(f"{network} on {device}: {losses}")
                print(*lines(network, device, found, peers), sep="\n", flush=True)
                for name, row in found.items():
                    rows.append({"network": network, "device": device, "library": name, **row})
    report.write(options.json, {**about, "training": rows})
    for each in wrong:
        print(f"the losses differ: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    report.run(main)
