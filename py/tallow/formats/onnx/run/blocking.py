"""What may block when a model runs, as requests of a generator (runtime/drivers.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ....core.hostarray import HostArray
from ....graph import Graph
from ....runtime.session import Session, compile_session, compile_session_async


class PlanCache(Protocol):
    """A cache of compiled plans."""

    async def session(self, graph: Graph, device: str | None) -> Session:
        """Like `compile_session_async`."""


@dataclass(frozen=True, slots=True)
class Compile:
    """Requests that a graph be compiled for a device; the answer is a Session."""

    graph: Graph
    device: str | None
    plan_cache: PlanCache | None = None  # only if the file and the input shapes decide the graph

    def run_sync(self) -> Session:
        """Compiles the graph, and blocks."""
        return compile_session(self.graph, self.device)

    async def run_async(self) -> Session:
        """Compiles the graph, or takes its plan from the cache."""
        make = self.plan_cache.session if self.plan_cache else compile_session_async
        return await make(self.graph, self.device)


@dataclass(frozen=True, slots=True)
class Run:
    """Requests a run of a session; the answer is its outputs by name."""

    session: Session
    feeds: Mapping[str, HostArray]

    def run_sync(self) -> dict[str, HostArray]:
        """The outputs; blocks."""
        return self.session.run_host(self.feeds)

    async def run_async(self) -> dict[str, HostArray]:
        """The outputs, once they are there."""
        return await self.session.run_host_async(self.feeds)
