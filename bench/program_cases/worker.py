"""Runs the programs with one library, in a process of its own, on one thread.

    python worker.py torch|tallow

Reads requests as lines of JSON, {"program": name, "steps": count} or {"ops": rounds}, and answers
each with a line. bench/programs.py starts it, and has NumPy use one thread. Times are those of the
processor, which other programs on the machine disturb little. It needs no more than NumPy and the
library, so that any Python that has these runs it.
"""

from __future__ import annotations

import gc
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

OPS = 200
"""How many ops of each kind a round builds."""


def library(name: str) -> Any:
    """The library, told to use one thread."""
    t = importlib.import_module("tallow.torch" if name == "tallow" else name)
    if name == "torch":
        t.set_num_threads(1)
    else:
        t.set_default_device("numpy")
    return t


def kinds(t: Any) -> dict[str, Callable[[Any], Any]]:
    """What `ops` builds, each from a tensor of 8 rows and 8 columns: another one of its shape."""
    other, row = t.ones(8, 8), t.ones(8)
    return {
        "x + y": lambda x: x + other,
        "x + row": lambda x: x + row,
        "x * 2.0": lambda x: x * 2.0,
        "exp": t.exp,
        "x @ y": lambda x: x @ other,
        "x[1:7]": lambda x: x[1:7],
        "reshape": lambda x: x.reshape(4, 16),
        "sum": lambda x: x.sum(1, keepdim=True),
    }


def ops(t: Any, rounds: int) -> dict[str, float]:
    """Microseconds that a call takes to build a kind of op, the median of rounds: nothing is
    computed by Tallow, while PyTorch computes all of it."""
    found: dict[str, float] = {}
    for name, build in kinds(t).items():
        passed = []
        for _ in range(rounds):
            x = t.ones(8, 8)
            began = time.process_time()
            for _ in range(OPS):
                build(x)
            passed.append((time.process_time() - began) / OPS * 1e6)
        found[name] = statistics.median(passed)
    return found


def main() -> None:
    """Answers requests until there are no more."""
    from bench.program_cases import PROGRAMS

    t = library(sys.argv[1])
    answer({"version": str(t.__version__)})
    steps: dict[str, Callable[[], float]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "ops" in request:
            answer(ops(t, request["ops"]))
            continue
        name = request["program"]
        if name not in steps:
            steps.clear()  # one program's memory at a time
            gc.collect()
            steps[name] = PROGRAMS[name].begin(t)
        times, losses = [], []
        for _ in range(request["steps"]):
            began = time.process_time()
            losses.append(steps[name]())
            times.append(1e3 * (time.process_time() - began))
        answer({"ms": times, "losses": losses})


def answer(values: dict[str, Any]) -> None:
    """Writes a line."""
    print(json.dumps(values), flush=True)


if __name__ == "__main__":
    main()
