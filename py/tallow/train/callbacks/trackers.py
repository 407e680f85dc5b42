"""Trackers of experiments: MLflow, Weights & Biases."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Mapping
from typing import Any

from ...core.packages import package
from ..run import Run
from .base import Callback, Record


def _numbers(figures: Record) -> dict[str, float]:
    """The finite numbers among figures."""
    return {
        name: float(value)
        for name, value in figures.items()
        if isinstance(value, (int, float)) and math.isfinite(value)
    }


def _failure() -> str | None:
    """How the run that ends now failed: "KILLED", "FAILED" or None."""
    kind = sys.exc_info()[0]
    if kind is None:
        return None
    return "KILLED" if issubclass(kind, (KeyboardInterrupt, asyncio.CancelledError)) else "FAILED"


class MLflow(Callback):
    """Tells MLflow what a run is given and measures. A run that goes on from a checkpoint goes on
    there, too.

    experiment: its name; None is MLflow's default. run_name: the run's name.
    tracking_uri: the server or the store; None is what MLflow is set to (MLFLOW_TRACKING_URI).
    params: what the run is given, by name.
    every: how many seconds there are between two looks whose figures are sent; sending waits for
      the server.
    Raises: PackageError when a run begins without MLflow: pip install tallow[mlflow].
    """

    def __init__(
        self,
        experiment: str | None = None,
        *,
        run_name: str | None = None,
        tracking_uri: str | None = None,
        params: Mapping[str, Any] | None = None,
        every: float = 5.0,
    ) -> None:
        self.every, self._sent = every, -math.inf
        self.experiment, self.run_name, self.tracking_uri = experiment, run_name, tracking_uri
        self.params = dict(params or {})
        self.run_id: str | None = None
        self._mlflow: Any = None

    def on_fit_start(self, learner: Run) -> None:
        """Begins a run, or goes on with the one of the checkpoint."""
        mlflow = self._mlflow = package("mlflow", "train.MLflow", "mlflow")
        if self.tracking_uri is not None:
            mlflow.set_tracking_uri(self.tracking_uri)
        if self.experiment is not None:
            mlflow.set_experiment(self.experiment)
        going_on = self.run_id if learner.steps else None
        run = mlflow.start_run(run_id=going_on, run_name=self.run_name)
        self.run_id = run.info.run_id
        if self.params and going_on is None:
            mlflow.log_params(self.params)

    def on_look(self, learner: Run, figures: Record) -> None:
        """Sends the figures of steps, now and then."""
        if learner.clock() - self._sent < self.every:
            return
        self._sent = learner.clock()
        self._mlflow.log_metrics(_numbers(figures), step=learner.steps)

    def on_record(self, learner: Run, record: Record) -> None:
        """Sends the record."""
        self._mlflow.log_metrics(_numbers(record), step=learner.steps)

    def on_fit_end(self, learner: Run) -> None:
        """Ends the run, with how it ended."""
        if self._mlflow is not None:
            self._mlflow.end_run(_failure() or "FINISHED")

    def state_dict(self) -> dict[str, Any]:
        """Which run it is."""
        return {"run_id": self.run_id}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on with that run."""
        self.run_id = state["run_id"]


class WandB(Callback):
    """Tells Weights & Biases what a run is given and measures. A run that goes on from a checkpoint
    goes on there, too.

    project: its name. name: the run's name. config: what the run is given, by name.
    options: what else `wandb.init` takes, such as mode="offline" or dir=.
    Raises: PackageError when a run begins without wandb: pip install tallow[wandb].
    """

    def __init__(
        self,
        project: str | None = None,
        *,
        name: str | None = None,
        config: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.project, self.name, self.config = project, name, dict(config or {})
        self.options = options
        self.run_id: str | None = None
        self._run: Any = None

    def on_fit_start(self, learner: Run) -> None:
        """Begins a run, or goes on with the one of the checkpoint."""
        wandb = package("wandb", "train.WandB", "wandb")
        given = dict(self.options)
        if learner.steps and self.run_id is not None:
            given |= {"id": self.run_id, "resume": "allow"}
        self._run = wandb.init(project=self.project, name=self.name, config=self.config, **given)
        self.run_id = self._run.id

    def on_look(self, learner: Run, figures: Record) -> None:
        """Sends the figures of steps."""
        self._run.log(_numbers(figures), step=learner.steps)

    def on_record(self, learner: Run, record: Record) -> None:
        """Sends the record."""
        self._run.log(_numbers(record), step=learner.steps)

    def on_fit_end(self, learner: Run) -> None:
        """Ends the run, with how it ended."""
        if self._run is not None:
            self._run.finish(exit_code=0 if _failure() is None else 1)
            self._run = None

    def state_dict(self) -> dict[str, Any]:
        """Which run it is."""
        return {"run_id": self.run_id}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on with that run."""
        self.run_id = state["run_id"]
