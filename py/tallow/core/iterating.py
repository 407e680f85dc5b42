"""Iterators whose next item may block: for `for`, and for `async for`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Self, TypeVar

from .drivers import Steps, run_async, run_sync

T = TypeVar("T")


class StepIterator(ABC, Generic[T]):
    """An iterator by the steps of its next item."""

    @abstractmethod
    def next_item(self) -> Steps[T | None]:
        """The next item; None at the end."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        item = run_sync(self.next_item())
        if item is None:
            raise StopIteration
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        item = await run_async(self.next_item())
        if item is None:
            raise StopAsyncIteration
        return item
