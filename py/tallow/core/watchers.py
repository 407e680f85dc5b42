"""What a watcher is told: see watching.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Attributes = Mapping[str, Any]
"""Facts by name: texts, numbers, booleans, and lists of one kind of them."""

Seen = Callable[[Any], None]
"""Is given what an inference computed: a mapping by name, or nothing to look at."""

Shapes = Mapping[str, Sequence[int]]
"""Shapes of inputs by name."""


class Watcher(Protocol):
    """What rooms tell of."""

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[Any]:
        """Something that takes a while, from here to the end of the with block."""

    def step(self, attributes: Attributes) -> AbstractContextManager[Any]:
        """A step of training is given to the device; one of many."""

    def inference(
        self, model: str, device: str, shapes: Shapes, inputs: Mapping[str, Any]
    ) -> AbstractContextManager[Seen]:
        """An inference, from here to the end of the with block, which says what it computed.
        inputs: arrays by name, or tensors; none where they are not to be looked at."""

    def request(
        self, headers: Mapping[str, str], attributes: Attributes
    ) -> AbstractContextManager[Any]:
        """A request to a service, from here to the end of the with block. headers: the request's,
        whose traceparent says which span asks."""

    def figures(self, attributes: Attributes, figures: Mapping[str, float]) -> None:
        """Measures of a run: train_loss, valid_accuracy, items_per_second, memory ..."""
