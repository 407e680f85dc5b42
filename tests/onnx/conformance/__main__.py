"""Runs the official ONNX cases and writes docs/onnx-support.md.

    python3 build.py conformance [--device numpy|webgpu|native|wasm] [--only PATTERN] [--update]

Without --device it uses NumPy, then WebGPU in headless Chromium. native is this machine's own
WebGPU, and wasm WebAssembly through wasmtime: they change no file. The exit status is 1 if a case
differs from not_passing.txt.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from tallow_build.errors import BuildError
from tallow_build.paths import shown

from . import listed, report, runners
from .cases import Case, collect
from .outcomes import Outcome

_AT_ONCE = 100
_SLOWEST = 5
_LISTED_AS = {"native": "webgpu", "wasm": "numpy"}
"""The devices whose lines of not_passing.txt hold for others too."""


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="build.py conformance", description=__doc__.splitlines()[0]
    )
    words = "default: numpy, then webgpu"
    parser.add_argument("--device", choices=runners.DEVICES, help=words)
    words = "run them in this browser's Python; default: chromium for webgpu, else none"
    parser.add_argument("--browser", choices=runners.BROWSERS, help=words)
    words = "only the cases whose id matches, * for any text; writes no file"
    parser.add_argument("--only", metavar="PATTERN", default="*", help=words)
    words = "write not_passing.txt anew: entries for what does not pass, none for what does"
    parser.add_argument("--update", action="store_true", help=words)
    options = parser.parse_args(argv)
    if options.browser and options.device == "native":
        parser.error("--device native is WebGPU outside browsers: leave out --browser")
    return options


def main(argv: Sequence[str]) -> int:
    """Runs the cases on each device and reports. Returns 1 if a case differs from the list."""
    options = arguments(argv)
    entries = listed.read(listed.LIST.read_text("utf-8"))
    every = collect()
    cases = [case for case in every if fnmatchcase(case.id, options.only)]
    found = listed.idle(every, entries)
    for device in [options.device] if options.device else listed.DEVICES:
        # A browser's Python lacks packages, on each device.
        kind = "webgpu" if options.browser else _LISTED_AS.get(device, device)
        outcomes = listed.settled(run(cases, device, options.browser), kind, entries)
        if options.update:
            entries = listed.updated(outcomes, kind, entries)
        if device in listed.DEVICES and not options.browser and len(cases) == len(every):
            report.write(outcomes, device)
        found += listed.deviations(outcomes, kind, entries)
    if options.update:
        listed.LIST.write_text(listed.text(entries), "utf-8")
        print(f"{shown(listed.LIST)} is written; give each new line a reason in your words.")
    for line in found:
        print(line)
    return 1 if found else 0


def run(cases: Sequence[Case], device: str, inside: str | None = None) -> list[Outcome]:
    """Yields the outcomes; prints progress now and then, and the counts at the end."""
    outcomes: list[Outcome] = []
    started = time.perf_counter()
    with runners.started(device, inside) as runner:
        for first in range(0, len(cases), _AT_ONCE):
            outcomes += runner.run(cases[first : first + _AT_ONCE])
            if sys.stderr.isatty():
                print(f"\r{device}: {len(outcomes)} of {len(cases)}", end="", file=sys.stderr)
    seconds = time.perf_counter() - started
    counts = Counter((outcome.case.set, outcome.status) for outcome in outcomes)
    for kind in dict.fromkeys(outcome.case.set for outcome in outcomes):
        passed, failed, refused = (counts[kind, s] for s in ("passed", "failed", "refused"))
        print(f"{device:6} {kind:17} {passed} passed, {failed} failed, {refused} refused")
    slow = sorted(outcomes, key=lambda outcome: -outcome.seconds)[:_SLOWEST]
    words = ", ".join(f"{outcome.case.id} {outcome.seconds:.1f} s" for outcome in slow)
    print(f"{device:6} {seconds:.0f} s; the slowest: {words}")
    return outcomes


if __name__ == "__main__":
    # Exit now: Playwright's driver gets the signal too, closes Chromium, and stops answering.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        sys.exit(main(sys.argv[1:]))
    except BuildError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
