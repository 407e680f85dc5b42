"""Clients of a service, in a process of their own: each asks again as soon as it has an answer.

    python bench/service/clients.py ADDRESS MODEL COUNT SECONDS

Prints the milliseconds of all requests that were answered in these seconds, as JSON.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
import time

import aiohttp

from bench.service import messages, models


async def asked(address: str, model: str, count: int, seconds: float) -> list[float]:
    """The milliseconds of each request. Raises ClientResponseError for one that is refused."""
    found: list[float] = []
    path = f"http://{address}/v2/models/{model}/infer"
    connections = aiohttp.TCPConnector(limit=count)
    async with aiohttp.ClientSession(connector=connections, raise_for_status=True) as session:
        end = time.perf_counter() + seconds

        async def client(number: int) -> None:
            body, headers = messages.request(models.feeds(model, number))
            while (start := time.perf_counter()) < end:
                async with session.post(path, data=io.BytesIO(body), headers=headers) as answer:
                    await answer.read()
                found.append(1000 * (time.perf_counter() - start))

        await asyncio.gather(*(client(number) for number in range(count)))
    return found


if __name__ == "__main__":
    to, what, clients, duration = sys.argv[1:]
    began = time.perf_counter()
    ms = asyncio.run(asked(to, what, int(clients), float(duration)))
    print(json.dumps({"ms": ms, "seconds": time.perf_counter() - began}))
