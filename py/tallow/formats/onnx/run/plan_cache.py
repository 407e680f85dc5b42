"""Sessions of graphs, from a cache of compiled plans where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ....core.drivers import Steps
from ....graph import Graph
from ....runtime.session import Session, compile_session, compiling


class PlanCache(Protocol):
    """A cache of compiled plans."""

    async def session(self, graph: Graph, device: str | None) -> Session:
        """Like `compile_session_async`."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Requests a session from a cache, which can only be awaited: code that blocks compiles."""

    cache: PlanCache
    graph: Graph
    device: str | None

    def run_sync(self) -> Session:
        return compile_session(self.graph, self.device)

    async def run_async(self) -> Session:
        return await self.cache.session(self.graph, self.device)


def session_of(graph: Graph, device: str | None, cache: PlanCache | None = None) -> Steps[Session]:
    """A graph's session on a device. cache: given only if the file and the input shapes decide the
    graph."""
    if cache is None:
        return (yield from compiling(graph, device))
    session: Session = yield _Kept(cache, graph, device)
    return session
