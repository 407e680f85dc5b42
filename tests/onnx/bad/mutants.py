"""Damaged copies of models: `python -m tests.onnx.bad.mutants DEVICE COUNT MODEL...`.

There are COUNT of each model. Each is loaded and, if that succeeds, summarized, compiled and run,
with limits on memory and time. Prints how they ended, as JSON:
{"outcomes": {exception or "ran": count}, "offences": [...]}.
An offence is any exception but TallowError, one of several lines, or one that took too long.
"""

from __future__ import annotations

import collections
import json
import math
import random
import signal
import sys
from pathlib import Path
from typing import Any

import tallow as tl
from tallow.core.dtype import word_type

from .mutations import MUTATIONS

MEMORY = 3 << 30  # bytes of address space
SECONDS = 10  # for one mutant
TURNS = 1000  # of a mutant's loops


def use(data: bytes, rng: random.Random, device: str = "numpy") -> str:
    """Loads, summarizes, compiles and runs a model; returns how it ended. Only catches
    TallowError."""
    try:
        model = tl.onnx.load(data)
        lines = model.unsupported
        assert not any("\n" in line for line in lines), lines
        shapes = {
            info.name: tuple(dim if isinstance(dim, int) else 1 for dim in info.shape or ())
            for info in model.inputs
        }
        if sum(map(math.prod, shapes.values())) > 1 << 24:
            return "too large to feed"
        str(model.summary())
        feeds = {info.name: _feed(info, shapes[info.name], rng) for info in model.inputs}
        if 1 << 24 < _largest(model) < 1 << 32:
            return "too large to run"
        with model.session(device, most_turns=TURNS) as session:
            session.run(feeds)
            str(session.report())
    except tl.TallowError as error:
        text = str(error)
        assert text, "an error without words"
        listed = isinstance(error, tl.OnnxUnsupportedError) and "that Tallow does not have:" in text
        assert listed or "\n" not in text, f"several lines: {text!r}"
        return type(error).__name__
    return "ran"


def _largest(model: tl.onnx.Model) -> int:
    """The elements of the largest value, if that is known before the model runs."""
    try:
        return max(node.size for node in model.graph().nodes())
    except tl.TallowError:
        return 0  # running it reports the problem, or computes it on the host


def _feed(info: Any, shape: tuple[int, ...], rng: random.Random) -> object:
    import numpy as np

    if info.type == "string":
        return np.full(shape, "a text", object)
    if info.kind == "sequence":
        return [np.zeros(2, np.float32), np.ones(2, np.float32)]
    if info.kind != "tensor" or info.dtype is None:
        return None
    kind = word_type(info.dtype).name  # for a coded type, that of its codes
    if kind == "bool":
        return np.full(shape, rng.random() < 0.8)
    return np.full(shape, rng.choice([0, 1, 2]), kind)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def main(device: str, count: str, *paths: str) -> None:
    if sys.platform == "linux" and device == "numpy":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _too_long)
    outcomes: collections.Counter[str] = collections.Counter()
    offences = []
    for path in paths:
        whole = Path(path).read_bytes()
        assert use(whole, random.Random(0), device) == "ran", path
        for seed in range(int(count)):
            rng = random.Random(f"{Path(path).name} {seed}")
            data, mutation = bytearray(whole), MUTATIONS[seed % len(MUTATIONS)]
            mutation(data, rng)
            if hasattr(signal, "SIGALRM"):
                signal.alarm(SECONDS)
            try:
                outcomes[use(bytes(data), rng, device)] += 1
            except BaseException as error:
                kind = f"{type(error).__name__}: {error}"
                offences.append(f"{Path(path).name}, seed {seed}, {mutation.__name__}: {kind}")
            finally:
                if hasattr(signal, "SIGALRM"):
                    signal.alarm(0)
    print(json.dumps({"outcomes": outcomes, "offences": offences}))


if __name__ == "__main__":
    main(*sys.argv[1:])
