"""Long actions: what the page can watch, interrupt and stop.

A long action is an async generator. After each step it yields how far it is, or None to let others
in; last it yields its `Answer`. The worker (web/worker/app.js) asks for one step after the other:
between two of them it answers other questions, and it closes the generator where the page wants it
to stop. What must be true after any step, `finally` takes care of.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True)
class Answer:
    """The last item of a long action."""

    value: Any


def streamed(
    action: Callable[_P, AsyncGenerator[Any, None]],
) -> Callable[_P, AsyncGenerator[str, None]]:
    """The form of a long action that the page calls: each item as JSON, {"progress": item} and,
    last, {"answer": value}."""

    @wraps(action)
    async def texts(*args: _P.args, **named: _P.kwargs) -> AsyncGenerator[str, None]:
        async with aclosing(action(*args, **named)) as steps:
            async for item in steps:
                done = isinstance(item, Answer)
                yield json.dumps({"answer": item.value} if done else {"progress": item})

    return texts
