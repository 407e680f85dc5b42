"""Published models and data for the views: fetched where they are not kept yet, and opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from tallow.core.drivers import run_async
from tallow.files import Fetched, File, ProgressOfSeveral, home
from tallow.files.fetching import fetching_all
from tallow.hub import load_async

if TYPE_CHECKING:
    from .contract.texts import Fetching

__all__ = ["fetched", "opened"]


async def opened(source: Mapping[str, Any], **options: Any) -> AsyncGenerator[Any, None]:
    """A published model, last; while its files arrive, a `Fetching` for each step.

    What arrives is kept in the page's storage, where a part of it is continued later, and checked.
    A model that is kept is opened without the network. Without space it stays in memory, and a
    warning says so.

    source: {"files": [{name, url, bytes, sha256}]} as web/site/published.js gives them;
      {"hub": "owner/name", "file"?, "revision"?}; or {"blobs": [File]}, the visitor's own files.
    options: those of `tl.zoo.load`.
    Raises: what `tl.zoo.load` raises.
    """
    given, more = _given(source)
    watched = _watched(partial(load_async, given, **more, **options))
    async with aclosing(watched) as steps:
        async for step in steps:
            yield step


async def fetched(source: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
    """Files of the site, by their names, last; while they arrive, a `Fetching` for each step.

    source: {"files": [{name, url, bytes, sha256}]}. Raises FetchError.
    """
    files = {str(each["name"]): _file(each) for each in source["files"]}

    async def fetch(progress: ProgressOfSeveral) -> dict[str, Fetched]:
        return await run_async(fetching_all(files, progress))

    async with aclosing(_watched(fetch)) as steps:
        async for step in steps:
            yield step


async def _watched(fetch: Callable[..., Awaitable[Any]]) -> AsyncGenerator[Any, None]:
    """What `fetch` gives, last; while files arrive, a `Fetching` for each step."""
    news = asyncio.Event()
    newest: list[Fetching] = []  # one at most: the page need not see them all

    def report(done: int, total: int | None, name: str) -> None:
        newest[:] = [{"stage": "fetch", "done": done, "total": total, "file": name}]
        news.set()

    task = asyncio.ensure_future(fetch(progress=report))
    task.add_done_callback(lambda _: news.set())
    try:
        while not task.done():
            await news.wait()
            news.clear()
            if newest:
                yield newest.pop()
        yield task.result()
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def _given(source: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The source as `tl.zoo.load` takes it, and options that belong to it."""
    if "hub" in source:
        return source["hub"], {k: source[k] for k in ("file", "revision") if source.get(k)}
    if "blobs" in source:
        return {str(each.name): each for each in source["blobs"]}, {}
    return {each["name"]: _file(each) for each in source["files"]}, {}


def _file(listed: Mapping[str, Any]) -> File:
    """A file of the site; its folder has the name of its content, since a site may change it."""
    digits = str(listed["sha256"])
    folder = home() / "models" / digits[:16]
    sources, size = (str(listed["url"]),), int(listed["bytes"])
    return File(str(listed["name"]), sources, folder, f"sha256:{digits}", size)
