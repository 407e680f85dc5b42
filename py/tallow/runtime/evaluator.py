"""How tensors are computed that are asked for their elements: a session each, closed again."""

from __future__ import annotations

from collections.abc import Mapping

from ..graph import Graph
from ..hostarray import HostArray
from ..tensor import use_evaluator
from .session import compile_session, compile_session_async


class SessionEvaluator:
    """Compiles a graph, runs it once, and frees what it took."""

    def compute(self, graph: Graph, device: str | None) -> Mapping[str, HostArray]:
        """The outputs by name; blocks. Raises what `compile_session` and `Session.run` raise."""
        with compile_session(graph, device) as session:
            return session.run_host({})

    async def compute_async(self, graph: Graph, device: str | None) -> Mapping[str, HostArray]:
        """As `compute`."""
        with await compile_session_async(graph, device) as session:
            return await session.run_host_async({})


use_evaluator(SessionEvaluator())
