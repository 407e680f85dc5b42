"""Measures steps of small training programs, uncompiled: Tallow on NumPy, beside PyTorch.

    python3 build.py bench --programs [--torch PYTHON] [--only NAME ...] [--rounds N] [--json FILE]

The programs are written once for both libraries (program_cases/), in the way of PyTorch's
tutorials, and Tallow runs them through `tallow.torch`: nothing is compiled, and each step reads its
loss. Both begin with the same numbers, and
their losses are compared, except where a program draws random numbers of its own. Each library has
a process with one thread, and they take turns. build.py does not install PyTorch: --torch names a
Python that has it; without one, the table has Tallow alone. Times are those of the processor, for a
warm step, the median of all rounds; *first* is Tallow's first step, with compiling.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from bench import report, table  # noqa: E402
from bench.program_cases import PROGRAMS  # noqa: E402
from tallow_build.process import environment  # noqa: E402

WORKER = ROOT / "bench" / "program_cases" / "worker.py"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

COMPARED = 4
"""Losses of the first steps that must be the same; later, rounding may have grown."""
TOLERANCE = 5e-3

WARM = 3
"""Steps that are not counted: they trace, compile and fill what is kept."""
ROUND_MS = 60.0
"""What a round of a program should take, about."""


class Library:
    """A library in a process of its own."""

    def __init__(self, python: str, name: str) -> None:
        self._process = subprocess.Popen(
            [python, str(WORKER), name],
            env=environment(ONE_THREAD),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.name = name
        self.version = str(self._read()["version"])

    def steps(self, program: str, count: int) -> dict[str, Any]:
        """So many more steps of a program: ms and losses."""
        return self._ask({"program": program, "steps": count})

    def ops(self, rounds: int) -> dict[str, float]:
        """Microseconds to build an op, by its kind."""
        return self._ask({"ops": rounds})

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a program failed; see above")
        found: dict[str, Any] = json.loads(line)
        return found


def peer(python: str | None) -> Library | None:
    """PyTorch, if the Python has it. Raises SystemExit if a Python that was named has not."""
    asked = [python or sys.executable, "-c", "import torch"]
    try:
        missing = subprocess.run(asked, capture_output=True, env=environment()).returncode != 0
    except OSError:
        missing = True
    if not missing:
        return Library(asked[0], "torch")
    if python:
        raise SystemExit(f"{python} cannot import torch")
    return None


def measured(libraries: Sequence[Library], program: str, rounds: int) -> dict[str, Any]:
    """The figures of a program: by library, its first step, and times and losses of all others."""
    found: dict[str, dict[str, Any]] = {}
    counts = {}
    for each in libraries:
        start = each.steps(program, 1 + WARM)
        found[each.name] = {"first": start["ms"][0], "ms": [], "losses": start["losses"]}
        counts[each.name] = max(2, min(50, math.ceil(ROUND_MS / max(start["ms"][-1], 0.01))))
    for _ in range(rounds):
        for each in libraries:
            more = each.steps(program, counts[each.name])
            found[each.name]["ms"] += more["ms"]
            found[each.name]["losses"] += more["losses"]
    return found


def agreement(found: dict[str, dict[str, Any]], program: str) -> str:
    """What the table says of the losses."""
    if len(found) < 2:
        return ""
    if PROGRAMS[program].draws:
        return "drawn"
    ours, theirs = (each["losses"][:COMPARED] for each in found.values())
    same = all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-6)
        for a, b in zip(ours, theirs, strict=True)
    )
    return "equal" if same else "DIFFERENT"


def row(program: str, found: dict[str, dict[str, Any]], said: str) -> tuple[str, ...]:
    """A line of the table."""
    ours, *rest = found.values()
    step = statistics.median(ours["ms"])
    if not rest:
        return program, f"{step:.2f}", "", "", f"{ours['first']:.0f}", said
    theirs = statistics.median(rest[0]["ms"])
    return (
        program,
        f"{step:.2f}",
        f"{theirs:.2f}",
        f"{step / theirs:.1f}",
        f"{ours['first']:.0f}",
        said,
    )


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if the libraries disagree."""
    parser = argparse.ArgumentParser(prog="build.py bench --programs", description=__doc__)
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that imports torch (this one)")
    parser.add_argument("--only", nargs="+", choices=[*PROGRAMS], default=[*PROGRAMS],
                        metavar="NAME", help=f"programs, of: {', '.join(PROGRAMS)}")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="of each library (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    torch = peer(options.torch)
    libraries = [Library(sys.executable, "tallow"), *([torch] if torch else [])]
    about = {**report.about(), "torch": torch.version if torch else None}
    print(
        f"{about['date'][:10]}, NumPy, one thread, "
        f"{f'PyTorch {torch.version}' if torch else 'PyTorch is not installed'}, "
        f"{os.cpu_count()} processors, load {(about['load'] or [0])[0]:.0f}\n",
        flush=True,
    )
    rows: list[dict[str, Any]] = []
    lines = []
    wrong = []
    for name in options.only:
        found = measured(libraries, name, options.rounds)
        said = agreement(found, name)
        lines.append(row(name, found, said))
        print("  ".join(lines[-1]), file=sys.stderr, flush=True)
        if said == "DIFFERENT":
            losses = [each["losses"][:COMPARED] for each in found.values()]
            wrong.append(f"{name}: {losses}")
        rows.append({"program": name, "libraries": found, "losses": said})
    titles = ("program", "Tallow, ms", "PyTorch, ms", "ratio", "first, ms", "losses")
    print(table.table(titles, lines, 1))
    if torch and len(lines) > 1:
        ratios = [
            statistics.median(each["libraries"]["tallow"]["ms"])
            / statistics.median(each["libraries"]["torch"]["ms"])
            for each in rows
        ]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"\nMedian ratio {middle:.1f}, quartiles {low:.1f} and {high:.1f}.")
    built = {each.name: each.ops(9) for each in libraries}
    print("\n" + op_costs(built))
    for each in libraries:
        each.close()
    report.write(options.json, {**about, "programs": rows, "ops_us": built})
    for line in wrong:
        print(f"the losses differ: {line}")
    return 1 if wrong else 0


def op_costs(built: dict[str, dict[str, float]]) -> str:
    """The table of what building an op takes."""
    ours, *rest = built.values()
    theirs = rest[0] if rest else {}
    lines = [
        (kind, f"{us:.1f}", f"{theirs[kind]:.1f}" if kind in theirs else "")
        for kind, us in ours.items()
    ]
    lines.append(("mean", f"{statistics.mean(ours.values()):.1f}",
                  f"{statistics.mean(theirs.values()):.1f}" if theirs else ""))  # fmt: skip
    return table.table(("op", "built by Tallow, µs", "computed by PyTorch, µs"), lines, 1)


if __name__ == "__main__":
    report.run(main)
