"""Who watches what the library does: nobody, or one object, such as telemetry's.

Rooms that do something worth a span ask `watching.watcher is not None`, and nothing else, before
they call it. So a program without telemetry neither imports anything for it nor becomes slower.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from ..binding import imported
from ..errors import TallowError

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""The variable of the environment that starts telemetry by itself."""

Attributes = Mapping[str, Any]
"""Facts by name: texts, numbers, booleans, and lists of one kind of them."""

Seen = Callable[[Any], None]
"""Is given what an inference computed: a mapping by name, or nothing to look at."""


class Inference(NamedTuple):
    """An inference that begins. inputs: arrays by name, or tensors. shapes: theirs, by name."""

    model: str
    device: str
    shapes: Mapping[str, Sequence[int]]
    inputs: Mapping[str, Any]


class Watcher(Protocol):
    """What rooms tell of."""

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[Any]:
        """Something that takes a while, from here to the end of the with block."""

    def step(self, attributes: Attributes) -> AbstractContextManager[Any]:
        """A step of training is given to the device; one of many."""

    def inference(self, begun: Inference) -> AbstractContextManager[Seen]:
        """An inference, from here to the end of the with block, which says what it computed."""

    def figures(self, attributes: Attributes, figures: Mapping[str, float]) -> None:
        """Measures of a run: train_loss, valid_accuracy, items_per_second, memory ..."""


class _AtFirstUse:
    """Starts telemetry when something is to be told for the first time, as the environment asks
    for it; a line says so if that fails, and nobody watches."""

    def _started(self) -> Watcher | None:
        global watcher
        watcher = None
        try:
            imported("tallow.telemetry").init()
        except TallowError as error:
            text = f"{ENDPOINT} is set, but there is no telemetry: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
        return watcher

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[Any]:
        return (self._started() or NOBODY).span(name, attributes)

    def step(self, attributes: Attributes) -> AbstractContextManager[Any]:
        return (self._started() or NOBODY).step(attributes)

    def inference(self, begun: Inference) -> AbstractContextManager[Seen]:
        return (self._started() or NOBODY).inference(begun)

    def figures(self, attributes: Attributes, figures: Mapping[str, float]) -> None:
        (self._started() or NOBODY).figures(attributes, figures)


def _ignore(results: Any) -> None:
    """Nobody looks at results."""


class _Nothing(AbstractContextManager[Any]):
    """A with block that nobody watches."""

    def __enter__(self) -> Seen:
        return _ignore

    def __exit__(self, *error: object) -> None:
        pass


NOTHING: AbstractContextManager[Seen] = _Nothing()


class _Nobody:
    """Looks away."""

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[Any]:
        return NOTHING

    def step(self, attributes: Attributes) -> AbstractContextManager[Any]:
        return NOTHING

    def inference(self, begun: Inference) -> AbstractContextManager[Seen]:
        return NOTHING

    def figures(self, attributes: Attributes, figures: Mapping[str, float]) -> None:
        pass


NOBODY: Watcher = _Nobody()


def _from_environment() -> Watcher | None:
    """Who watches as long as the program does not say."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return _AtFirstUse() if os.environ.get(ENDPOINT) and not disabled else None


watcher: Watcher | None = _from_environment()
"""Who watches; None is nobody."""
