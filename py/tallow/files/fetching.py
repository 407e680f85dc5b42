"""The one way in which a file is fetched, on a desktop and in a browser."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..core.drivers import Steps, run_async, run_sync
from ..errors import ChecksumError, FetchError
from .file import Fetched, File, Progress, ProgressOfSeveral
from .memory import MemoryPart

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def fetch(file: File, progress: Progress | None = None) -> Fetched:
    """The file: the one that is kept, or one that is fetched now; blocks.

    It is asked for at each source in turn. A cut connection goes on where it was, also in a later
    run, if the server can do so. If there is no space to keep it, a warning says so before it
    arrives, and the bytes are given alone.

    progress: is called with the bytes that are there, and with the number of all or None.
    Raises: FetchError if no source gives it, with what each of them said; ChecksumError if the last
      one gives another file. In a browser that cannot block, FetchError names `fetch_async`.
    """
    return run_sync(fetching(file, progress, blocks=True))


async def fetch_async(file: File, progress: Progress | None = None) -> Fetched:
    """As `fetch`, without blocking."""
    return await run_async(fetching(file, progress))


def fetching(
    file: File, progress: Progress | None = None, blocks: bool = False, again: bool = False
) -> Steps[Fetched]:
    """The steps of `fetch`, for `run_sync` and `run_async`; the result is a Fetched. blocks: that
    `run_sync` will answer. again: that a file that is kept is fetched again, and is given only if
    that fails."""
    world = world_here(blocks)
    kept: Fetched | None = yield world.request(world.find, file)
    if kept is not None and not again:
        return kept
    failures: list[str] = []
    last: FetchError | None = None
    for source in file.addresses():
        name = source if isinstance(source, str) else source.name
        try:
            return (yield from _from(world, file, source, name, progress))
        except (FetchError, OSError) as error:
            if isinstance(error, ChecksumError):
                last = error
            failures.append(f"{name}: {error}")
    if kept is not None:
        return kept
    if last is not None and len(failures) == 1:
        raise last
    said = "\n".join(f"  {each}" for each in failures) or "  it has no source"
    kind = FetchError if last is None else ChecksumError
    raise kind(
        f"{file.name} could not be fetched:\n{said}\nput the file itself at "
        f"{file.place / file.name}, or name a mirror (TALLOW_MIRROR, tl.files.set_mirror)"
    )


def fetching_all(
    files: Mapping[str, File], progress: ProgressOfSeveral | None = None, blocks: bool = False
) -> Steps[dict[str, Fetched]]:
    """The steps that fetch several files, one after the other. Their sizes, where they are known,
    give the progress its whole."""
    sizes = [file.size for file in files.values()]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    arrived = dict.fromkeys(files, 0)

    def report(name: str, here: int, expected: int | None) -> None:
        size = files[name].size
        # What the browser unpacks is longer than its server says.
        arrived[name] = here if size is None else min(here, size)
        if progress is not None:
            whole = expected if total is None and len(files) == 1 else total
            progress(sum(arrived.values()), whole, name)

    found: dict[str, Fetched] = {}
    for name, file in files.items():
        found[name] = yield from fetching(file, partial(report, name), blocks)
        arrived[name] = file.size or arrived[name]
    return found


def world_here(blocks: bool) -> Any:
    """What fetches and keeps here: desktop.py or browser.py."""
    if sys.platform == "emscripten":
        from . import browser

        return browser.world(blocks)
    from . import desktop

    return desktop.Desktop()


def _from(
    world: Any, file: File, source: Any, name: str, progress: Progress | None
) -> Steps[Fetched]:
    """The file from one source."""
    ask = world.request
    if not isinstance(source, str) and not world.has_offline:
        raise FetchError("a browser has no such source")
    packed = file.is_packed(name)
    try:
        part = yield ask(world.begin, file, packed)
    except OSError as error:
        _warn(file, str(error))
        part = MemoryPart()
    holder = [part]
    resumed = part.size > 0
    try:
        if isinstance(source, str):
            yield from _streamed(world, file, source, holder, progress)
        else:
            content = yield ask(source.content)
            yield ask(part.clear)
            yield from _written(world, file, content, holder)
        found: Fetched = yield ask(holder[0].finish, file, name, packed)
        return found
    except FetchError:
        if not resumed or holder[0].size:
            raise
        # The part was of another file, and is gone: once more, without it.
    finally:
        holder[0].close()
    return (yield from _from(world, file, source, name, progress))


def _streamed(
    world: Any, file: File, address: str, holder: list[Any], progress: Progress | None
) -> Steps[None]:
    """Fills a part from an address, in as many tries as bring something. holder: of the part, whose
    place another one may take."""
    ask = world.request
    furthest = -1
    while True:
        reply = yield ask(world.open, address, holder[0].size)
        try:
            if reply.start != holder[0].size:  # the server does not go on, but begins anew
                yield ask(holder[0].clear)
            if furthest < 0:
                yield from _make_room(world, file, reply.total, holder)
            total = reply.total
            problem = ""
            while True:
                try:
                    chunk = yield ask(reply.read)
                except (OSError, FetchError) as error:
                    problem = str(error)
                    break
                if not chunk:
                    break
                yield from _written(world, file, chunk, holder)
                if progress is not None:
                    progress(holder[0].size, total)
        finally:
            reply.close()
        size = holder[0].size
        if not problem and (not reply.is_exact or total is None or size >= total):
            return
        if size <= furthest:
            raise FetchError(
                f"the connection was cut at {size:,} of {total or 'unknown':,} bytes: "
                f"{problem or 'the server ended it'}"
                if total
                else f"the connection was cut at {size:,} bytes: {problem}"
            )
        furthest = size


def _make_room(world: Any, file: File, total: int | None, holder: list[Any]) -> Steps[None]:
    """Has a file for which there is no space kept in memory, before it arrives."""
    part = holder[0]
    if total is None or isinstance(part, MemoryPart):
        return
    room = yield world.request(world.room, file)
    if room is not None and total - part.size > room:
        _warn(file, f"it needs {total - part.size:,} bytes, and {room:,} are free")
        yield from _into_memory(world, holder)


def _written(world: Any, file: File, chunk: bytes, holder: list[Any]) -> Steps[None]:
    try:
        yield world.request(holder[0].write, chunk)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _warn(file, "the space has run out")
        yield from _into_memory(world, holder)
        holder[0].write(chunk)


def _into_memory(world: Any, holder: list[Any]) -> Steps[None]:
    content = yield world.request(holder[0].content)
    yield world.request(holder[0].clear)
    holder[0].close()
    holder[0] = MemoryPart(content)


def _warn(file: File, why: str) -> None:
    warnings.warn(
        f"{file.name} is not kept, and will be fetched again by the next run: {why}; folder "
        f"{file.place}",
        stacklevel=2,
    )
