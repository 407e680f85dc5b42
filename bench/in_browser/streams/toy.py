"""A long action that the page does not have: it counts, a step a number."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from typing import Any

from tallow_page.steps import Answer, streamed

state = {"begun": 0, "steps": 0, "closed": 0}


@streamed
async def count(total: int, milliseconds: float) -> AsyncGenerator[Any, None]:
    """Counts to `total`; each step takes so long."""
    state["begun"] += 1
    try:
        for done in range(1, total + 1):
            until = time.perf_counter() + milliseconds / 1000
            while time.perf_counter() < until:
                pass
            state["steps"] += 1
            yield {"stage": "count", "done": done, "total": total}
        yield Answer({"counted": total})
    finally:
        state["closed"] += 1


async def told() -> str:
    """What has happened, as JSON."""
    return json.dumps(state)
