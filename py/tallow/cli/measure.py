"""`tallow bench`: the first run and warm runs on each device."""

from __future__ import annotations

import argparse
import statistics
import time

from ..errors import OptionError
from ..onnx import load
from ..runtime.device import devices
from .feeds import fed_shapes, feeds_of, shapes_of


def command(options: argparse.Namespace) -> None:
    """Prints a line for each device. The first run includes compiling for the given shapes."""
    if options.runs < 1:
        raise OptionError(f"--runs {options.runs}: at least one run is needed")
    model = load(options.model)
    feeds = feeds_of(model, options, shapes_of(options))
    for device in options.device or devices():
        start = time.perf_counter()
        with model.session(device, fed_shapes(feeds)) as session:
            session.run(feeds)
            first = time.perf_counter() - start
            times = []
            for _ in range(options.runs):
                start = time.perf_counter()
                session.run(feeds)
                times.append(time.perf_counter() - start)
            warm, fastest = 1000 * statistics.median(times), 1000 * min(times)
            print(f"{device} ({session.adapter}): first {1000 * first:.1f} ms, warm median "
                  f"{warm:.2f} ms, fastest {fastest:.2f} ms of {options.runs} runs")  # fmt: skip
            if session.report().host:
                print(session.report())
