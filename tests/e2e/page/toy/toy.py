"""The Python of the toy view: a module of tallow_page."""

import json

import tallow as tl


async def double(number: float) -> str:
    """Twice a number, computed on the chosen device."""
    return json.dumps({"twice": (tl.asarray([number], tl.float32) * 2).tolist()[0]})
