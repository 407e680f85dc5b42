"""The autotuner on the native runner: what is slow is replaced, what is damaged is thrown away."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import tuning
from tallow.backends import choice, kernels
from tallow.backends.native import NativeBackend
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor
from tallow.tuning import TuningWarning

SLOW = "matmul_1x4"  # one row an invocation: it reads b anew for each of them


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: None) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tallow"


@pytest.fixture
def slow_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that prefers the slowest kernel."""
    planted = [kernels.SCHEDULES[name] for name in (SLOW, "matmul_8x8", "matmul_4x4")]
    monkeypatch.setattr(choice, "_products", lambda node, traits: planted)


def product() -> Graph:
    a, b = (input_node(name, (128, 512), tl.float32) for name in "ab")
    return Graph((a, b), {"y": (Tensor(a) @ Tensor(b).mT).node}, "product")


def kernel_of(session: tl.Session) -> str:
    """The file of the only hand-written kernel in a plan."""
    (text,) = [module for module in session.plan.modules if "kernels_wgsl/" in module]
    return text.partition("kernels_wgsl/")[2].partition(".wgsl")[0]


def answer(session: tl.Session) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(3)
    feeds = {name: rng.normal(size=(128, 512)).astype(np.float32) for name in "ab"}
    result: np.ndarray[Any, Any] = session.run(feeds)["y"]
    return result


def test_a_planted_slow_default_is_replaced(
    slow_rule: None, run_async: Callable[..., Any], cache_folder: Path
) -> None:
    with tl.compile_session(product(), "webgpu") as session:
        assert kernel_of(session) == SLOW
        before = answer(session)
    told: list[tuple[int, int]] = []
    (result,) = run_async(tuning.tune(product(), "webgpu", lambda *done: told.append(done)))
    assert result.default == SLOW
    assert result.chosen != SLOW
    assert set(result.seconds) == {SLOW, "matmul_8x8", "matmul_4x4"}
    assert told == [(0, 1), (1, 1)]
    assert len(list(cache_folder.iterdir())) == 1
    with tl.compile_session(product(), "webgpu") as session:
        assert kernel_of(session) == result.chosen
        np.testing.assert_allclose(answer(session), before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("matmul_8x8", "matmul_4x4"),
        lambda text: "[1, 2]",
        lambda text: "",
    ],
)
def test_a_damaged_record_is_thrown_away_and_said(
    damage: Callable[[str], str], run_async: Callable[..., Any], cache_folder: Path
) -> None:
    backend = NativeBackend()
    run_async(tuning._keep(backend, {"matmul-0": "matmul_8x8"}))
    (path,) = cache_folder.iterdir()
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    with (
        pytest.warns(TuningWarning, match="thrown away"),
        tl.compile_session(product(), "webgpu") as session,
    ):
        assert answer(session).shape == (128, 128)
    run_async(tuning._keep(backend, {}))
    with tl.compile_session(product(), "webgpu"):  # without a warning: it is whole again
        pass


def test_a_record_of_other_kernels_is_not_used(
    run_async: Callable[..., Any], cache_folder: Path
) -> None:
    backend = NativeBackend()
    run_async(tuning._keep(backend, {"matmul-0": "matmul_8x8"}))
    assert tuning.limits_of(backend).traits.choices == {"matmul-0": "matmul_8x8"}
    (path,) = cache_folder.iterdir()
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**record, "kernels": "older"}), "utf-8")
    assert tuning.limits_of(backend).traits.choices == {}


def test_storage_that_refuses_is_said(run_async: Callable[..., Any], cache_folder: Path) -> None:
    cache_folder.write_text("a file where the folder should be", "utf-8")
    with pytest.warns(TuningWarning, match="not kept"):
        run_async(tuning.tune(product(), "webgpu"))


def test_numpy_has_nothing_to_tune(run_async: Callable[..., Any]) -> None:
    assert run_async(tuning.tune(product(), "numpy")) == []
