"""Searches for silent wrong answers with random models, on Tallow and on others.

    python3 build.py fuzz [--device numpy|webgpu|native|wasm] [--minutes N] [--seed S]
                          [--only PATTERN]

Without --device it uses NumPy, then WebGPU in headless Chromium. native is this machine's own
WebGPU, and wasm WebAssembly through wasmtime, for quick work. Each finding is minimized and written
to tests/fuzz/findings/, where it becomes a test. The exit status is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tests.onnx.conformance import runners

from tallow_build.errors import BuildError
from tallow_build.paths import shown

from . import bench, findings
from .rounds import Rounds
from .strategies import FAMILIES

DEVICES = ("numpy", "webgpu")
SEED = 2024


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="build.py fuzz", description=__doc__.splitlines()[0])
    words = "default: numpy, then webgpu"
    parser.add_argument("--device", choices=runners.DEVICES, help=words)
    words = "run them in this browser's Python; default: chromium for webgpu, else none"
    parser.add_argument("--browser", choices=runners.BROWSERS, help=words)
    words = "how long each device is at it; default: %(default)s"
    parser.add_argument("--minutes", type=float, default=2.0, metavar="N", help=words)
    words = "the same seed draws the same cases; default: %(default)s"
    parser.add_argument("--seed", type=int, default=SEED, metavar="S", help=words)
    words = "only the operators, or the family, whose name matches, * for any text"
    parser.add_argument("--only", metavar="PATTERN", default="*", help=words)
    parser.add_argument("--batch", type=int, default=40, help="cases in one go; %(default)s")
    words = "the folder to write findings to; default: %(default)s"
    parser.add_argument("--findings", type=Path, default=findings.FOLDER, help=words)
    parser.add_argument("--details", action="store_true", help="also say what is disputed")
    options = parser.parse_args(argv)
    if options.browser and options.device == "native":
        parser.error("--device native is WebGPU outside browsers: leave out --browser")
    return options


def chosen(pattern: str) -> dict[str, list[str]]:
    """The operators of each family that match, or whose family does."""
    found = {
        family: [op for op in table if fnmatchcase(op, pattern) or fnmatchcase(family, pattern)]
        for family, table in FAMILIES.items()
    }
    return {family: operators for family, operators in found.items() if operators}


def main(argv: Sequence[str]) -> int:
    """Draws and judges cases until the time is up. Returns 1 if something was found."""
    options = arguments(argv)
    families = chosen(options.only)
    if not families:
        print(f"no operator and no family is named {options.only!r}", file=sys.stderr)
        return 2
    count = 0
    for device in [options.device] if options.device else DEVICES:
        print(f"{device}: {options.minutes:g} min, --seed {options.seed}", flush=True)
        with bench.started(device, options.browser) as started:
            rounds = Rounds(started, families, options.seed, options.batch)
            rounds.run(time.monotonic() + 60 * options.minutes)
        print(rounds.summary(details=options.details))
        for verdict in rounds.findings:
            print(f"{shown(findings.write(verdict, device, options.findings))}: {verdict.why}")
        count += len(rounds.findings)
    return 1 if count else 0


if __name__ == "__main__":
    # Exit now: Playwright's driver gets the signal too, closes Chromium, and stops answering.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        sys.exit(main(sys.argv[1:]))
    except BuildError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
