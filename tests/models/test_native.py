"""The shipped models on desktop WebGPU: the answers of NumPy and onnxruntime on real pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tallow as tl

from .subjects import NAMES, Subject


@pytest.mark.parametrize("name", NAMES)
def test_native(name: str, dist: Path, native: str) -> None:
    subject = Subject(name)
    model = tl.onnx.load(subject.path)
    with model.session("webgpu") as session:
        rows = [session.run({subject.input: x[None]})[subject.output] for x in subject.pictures]
        assert session.device == "webgpu"
        assert session.adapter == native
        assert session.stats["runs"] == len(subject.pictures)
        assert session.stats["dispatches"] > 3
    got = np.concatenate(rows)
    subject.check(got)
    with model.session("numpy") as session:
        reference = session.run({subject.input: subject.pictures[:1]})[subject.output]
    tolerance = 1e-4 * np.abs(reference).max()
    np.testing.assert_allclose(got[:1], reference, atol=tolerance, rtol=0)
