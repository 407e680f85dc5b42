"""Plans that outlive a visit: what was compiled is lent, under a number, to whoever keeps plans
(web/worker/models/plans.js), until it is let go of; and a model's session asks for what was kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallow.compile import Compiled
from tallow.compile.indices import indexed_inputs
from tallow.compile.plan_serialization import buffer, keep, restore
from tallow.errors import DeviceError, DeviceLostError, PlanError
from tallow.graph import Graph
from tallow.hostarray import HostArray
from tallow.runtime.device import backend
from tallow.runtime.session import Session
from tallow.runtime.tuning import compile_for

from .javascript import view

_lent: dict[int, tuple[Compiled, Mapping[str, Any], Sequence[HostArray]]] = {}
_numbers = itertools.count(1)

Find = Callable[[], Awaitable[Any]]
"""Gives (text, a buffer for each weight), or None where nothing was kept."""


def lend(compiled: Compiled, facts: Mapping[str, Any], at_hand: Sequence[HostArray] = ()) -> int:
    """The number. facts: are kept with it. at_hand: see `plan_serialization.keep`."""
    number = next(_numbers)
    _lent[number] = compiled, facts, at_hand
    return number


def kept_text(number: int) -> str:
    """What is needed to have the plan another time, but for its weights.

    Raises KeyError for what is not lent any more.
    """
    return keep(*_lent[number])


def kept_weight(number: int, place: int) -> Any:
    """The bytes of one weight of what `kept_text` describes, or the part of the model's file that
    has brought them (web/shared/streamed.js). Raises KeyError, IndexError."""
    return buffer(_lent[number][0], place)


def let_go(number: int) -> None:
    """What was compiled has been kept, or cannot be: frees its weights."""
    _lent.pop(number, None)


def let_all_go() -> None:
    """Nothing of what was compiled is to be kept any more."""
    _lent.clear()


class PlanKeeper:
    """Has the plan of a model as it was kept, or compiles and lends it (`PlanCache` of
    formats/onnx). at_hand: the model's constants, which are not kept a second time."""

    def __init__(self, at_hand: Sequence[HostArray]) -> None:
        self._at_hand = at_hand
        self._find: Find | None = None
        self._numbers: list[int] = []
        self.lent: int | None = None
        """The number of what was compiled since `begin`."""
        self.refused = ""
        """Why what was found since then was of no use."""

    def begin(self, find: Find) -> None:
        """Before a run: what it compiles is found by this, or lent."""
        self._find, self.lent, self.refused = find, None, ""

    def close(self) -> None:
        """What was compiled is not to be kept any more."""
        for number in self._numbers:
            let_go(number)
        self._numbers.clear()

    async def session(self, graph: Graph, device: str | None) -> Session:
        """As `compile_session_async`."""
        used = backend(device)
        find, self._find = self._find, None  # a run with a second such graph has values between
        if find is None:
            compiled = compile_for(used, graph)
            return await Session.load_async(compiled, used)
        if found := await find():
            text, *weights = found
            try:
                compiled, _ = restore(text, [*map(view, weights)], None, self._at_hand)
                compiled = replace(compiled, indexed=indexed_inputs(graph))
                return await Session.load_async(compiled, used)
            except DeviceLostError:
                raise
            except (PlanError, DeviceError) as error:
                self.refused = str(error)
        compiled = compile_for(used, graph)
        session = await Session.load_async(compiled, used)
        self.lent = lend(compiled, {}, self._at_hand)
        self._numbers.append(self.lent)
        return session
