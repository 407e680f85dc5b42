"""Measures `tallow serve` beside the same server with onnxruntime as what computes.

    python3 build.py bench --serving [--models NAME ...] [--device wasm] [--clients N] [--seconds N]
                                     [--rounds N] [--threads N] [--json FILE]
    python3 build.py bench --serving --faults ...   bad requests among good ones; see its --help

Clients in a process of their own send one row each in binary tensors, and again as soon as they
have an answer; gatherer, batches and limits of both services are the same. The services take turns.
*Requests/s* is the median of the rounds, *ratio* Tallow's requests a second in a round divided by
the peer's. *Processor* is the processor time of a request, and *work* the peer's divided by
Tallow's, which other programs on the machine change little. Before times count, the answers are
compared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

import numpy as np  # noqa: E402
import tritonclient.http  # noqa: E402

from bench import report  # noqa: E402
from bench.answers import TOLERANCE  # noqa: E402
from bench.service import messages, models, storm  # noqa: E402
from bench.service.memory import processor_seconds  # noqa: E402
from bench.service.process import Service  # noqa: E402
from tallow_build.process import environment  # noqa: E402

SERVICE = ROOT / "bench" / "service"
OPTIONS = ("--warm", "--timeout", 600)
WARMING = 600.0
"""Seconds in which all plans are compiled and run once."""
ROWS = "tallow_serve_batch_rows"
HEAD = """
| model | computes | requests/s | median | 95th percentile | rows of a batch | processor | ratio \
| quartiles | work |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"""


def services(model: str, options: argparse.Namespace, stack: ExitStack) -> dict[str, Service]:
    """Both, once they answer."""
    path = models.prepare(model)
    behind = (str(SERVICE / "behind.py"), str(options.threads))
    found = {
        "Tallow": Service(path, "--device", options.device, *OPTIONS),
        "onnxruntime": Service(path, *OPTIONS, command=behind),
    }
    for each in found.values():
        stack.enter_context(each)
        each.line(f"{model}: version 1 serves", WARMING)
    return found


def answer(service: Service, model: str) -> dict[str, Any]:
    """The arrays that the first client gets."""
    with tritonclient.http.InferenceServerClient(service.http, network_timeout=600) as client:
        found = client.infer(model, messages.inputs(models.feeds(model, 0)))
        return {
            each["name"]: found.as_numpy(each["name"]) for each in found.get_response()["outputs"]
        }


def differs(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The largest difference, relative to the largest value."""
    return max(float(np.abs(x - other[name]).max() / np.abs(x).max()) for name, x in one.items())


def turn(service: Service, model: str, options: argparse.Namespace) -> dict[str, Any]:
    """Requests a second, their milliseconds, and the rows of a batch."""
    before = [service.figure(f"{ROWS}_{name}") for name in ("sum", "count")]
    worked = processor_seconds(service.process.pid)
    command = [SERVICE / "clients.py", service.http, model, options.clients, options.seconds]
    ran = subprocess.run(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, text=True,
        env=environment({"PYTHONPATH": f"{ROOT / 'py'}{os.pathsep}{ROOT}"}),
    )  # fmt: skip
    if ran.returncode:
        raise SystemExit("the clients failed; see above")
    found = json.loads(ran.stdout)
    worked = processor_seconds(service.process.pid) - worked
    after = [service.figure(f"{ROWS}_{name}") for name in ("sum", "count")]
    rows, batches = (b - a for a, b in zip(before, after, strict=True))
    return {
        "rate": len(found["ms"]) / found["seconds"],
        "ms": found["ms"],
        "rows": rows / batches,
        "processor": worked / rows,
    }


def measured(both: Mapping[str, Service], model: str, options: argparse.Namespace) -> Any:
    """The turns of each service, by its name. Which one begins alternates."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in both}
    for number in range(options.rounds):
        for name in list(both)[:: -1 if number % 2 else 1]:
            found[name].append(turn(both[name], model, options))
    return found


def lines(model: str, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """A line of the table for each service; the first is Tallow's, with the ratio."""
    (_, ours), (_, peers) = found.items()
    ratios = [a["rate"] / b["rate"] for a, b in zip(ours, peers, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    work = [b["processor"] / a["processor"] for a, b in zip(ours, peers, strict=True)]
    written = []
    for name, turns in found.items():
        rate, rows, processor = (
            statistics.median(each[key] for each in turns) for key in ("rate", "rows", "processor")
        )
        ms = statistics.quantiles([x for each in turns for x in each["ms"]], n=20)
        of = f"{middle:.2f} | {low:.2f} to {high:.2f} | {statistics.median(work):.2f}"
        written.append(f"| {model} | {name} | {rate:.1f} | {ms[9]:.0f} ms | {ms[18]:.0f} ms "
                       f"| {rows:.1f} | {1e3 * processor:.1f} ms "
                       f"| {of if turns is ours else ' |  | '} |")  # fmt: skip
    return written


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if answers differ."""
    if "--faults" in argv:
        return storm.main([word for word in argv if word != "--faults"])
    parser = argparse.ArgumentParser(prog="build.py bench --serving", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=models.NAMES, default=models.NAMES)
    parser.add_argument("--device", choices=("wasm", "native", "numpy"), default="wasm")
    parser.add_argument("--clients", type=int, default=32, help="(32)")
    parser.add_argument("--seconds", type=float, default=10, help="of a turn (10)")
    parser.add_argument("--rounds", type=int, default=5, help="(5)")
    parser.add_argument("--threads", type=int, default=2, help="of onnxruntime (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    if options.rounds < 2:
        parser.error("--rounds must be 2 or more")
    facts = {**report.about(), "onnxruntime": version("onnxruntime")}
    print(report.headline(facts, f"onnxruntime {facts['onnxruntime']}", f"{options.device}"))
    print(HEAD)
    rows = []
    for model in options.models:
        with ExitStack() as stack:
            both = services(model, options, stack)
            off = differs(*(answer(each, model) for each in both.values()))
            if off > TOLERANCE:
                print(f"{model}: the answers differ by {off:.1e} of the largest value")
                return 1
            found = measured(both, model, options)
        print(*lines(model, found), sep="\n", flush=True)
        rows.append({"model": model, "device": options.device, "off": off, **found})
    report.write(options.json, {**facts, "serving": rows})
    return 0


if __name__ == "__main__":
    report.run(main)
