"""What a run reports to telemetry (core/watching.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..core import watching
from ..core.drivers import Steps
from ..core.watchers import Watcher
from .stepping import Stepping

P = ParamSpec("P")
T = TypeVar("T")
Part = Callable[Concatenate[Stepping, P], Steps[T]]


def watched(name: str) -> Callable[[Part[P, T]], Part[P, T]]:
    """A decorator for a part of the loop, which becomes a span of this name where somebody
    watches."""

    def decorated(part: Part[P, T]) -> Part[P, T]:
        @wraps(part)
        def begin(learner: Stepping, /, *args: P.args, **options: P.kwargs) -> Steps[T]:
            if watching.watcher is None:
                return part(learner, *args, **options)
            return _in_span(watching.watcher, name, learner, part(learner, *args, **options))

        return begin

    return decorated


def _in_span(watcher: Watcher, name: str, learner: Stepping, steps: Steps[T]) -> Steps[T]:
    with watcher.span(name, where(learner)):
        return (yield from steps)


def where(learner: Stepping) -> dict[str, Any]:
    """Where a run is."""
    return {**_which(learner), "epoch": learner.epoch + 1, "step": learner.steps}


def _which(learner: Stepping) -> dict[str, Any]:
    return {"model.type": type(learner.model).__name__}


def tell(learner: Stepping, figures: Mapping[str, Any]) -> None:
    """Tells the figures of a look, or of a record."""
    if watching.watcher is not None:
        watching.watcher.figures(_which(learner), figures)
