"""`build.py bench --native`: what it measures, and what it leaves out and why."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from bench import native as bench

from tallow.devices.webgpu.native.backend import NativeBackend


@pytest.fixture
def backend(native: None, monkeypatch: pytest.MonkeyPatch) -> NativeBackend:
    """The adapter's, for few and small cases."""
    monkeypatch.setattr(bench, "SIZES", (64, 128))
    small = {"pointwise": (16, 32, 32, 1, 1, 1), "depthwise": (16, 32, 32, 3, 1, 32)}
    monkeypatch.setattr(bench, "CONVOLUTIONS", small)
    return NativeBackend()


def test_every_case_has_a_rate_and_its_share_of_the_peak(backend: NativeBackend) -> None:
    rows = list(bench.rows(backend, ["matmul", "conv"], "float32", 2.0))
    assert [row.part for row in rows] == ["memory", "matmul", "matmul", "conv", "conv"]
    assert not any(row.left_out for row in rows)
    assert all(row.rate > 0 and row.milliseconds > 0 and row.kernels for row in rows)
    for row in rows[1:]:
        assert row.share is not None and math.isclose(row.share, row.rate / 2000.0)
        assert f"{row.share:.1%}" in bench.text_of(row)


def test_what_takes_too_long_is_left_out_and_the_table_says_so(
    backend: NativeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "MAX_SECONDS", 0.0)
    first, second = list(bench.rows(backend, ["matmul"], "float32", None))[1:]
    assert first.left_out is None
    assert "a run would take about" in (second.left_out or "")
    assert "skipped: a run would take" in bench.text_of(second)


def test_float16_is_measured_where_it_is_used(
    backend: NativeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = backend.limits
    if not limits.traits.float16:
        pytest.skip(f"{backend.info.adapter} has no shader-f16")
    monkeypatch.setattr(bench, "SIZES", (64, 512))
    hardware = replace(limits, traits=replace(limits.traits, software=False))
    monkeypatch.setattr(NativeBackend, "limits", hardware)
    small, large = bench.rows(backend, ["matmul"], "float16", None)
    assert "in float32 anyway" in (small.left_out or "")
    assert large.left_out is None and large.rate > 0
