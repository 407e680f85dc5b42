"""The page fixtures: no test leaves anything to the next."""

from __future__ import annotations

import asyncio
import gc

from tallow_build.environment.browser import until


def test_a_request_that_was_never_answered_is_forgotten(
    browser, server, watched_page_of, run_async
):
    """Playwright waits for the answer in a coroutine, which any thread may come to collect."""

    async def collect() -> list[str]:
        begun: list[str] = []

        def refuse(loop, coroutine, **_):
            begun.append(coroutine.__qualname__)
            coroutine.close()
            raise RuntimeError("this thread is none of Playwright's")

        asyncio.get_running_loop().set_task_factory(refuse)
        gc.collect()
        asyncio.get_running_loop().set_task_factory(None)
        return begun

    gc.collect()  # what other tests left, in the thread that may
    gc.disable()
    try:
        with watched_page_of(browser, server) as (page, _):
            page.route("**/held", lambda route: page.evaluate("window.asked = true"))
            page.goto("./")
            page.evaluate("void fetch('held').catch(() => {})")
            until(page, "window.asked")
        assert run_async(collect()) == []
    finally:
        gc.enable()
