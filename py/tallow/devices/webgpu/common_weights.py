"""Weights that programs on one adapter have in common (runtime/contents.py), a buffer for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary, finalize

from ...compile import Compiled
from ...compile.plan import Step
from ...runtime.contents import contents


class Common:
    """Something that programs have in common, for as long as one of them is there.

    number: that under which a browser's runner has its buffer. buffer: it itself, outside a
    browser, once it is filled.
    """

    __slots__ = ("__weakref__", "_origins", "buffer", "number")

    def __init__(self, number: int, origins: tuple[object, ...]) -> None:
        self._origins = origins  # kept, so that no other array has their identity
        self.number = number
        self.buffer: Any = None

    def keep(self, buffer: Any) -> None:
        """Has a buffer from now on, which is destroyed with this."""
        self.buffer = buffer
        finalize(self, buffer.destroy).atexit = False


class CommonWeights:
    """What the programs on one adapter have in common. No number is given twice."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[Any, Common] = WeakValueDictionary()
        self._last = 0

    def of(self, compiled: Compiled) -> dict[int, Common]:
        """What of a plan's slots programs may share, by slots."""
        plan = compiled.plan
        slots = (slot for slot, each in enumerate(plan.slots) if each.kind == "weight")
        weights = {slot: data for slot, (_, data) in zip(slots, compiled.weights, strict=True)}

        def text(step: Step) -> str:
            return plan.modules[step.kernel["module"]] if step.kernel else ""

        found: dict[int, Common] = {}
        for slot, (key, origins) in contents(plan, weights, text).items():
            known = self._known.get(key)
            if known is None:
                self._last += 1
                known = self._known[key] = Common(self._last, origins)
            found[slot] = known
        return found


def numbers_of(common: Mapping[int, Common]) -> str:
    """The numbers, by slots, as JSON: pairs."""
    return json.dumps([(slot, each.number) for slot, each in common.items()])
