"""What MLflow and Weights & Biases are told.

Neither is installed for the tests: they are large. Stand-ins note the calls, and refuse those whose
arguments the real functions would refuse: `record_trackers.py` wrote down theirs.
"""

from __future__ import annotations

import json
import sys
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.unit.train.problem import STEPS_PER_EPOCH, StopAt, learner, loaders

from tallow.errors import PackageError
from tallow.train import Callback, MLflow, Run, WandB

RECORDED = json.loads(Path(__file__).with_name("trackers.json").read_text("utf-8"))
Calls = list[tuple[str, dict[str, Any]]]


def noting(package: str, path: str, calls: Calls, answer: Any = None, bound: Any = ()) -> Any:
    """A function that takes what the real one takes, and notes it."""
    signature = Signature(
        [
            Parameter(name, getattr(Parameter, kind), default=None if optional else Parameter.empty)
            for name, kind, optional in RECORDED[package][path]
        ]
    )

    def called(*args: Any, **options: Any) -> Any:
        given = signature.bind(*bound, *args, **options).arguments
        given.pop("self", None)
        calls.append((path.rpartition(".")[2], dict(given)))
        return answer

    return called


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls: Calls = []
    module: Any = ModuleType("mlflow")
    run = SimpleNamespace(info=SimpleNamespace(run_id="run 7"))
    for name in RECORDED["mlflow"]:
        if name != "version":
            answer = run if name == "start_run" else None
            setattr(module, name, noting("mlflow", name, calls, answer))
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return calls


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls: Calls = []
    module: Any = ModuleType("wandb")
    run = SimpleNamespace(
        id="run 7",
        log=noting("wandb", "Run.log", calls, bound=[None]),
        finish=noting("wandb", "Run.finish", calls, bound=[None]),
    )
    module.init = noting("wandb", "init", calls, run)
    monkeypatch.setitem(sys.modules, "wandb", module)
    return calls


class Failing(Callback):
    def on_record(self, learner: Run, record: Any) -> None:
        raise ValueError("full")


def given(calls: Calls, name: str) -> list[dict[str, Any]]:
    return [arguments for each, arguments in calls if each == name]


def test_mlflow_gets_parameters_figures_and_the_end(mlflow: Calls) -> None:
    callback = MLflow(
        "flowers", run_name="first", tracking_uri="file:runs", params={"lr": 0.02}, every=0
    )
    trained = learner(callbacks=[callback])
    trained.fit(*loaders(), epochs=2)
    assert [name for name, _ in mlflow[:4]] == [
        *("set_tracking_uri", "set_experiment", "start_run", "log_params")
    ]
    assert given(mlflow, "start_run") == [{"run_id": None, "run_name": "first"}]
    assert given(mlflow, "log_params") == [{"params": {"lr": 0.02}}]
    sent = given(mlflow, "log_metrics")
    records = [each for each in sent if "valid_loss" in each["metrics"]]
    assert [each["step"] for each in records] == [STEPS_PER_EPOCH, 2 * STEPS_PER_EPOCH]
    assert records[-1]["metrics"] == {name: float(x) for name, x in trained.history[-1].items()}
    assert any("items_per_second" in each["metrics"] for each in sent)
    assert mlflow[-1] == ("end_run", {"status": "FINISHED"})


def test_mlflow_gets_looks_now_and_then(mlflow: Calls) -> None:
    trained = learner(callbacks=[MLflow(every=60)])
    trained.clock = lambda: 5.0
    trained.fit(*loaders(), epochs=2)
    assert len(given(mlflow, "log_metrics")) == 1 + 2  # a look, and each record


def test_a_run_that_goes_on_goes_on_in_mlflow(mlflow: Calls, tmp_path: Path) -> None:
    learner(tmp_path, callbacks=[MLflow(params={"a": 1}), StopAt(3)]).fit(*loaders(), epochs=1)
    learner(tmp_path, callbacks=[MLflow(params={"a": 1})]).resume(*loaders(), epochs=2)
    assert [each["run_id"] for each in given(mlflow, "start_run")] == [None, "run 7"]
    assert len(given(mlflow, "log_params")) == 1


def test_a_run_that_fails_fails_in_mlflow(mlflow: Calls) -> None:
    with pytest.raises(ValueError, match="full"):
        learner(callbacks=[MLflow(), Failing()]).fit(*loaders(), epochs=1)
    assert mlflow[-1] == ("end_run", {"status": "FAILED"})


def test_wandb_gets_the_configuration_figures_and_the_end(wandb: Calls) -> None:
    callback = WandB("flowers", name="first", config={"lr": 0.02}, mode="offline")
    trained = learner(callbacks=[callback])
    trained.fit(*loaders(), epochs=2)
    assert given(wandb, "init") == [
        {"project": "flowers", "name": "first", "config": {"lr": 0.02}, "mode": "offline"}
    ]
    records = [each for each in given(wandb, "log") if "valid_loss" in each["data"]]
    assert records[-1]["data"] == {name: float(x) for name, x in trained.history[-1].items()}
    steps = [each["step"] for each in given(wandb, "log")]
    assert steps == sorted(steps)  # wandb drops what goes back
    assert wandb[-1] == ("finish", {"exit_code": 0})


def test_a_run_that_goes_on_goes_on_in_wandb(wandb: Calls, tmp_path: Path) -> None:
    learner(tmp_path, callbacks=[WandB(), StopAt(3)]).fit(*loaders(), epochs=1)
    learner(tmp_path, callbacks=[WandB()]).resume(*loaders(), epochs=2)
    first, second = given(wandb, "init")
    assert "id" not in first
    assert (second["id"], second["resume"]) == ("run 7", "allow")


def test_a_run_that_fails_fails_in_wandb(wandb: Calls) -> None:
    with pytest.raises(ValueError, match="full"):
        learner(callbacks=[WandB(), Failing()]).fit(*loaders(), epochs=1)
    assert wandb[-1] == ("finish", {"exit_code": 1})


@pytest.mark.parametrize(("callback", "name"), [(MLflow, "mlflow"), (WandB, "wandb")])
def test_a_missing_package_is_named(
    callback: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PackageError, match=rf"pip install tallow\[{name}\]"):
        learner(callbacks=[callback()]).fit(*loaders(), epochs=1)
