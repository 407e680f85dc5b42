"""The worker's list of Python's files (web/worker/runtime.js): JSON, in its code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route

WORKER = "worker/main-*.js"

_TEXT = re.compile(r'JSON\.parse\(("(?:[^"\\]|\\.)*")\)')


def known(dist: Path) -> dict[str, Any]:
    """The list that was built."""
    (worker,) = dist.glob(WORKER)
    return _parsed(_found(worker.read_text("utf-8")))


def retell(page: Page, change: Callable[[dict[str, Any]], object]) -> None:
    """Lets `change` change the list for workers that start from now on."""

    def handle(route: Route) -> None:
        response = route.fetch()
        worker = response.text()
        found = _found(worker)
        listed = _parsed(found)
        change(listed)
        begin, end = found.span(1)
        body = worker[:begin] + json.dumps(json.dumps(listed)) + worker[end:]
        route.fulfill(response=response, body=body)

    page.route(f"**/{WORKER}", handle)


def _found(worker: str) -> re.Match[str]:
    (found,) = _TEXT.finditer(worker)
    return found


def _parsed(found: re.Match[str]) -> dict[str, Any]:
    listed: dict[str, Any] = json.loads(json.loads(found[1]))
    return listed


def asked_of_runtime(page: Page) -> list[str]:
    """The names of files in runtime/ that are requested from now on, as a growing list."""
    asked: list[str] = []

    def note(request) -> None:
        if "/runtime/" in request.url:
            asked.append(request.url.rpartition("/")[2])

    page.on("request", note)
    return asked
