"""Measures visits, from navigation to the first answer, for Tallow and onnxruntime-web.

    python3 build.py bench --cold [--models NAME ...] [--engines NAME ...] [--speeds NAME ...]
                                  [--rounds N] [--json FILE] [--smoke]

A first visit has an empty profile; a second visit uses the same profile in a restarted browser.
docs/performance.md explains how each figure is measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import sync_playwright  # noqa: E402

from bench import cold_table, peer_page, report  # noqa: E402
from bench.engines import USUAL  # noqa: E402
from bench.rounds import say  # noqa: E402
from bench.visits import Subject, VisitError, Visitor  # noqa: E402
from bench.wire import SPEEDS, Wire  # noqa: E402
from tallow_build.serving import server  # noqa: E402

CACHES = ("empty", "warm")


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="build.py bench --cold", description=__doc__.splitlines()[0]
    )
    for name, words, of in (
        ("models", "networks", peer_page.MODELS),
        ("engines", "engines", USUAL),
        ("speeds", "connections", tuple(SPEEDS)),
    ):
        parser.add_argument(f"--{name}", nargs="+", choices=of, default=of, metavar="NAME",
                            help=f"{words}, of {', '.join(of)}")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="visits of each kind (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="quick check that it works: the digits at full speed, on NumPy and its peer",
    )
    options = parser.parse_args(argv)
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    if options.smoke:
        options.models, options.speeds, options.rounds = ["mnist"], ["full"], 1
        options.engines = ["tallow-numpy", "ort-wasm"]
    # In a fixed order: each of Tallow's engines before its peer.
    options.engines = [name for name in USUAL if name in options.engines]
    return options


def visits(visitor: Visitor, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every visit, alternating between Tallow and its peer, round by round."""
    failed: set[Subject] = set()
    for number in range(options.rounds):
        for model in options.models:
            for speed in options.speeds:
                for engine in options.engines:
                    subject = Subject(engine, model)
                    if subject not in failed:
                        for visit in _both(visitor, subject, speed):
                            if visit["failed"]:
                                failed.add(subject)
                            yield {"round": number, **visit}


def _both(visitor: Visitor, subject: Subject, speed: str) -> Iterator[dict[str, Any]]:
    """The first visit and the second one."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for cache in CACHES:
            about = {**subject._asdict(), "speed": speed, "cache": cache, "failed": None}
            say(f"{subject.model} on {subject.engine}, {cache} cache, {SPEEDS[speed].name} ...")
            try:
                yield {**about, **visitor.visit(subject, Path(profile), SPEEDS[speed])}
            except VisitError as error:
                say(f"FAILED: {error}")
                yield {**about, "failed": str(error)}
                return


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if a page failed or two pages disagree."""
    options = arguments(argv)
    peer_page.prepare(small=not options.smoke)
    wire = Wire(peer_page.application())
    with sync_playwright() as playwright, server.running_application(wire) as address:
        found = list(visits(Visitor(playwright, wire, address), options))
    rows = cold_table.rows(found)
    about = {**report.about(), "rounds": options.rounds}
    print(cold_table.report(rows, report.headline(about, f"medians of {options.rounds}")))
    report.write(options.json, {**about, "rows": rows, "visits": found})
    failures = cold_table.failures(found)
    if failures:
        print("\n" + failures)
    return 1 if failures else 0


if __name__ == "__main__":
    report.run(main)
