"""Starts telemetry as the environment asks for it: see watching.py."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..binding import imported
from ..errors import TallowError
from . import watching
from .watchers import Attributes, Seen, Shapes, Watcher


class AtFirstUse:
    """A watcher that starts telemetry when something is to be told for the first time. A line says
    so if that fails, and nobody watches then."""

    def _started(self) -> Watcher | None:
        watching.watcher = None
        try:
            imported("tallow.telemetry").init()
        except TallowError as error:
            text = f"{watching.ENDPOINT} is set, but there is no telemetry: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
        return watching.watcher

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[Any]:
        """See `Watcher`."""
        found = self._started()
        return nullcontext() if found is None else found.span(name, attributes)

    def step(self, attributes: Attributes) -> AbstractContextManager[Any]:
        """See `Watcher`."""
        found = self._started()
        return nullcontext() if found is None else found.step(attributes)

    def inference(
        self, model: str, device: str, shapes: Shapes, inputs: Mapping[str, Any]
    ) -> AbstractContextManager[Seen]:
        """See `Watcher`."""
        found = self._started()
        if found is None:
            return watching.NOTHING
        return found.inference(model, device, shapes, inputs)

    def request(
        self, headers: Mapping[str, str], attributes: Attributes
    ) -> AbstractContextManager[Any]:
        """See `Watcher`."""
        found = self._started()
        return nullcontext() if found is None else found.request(headers, attributes)

    def figures(self, attributes: Attributes, figures: Mapping[str, float]) -> None:
        """See `Watcher`."""
        found = self._started()
        if found is not None:
            found.figures(attributes, figures)
