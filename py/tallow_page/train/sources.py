"""From the description of data to the data."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from tallow.errors import OptionError


async def opened_data(source: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
    """What a source describes: a `Fetching` for each step, and last the Data.

    source: {"published": name, "files": [{name, url, bytes, sha256}]}, a data set of the site, as
    web/site/published.js gives it; {"own": kind}, the visitor's own examples or text, once
    own.py has gathered them. Raises TallowError in one line.
    """
    if "own" in source:
        from .own import own_data

        yield own_data(str(source["own"]))
        return
    if "published" not in source:
        raise OptionError(f"no data are known by {', '.join(source) or 'an empty description'}")
    from .data_idx import opened_idx

    async with aclosing(opened_idx(source)) as steps:
        async for step in steps:
            yield step
