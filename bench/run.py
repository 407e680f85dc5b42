"""Measures Tallow and its peers, taking turns in one headless Chromium.

    python3 build.py bench [--models NAME ...] [--engines NAME ...] [--rounds N] [--firsts N]
                           [--no-micro] [--json FILE] [--smoke]
    python3 build.py bench --networks ...   networks that other people published: others.py
    python3 build.py bench --native ...     this machine's own GPU, without a browser: native.py
    python3 build.py bench --cold ...       from navigation to the first answer: cold.py
    python3 build.py bench --page ...       photographs, beside the network alone: page.py
    python3 build.py bench --turns ...      small computations in a loop, beside jax-js: turns.py
    python3 build.py bench --training ...   training steps, beside jax-js and borch: training.py
    python3 build.py bench --learner ...    a learner, beside a bare compiled step: learner.py
    python3 build.py bench --kernels ...    products, beside what one thread can do: kernels.py
    python3 build.py bench --epoch ...      an epoch of MNIST, and what it reaches: epoch.py
    python3 build.py bench --train ...      the view Train, beside a bare step: train.py
    python3 build.py bench --programs ...   uncompiled training steps, beside PyTorch: programs.py
    python3 build.py bench --serving ...    the service, beside onnxruntime in its place: serving.py
    python3 build.py bench --positions ...  rows written into a cache, beside its copy: positions.py
    python3 build.py bench --packed ...     products by weights in blocks, by form: packed.py
    python3 build.py bench --text ...       texts, sentences, speech, beside peers: text.py
    python3 build.py bench --streams ...    a question beside a call that streams: streams.py

docs/performance.md explains how each figure is measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "py")]

from playwright.sync_api import sync_playwright  # noqa: E402

from bench import cases, engines, figures, hosting, others, report, table  # noqa: E402
from bench.rounds import Bench, Schedule  # noqa: E402
from tallow_build.environment import browser  # noqa: E402
from tallow_build.process import become  # noqa: E402
from tallow_build.serving import server  # noqa: E402

SMOKE = cases.conv(3, 8, 8, 16)


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="build.py bench", description=__doc__.splitlines()[0])
    names = (*cases.NETWORKS, *cases.QUANTISED, *others.records())
    all_engines = engines.ENGINES
    parser.add_argument("--models", nargs="*", choices=names,
                        metavar="NAME", help=f"networks, of {', '.join(names)}; none: operators "
                        f"only ({', '.join(cases.NETWORKS)})")  # fmt: skip
    parser.add_argument("--engines", nargs="+", choices=all_engines, default=engines.USUAL,
                        metavar="NAME", help=f"of {', '.join(all_engines)}; litert-... installs "
                        f"TensorFlow ({', '.join(engines.USUAL)})")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=9, help="warm turns of each engine (9)")
    parser.add_argument("--firsts", type=int, default=3,
                        help="first runs of each network, each in a new worker (3)")  # fmt: skip
    parser.add_argument("--no-micro", action="store_true", help="networks only")
    parser.add_argument(
        "--networks",
        action="store_true",
        help="networks that other people published, unless --models names some; no operators",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="quick check that it works: mnist and one tiny operator",
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="measure without a browser; see --native --help",
    )
    parser.add_argument(
        "--cold",
        action="store_true",
        help="measure first and second visits; see --cold --help",
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="measure photographs on the page; see --page --help",
    )
    parser.add_argument(
        "--turns",
        action="store_true",
        help="measure small computations in a loop; see --turns --help",
    )
    parser.add_argument(
        "--kernels",
        action="store_true",
        help="measure products beside what one thread can do; see --kernels --help",
    )
    options = parser.parse_args(argv)
    if options.rounds < 2 or options.firsts < 1:
        parser.error("--rounds must be 2 or more, --firsts 1 or more")
    if options.models is None:
        options.models = others.records() if options.networks else cases.NETWORKS
    options.no_micro |= options.networks
    if options.smoke:
        options.rounds, options.firsts = 2, 1
    # In a fixed order: each of Tallow's engines before its peers.
    options.engines = [name for name in all_engines if name in options.engines]
    return options


def main(argv: Sequence[str]) -> int:
    """Measures and reports. Returns 1 if an engine failed or gave a wrong answer."""
    for mode in ("native", "cold", "page", "turns", "kernels", "training", "learner", "epoch",
                 "train", "programs", "serving", "positions", "packed", "streams",
                 "text"):  # fmt: skip
        if f"--{mode}" in argv:
            become(ROOT / "bench" / f"{mode}.py", *(word for word in argv if word != f"--{mode}"))
    options = arguments(argv)
    with (
        sync_playwright() as playwright,
        browser.launch(playwright) as chromium,
        server.running_application(hosting.application()) as address,
    ):
        schedule = Schedule(options.engines, options.rounds, options.firsts)
        bench = Bench(chromium, address, schedule)
        if options.smoke:
            rows = list(bench.together([cases.network("mnist"), SMOKE]))
        else:
            rows = [row for name in options.models for row in bench.apart(network(name))]
            rows += bench.together([] if options.no_micro else cases.micro())
        version = chromium.version
    networks = [row for row in rows if row["kind"] == "network"]
    micro = [row for row in rows if row["kind"] == "operator"]
    figures.compare(networks)
    figures.compare(micro)
    about = {
        **report.about(),
        "chromium": version,
        "adapters": sorted({r["adapter"] for r in rows if r["engine"].endswith("webgpu")} - {""}),
        "rounds": options.rounds,
        "firsts": options.firsts,
    }
    adapters = " and ".join(about["adapters"]) or "no WebGPU engine"
    more = [adapters, f"Chromium {version}"]
    if any(name.startswith("litert") for name in options.engines):
        about["litert_js"] = report.installed("@litertjs/core")
        more.append(f"LiteRT.js {about['litert_js']}")
    headline = report.headline(about, *more)
    print(headline)
    tell(networks, micro)
    report.write(options.json, {**about, "networks": networks, "operators": micro})
    return 1 if any(row["failed"] for row in rows) else 0


def network(name: str) -> cases.Case:
    """One of ours or of others."""
    return others.case(name) if name in others.records() else cases.network(name)


def tell(networks: Sequence[dict[str, Any]], micro: Sequence[dict[str, Any]]) -> None:
    """Prints the tables."""
    if networks:
        print("\n" + table.networks(networks))
        print("\n" + table.means(networks))
        if "tallow-webgpu" in {row["engine"] for row in networks}:
            print("\n" + table.memory(networks))
    if micro:
        print("\n" + table.micro(micro))
    failures = table.failures([*networks, *micro])
    if failures:
        print("\n" + failures)


if __name__ == "__main__":
    report.run(main)
