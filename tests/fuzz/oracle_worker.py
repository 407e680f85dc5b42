"""The answers of others to a case: onnxruntime and the onnx package's reference evaluator.

python oracle_worker.py ORACLE         reads names of request files from standard input

ORACLE: a name in the table below. It runs in a separate process, because an unusual model may crash
it. An answer is {"outputs": [value]} or {"error": why}.
"""

from __future__ import annotations

import base64
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz import limits
from tests.fuzz.coding import decoded
from tests.fuzz.program_worker import numpy_run
from tests.onnx.conformance.worker import encode
from tests.onnx.oracle import runtime

Feeds = dict[str, Any]


def _runtime(model: bytes, feeds: Feeds) -> list[Any]:
    session = runtime(model, plain=True)
    given = {name: value for name, value in feeds.items() if value is not None}
    outputs: list[Any] = session.run(None, given)
    return outputs


def _reference(model: bytes, feeds: Feeds) -> list[Any]:
    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    with np.errstate(all="ignore"):
        outputs: list[Any] = evaluator.run(None, feeds)  # type: ignore[assignment]
    return outputs


ORACLES: dict[str, Callable[[bytes, Feeds], list[Any]]] = {
    "onnxruntime": _runtime,
    "reference": _reference,
}


def _numpy(program: dict[str, Any], feeds: Feeds) -> list[Any]:
    known = {name: decoded(value) for name, value in program["known"].items()}
    return numpy_run(program, {**known, **feeds})


def ask(case: dict[str, Any], oracle: str) -> dict[str, Any]:
    """An oracle's answer; for programs the oracle is NumPy."""
    (encoded,) = case["feeds"]
    try:
        feeds = {name: decoded(value) for name, value in encoded.items()}
        if "program" in case:
            outputs = _numpy(case["program"], feeds)
        else:
            outputs = ORACLES[oracle](base64.b64decode(case["model"]), feeds)
        return {"outputs": [encode(value) for value in outputs]}
    except Exception as error:  # their exceptions have no common base class
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}


def main() -> None:
    """Answers requests until standard input ends."""
    warnings.simplefilter("ignore")
    assert ml_dtypes  # NumPy knows its types by name from here on
    for line in sys.stdin:
        for case in json.loads(Path(line.strip()).read_text("utf-8")):
            limits.begin()
            print(json.dumps(ask(case, sys.argv[1])), flush=True)


if __name__ == "__main__":
    main()
