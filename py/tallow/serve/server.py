"""The service from its start to its end."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import warnings
from collections.abc import Mapping, Sequence

from ..core import watching
from ..core.packages import package
from .addresses import Address, place
from .figures import Figures
from .pictures import Preparation
from .repository import Repository, Source
from .serving import Limits

_log = logging.getLogger("tallow.serve")


def run(
    sources: Sequence[Source],
    preparations: Mapping[str, Preparation],
    address: Address,
    limits: Limits,
    *,
    device: str | None = None,
    token: str | None = None,
    warm: Sequence[int] = (1,),
) -> None:
    """Serves until SIGTERM or SIGINT; blocks.

    Raises: PackageError without the extra `serve`; OSError for an address that is taken.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.create_server((address.host, address.port), family=family) as listening:
        _import_kserve()
        asyncio.run(_run(listening, sources, preparations, address, limits, device, token, warm))


def _import_kserve() -> None:
    """KServe reads the process's command line when it is imported; ours is not for it. What FastAPI
    deprecates in KServe is not news for who serves."""
    warnings.filterwarnings("ignore", "ORJSONResponse is deprecated")
    ours, sys.argv = sys.argv, sys.argv[:1]
    try:
        package("kserve.model_server", "tallow serve", "serve")
    finally:
        sys.argv = ours


async def _run(
    listening: socket.socket,
    sources: Sequence[Source],
    preparations: Mapping[str, Preparation],
    address: Address,
    limits: Limits,
    device: str | None,
    token: str | None,
    warm: Sequence[int],
) -> None:
    from .plane import Plane
    from .rest import Rest
    from .rpc import Rpc

    if watching.watcher is not None:
        watching.watcher.figures({}, {})  # telemetry that the environment asks for begins now
    repository = Repository(sources, device, limits, Figures(), warm)
    plane = Plane(repository)
    rpc = Rpc(plane, address.host, address.grpc_port, token, limits.body)
    rest = Rest(plane, preparations, token, limits)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    port = listening.getsockname()[1]
    _log.info("serving on http://%s and grpc://%s", place(address.host, port),
              place(address.host, rpc.port))  # fmt: skip
    tasks = [asyncio.create_task(rest.serve(listening)), asyncio.create_task(rpc.serve())]
    for each in tasks:
        each.add_done_callback(lambda task: stop.set())  # one that fails ends the other, too
    loading = asyncio.create_task(repository.load_all())
    await stop.wait()
    repository.stopping = True
    if limits.drain:
        _log.info("not ready any more; requests are answered for another %g s", limits.drain)
        await asyncio.wait(tasks, timeout=limits.drain, return_when=asyncio.FIRST_COMPLETED)
    _log.info("ending; requests in hand are answered")
    rest.end()
    await asyncio.gather(rpc.end(limits.grace), *tasks)
    loading.cancel()
    await asyncio.gather(loading, return_exceptions=True)
    await repository.close()
    _log.info("ended")
