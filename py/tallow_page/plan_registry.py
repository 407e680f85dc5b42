"""Plans that outlive a visit. Compiled plans are available here by number until the worker has
cached them (web/worker/models/plans.js); and a model's session asks for cached plans.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallow.compile import Compiled
from tallow.compile.indices import indexed_inputs
from tallow.compile.plan_serialization import buffer, keep, restore
from tallow.core.hostarray import HostArray
from tallow.errors import DeviceError, DeviceLostError, DeviceUnavailableError, PlanError
from tallow.graph import Graph
from tallow.runtime.compiling import compile_for
from tallow.runtime.device import backend
from tallow.runtime.session import Session

from .javascript import view

_plans: dict[int, tuple[Compiled, Mapping[str, Any], Sequence[HostArray]]] = {}
_numbers = itertools.count(1)

Find = Callable[[], Awaitable[Any]]
"""Returns (text, a buffer for each weight), or None if there is no cached plan."""


def register(
    compiled: Compiled, facts: Mapping[str, Any], constants: Sequence[HostArray] = ()
) -> int:
    """Registers a plan and returns its number. facts: stored with the plan. constants: arrays that
    need not be stored; see `plan_serialization.keep`."""
    number = next(_numbers)
    _plans[number] = compiled, facts, constants
    return number


def serialized_plan(number: int) -> str:
    """The serialized plan, without its weights.

    Raises KeyError if the plan is no longer registered.
    """
    return keep(*_plans[number])


def plan_weight(number: int, index: int) -> Any:
    """The bytes of one weight of the plan, or the part of the model's file that contains them
    (web/site/streamed.js). Raises KeyError, IndexError."""
    return buffer(_plans[number][0], index)


def release_plan(number: int) -> None:
    """Removes a plan, after it was cached or failed to be, and frees its weights."""
    _plans.pop(number, None)


def clear() -> None:
    """Removes all plans."""
    _plans.clear()


class ModelPlanCache:
    """Restores the cached plan of a model, or compiles and registers it (`PlanCache` of
    formats/onnx). constants: the model's arrays, which are not stored a second time."""

    def __init__(self, constants: Sequence[HostArray]) -> None:
        self._constants = constants
        self._find: Find | None = None
        self._registered: list[int] = []
        self.number: int | None = None
        """The number of the plan that was compiled since `reset`."""
        self.refused = ""
        """Why the cached plan found since then could not be used."""

    def reset(self, find: Find) -> None:
        """Prepares for a run. find: looks up the cached plan."""
        self._find, self.number, self.refused = find, None, ""

    def close(self) -> None:
        """Removes the plans that were registered."""
        for number in self._registered:
            release_plan(number)
        self._registered.clear()

    async def session(self, graph: Graph, device: str | None) -> Session:
        """Like `compile_session_async`."""
        used = backend(device)
        find, self._find = self._find, None  # only a run's first graph depends on shapes alone
        if find is None:
            compiled = compile_for(used, graph)
            return await Session.load_async(compiled, used)
        if found := await find():
            text, *weights = found
            try:
                compiled, _ = restore(text, [*map(view, weights)], None, self._constants)
                compiled = replace(compiled, indexed=indexed_inputs(graph))
                return await Session.load_async(compiled, used)
            except (DeviceLostError, DeviceUnavailableError):
                raise  # the plan is not to blame
            except (PlanError, DeviceError) as error:
                self.refused = str(error)
        compiled = compile_for(used, graph)
        session = await Session.load_async(compiled, used)
        self.number = register(compiled, {}, self._constants)
        self._registered.append(self.number)
        return session
