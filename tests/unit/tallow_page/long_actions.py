"""Helpers for tests of long actions, which yield JSON texts step by step."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any


async def finished(steps: AsyncGenerator[str, None]) -> tuple[list[Any], Any]:
    """Takes all steps. Returns what they reported, and the answer."""
    *reports, last = [json.loads(text) async for text in steps]
    assert list(last) == ["answer"]
    assert all(list(each) == ["progress"] for each in reports)
    return [each["progress"] for each in reports], last["answer"]
