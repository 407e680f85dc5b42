"""One version of a model that answers requests."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import FeedError, ServiceError
from .figures import Figures
from .gatherer import Gatherer, Waiting
from .models import Arrays, Computed, checked, computed, zeros
from .refusals import kind_of
from .worker import Worker


@dataclass(frozen=True)
class Limits:
    """What a request may take. batch: rows of a batch. wait: seconds that a request waits for
    others. queue: requests that wait for a model. body: bytes of a request. timeout: seconds until
    an answer; None is as long as it takes. drain: seconds at the end in which the service is not
    ready and still answers. grace: seconds that requests in hand have after that."""

    batch: int = 32
    wait: float = 0.002
    queue: int = 256
    body: int = 64 << 20
    timeout: float | None = 60.0
    drain: float = 0.0
    grace: float = 30.0


@dataclass(frozen=True)
class _Asked:
    """Inputs, and the caller's context, with the span of its trace."""

    feeds: Arrays
    context: contextvars.Context


class Serving:
    """A model with its gatherer."""

    def __init__(
        self, name: str, version: int, model: Computed, worker: Worker, limits: Limits,
        figures: Figures,
    ) -> None:  # fmt: skip
        self.name, self.version, self.model = name, version, model
        self._worker, self._limits, self._figures = worker, limits, figures
        most = limits.batch if model.batches else 1
        self._gatherer = Gatherer(self._run, most, limits.wait, limits.queue, changed=self._waiting)

    async def warm(self, sizes: Sequence[int]) -> None:
        """Compiles the plans for batches of these sizes, as far as the file gives all shapes."""
        for rows in sizes:
            feeds = zeros(self.model, rows)
            if feeds is not None:
                await self._worker.do(self.model, feeds)

    async def infer(
        self, feeds: Arrays, outputs: Collection[str] | None = None, timeout: float | None = None
    ) -> Arrays:
        """The outputs that are named, in that order; None is all.

        It asks before it first waits, so a model that is found is not taken away before it is
        asked. timeout: seconds, if less than the limit's.
        Raises: FeedError for what does not fit; ServiceError "late", "busy"; what computing raised.
        """
        started, outcome = time.monotonic(), "gone"
        times = [each for each in (timeout, self._limits.timeout) if each is not None]
        try:
            known = [port.name for port in self.model.outputs]
            unknown = [name for name in outputs or () if name not in known]
            if unknown:
                raise FeedError(f"no output {unknown[0]!r}; the model's are {', '.join(known)}")
            rows = checked(self.model.inputs, feeds, self.model.batches)
            key = tuple((name, array.dtype, array.shape[1:]) for name, array in feeds.items())
            asked = _Asked(feeds, contextvars.copy_context())
            try:
                async with asyncio.timeout(min(times, default=None)):
                    found: Arrays = await self._gatherer.ask(asked, rows, frozenset(key))
            except TimeoutError as error:
                raise ServiceError("late", f"no answer within {min(times):g} s") from error
            outcome = "answered"
            return {name: found[name] for name in outputs or known}
        except Exception as error:
            outcome = kind_of(error) or "failed"
            raise
        finally:
            self._figures.ended(self.name, self.version, outcome, time.monotonic() - started)

    def _waiting(self, count: int) -> None:
        self._figures.waiting(self.name, self.version, count)

    async def _run(self, batch: Sequence[Waiting]) -> list[Any]:
        """Computes a batch. If that fails, each request is computed by itself, so that one that
        cannot be computed spoils no other."""
        self._figures.batch(self.name, self.version, sum(each.rows for each in batch))
        requests = [each.feeds.feeds for each in batch]
        try:
            return await self._worker.do(  # type: ignore[no-any-return]
                computed, self.model, requests, self._limits.batch, within=batch[0].feeds.context
            )
        except Exception as error:
            if len(batch) == 1:
                return [error]
        return [(await self._run([each]))[0] for each in batch]

    async def close(self) -> None:
        """Answers what waits, then frees the model."""
        await self._gatherer.close()
        await self._worker.do(self.model.close)
