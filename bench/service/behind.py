"""`tallow serve` with onnxruntime as what computes: the same server, gatherer, batches and limits.

    python bench/service/behind.py THREADS MODEL... [the options of tallow serve]

THREADS: how many onnxruntime has for an operator.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import onnxruntime

from tallow.cli import main
from tallow.formats.onnx.model import load
from tallow.serve import models

THREADS = int(sys.argv[1])


class Sessions:
    """What `serve.models.OnnxModel` asks of a model: its ports, and a session."""

    def __init__(self, path: Path) -> None:
        described = load(path)
        self.inputs, self.outputs = described.inputs, described.outputs
        self._path = path

    def session(self, device: str | None) -> Session:
        """Another session; it has one device, the processor."""
        return Session(self._path)


class Session:
    """A session of onnxruntime, with the names of Tallow's."""

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
        self._session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        self._names = [each.name for each in self._session.get_outputs()]

    def run(self, feeds: dict[str, Any]) -> dict[str, Any]:
        """All outputs."""
        return dict(zip(self._names, self._session.run(None, feeds), strict=True))

    def close(self) -> None:
        """Nothing: a session goes with its last reference."""


if __name__ == "__main__":
    setattr(models, "load", Sessions)  # noqa: B010  # which `opened` calls for ONNX files
    sys.exit(main(["serve", *sys.argv[2:]]))
