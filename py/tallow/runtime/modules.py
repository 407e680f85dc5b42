"""The JavaScript modules that the wheel brings (web/), for pages that do not have them.

They come as blobs, since modules need addresses. A page with a content policy must allow them
(script-src blob:, and worker-src blob: for threads).
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from pyodide.code import run_js  # type: ignore[import-not-found]
from pyodide.ffi import to_js  # type: ignore[import-not-found]

import js  # type: ignore[import-not-found]

_IMPORT = re.compile(r'from "(\.\.?)/([a-z_/]+\.js)"')

_addresses: dict[str, str] = {}


def address_of(path: str) -> str:
    """The address of a module, by its path below web/. It and what it imports stay in the memory of
    the browser, a few kilobytes, so that the page can import them again."""
    if path not in _addresses:
        folder = path.rpartition("/")[0]

        def imported(found: re.Match[str]) -> str:
            beside = found[1] == "."
            return f'from "{address_of(f"{folder}/{found[2]}" if beside else found[2])}"'

        text = files(__package__).joinpath("web", path).read_text("utf-8")
        blob = js.Blob.new(to_js([_IMPORT.sub(imported, text)]), type="text/javascript")
        _addresses[path] = js.URL.createObjectURL(blob)
    return _addresses[path]


async def import_module(path: str) -> Any:
    """A module, by its path below web/."""
    return await run_js("(address) => import(address)")(address_of(path))
