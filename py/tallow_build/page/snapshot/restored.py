"""The module `restored`, which is part of a Python that was restored from a memory snapshot.

The memory is restored without the files that were unpacked when it was saved. Everything the page
needs is already imported. For other modules, the archive that contains them is fetched once.
"""

from __future__ import annotations

import importlib
import random
import sys
import zipfile
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.machinery import ModuleSpec, PathFinder
from io import BytesIO
from types import ModuleType
from typing import Any

from pyodide.ffi import JsException  # type: ignore[import-not-found]

STANDARD = "/lib/python314.zip"


class _Later:
    """Finds modules of an archive by fetching it. Used after all other finders."""

    def __init__(
        self,
        name: str,
        packages: frozenset[str],
        put: Callable[[bytes], None],
        fetch: Callable[[], Any],
        digest: str,
    ) -> None:
        self._name = name
        self._packages = packages
        self._put = put
        self._fetch = fetch
        self._digest = digest

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Like that of every finder. Raises ImportError if the archive is unavailable."""
        if name.partition(".")[0] not in self._packages:
            return None
        try:
            content = self._fetch().to_bytes()
        except JsException as error:
            raise ImportError(
                f"{name}: {self._name} can't be fetched ({error}); import it again when "
                "the server can be reached",
                name=name,
            ) from error
        found = sha256(content).hexdigest()
        if found != self._digest:
            raise ImportError(
                f"{name}: {self._name} has the sha256 {found} instead of "
                f"{self._digest}; load the page again",
                name=name,
            )
        self._put(content)
        sys.meta_path.remove(self)
        importlib.invalidate_caches()
        return PathFinder.find_spec(name, path, target)


def awake(fetch: Callable[[], Any], digest: str) -> str:
    """Makes this Python independent of others from the same snapshot, with its own random numbers.

    fetch: returns the archive of the standard library, a JavaScript Uint8Array, or raises. digest:
    its sha256. Returns the version of Tallow that was imported.
    """
    random.seed()
    name = "the standard library"
    sys.meta_path.append(_Later(name, sys.stdlib_module_names, _put_standard, fetch, digest))
    return str(sys.modules["tallow"].__version__)


def awake_with_wheel(wheel: str, fetch: Callable[[], Any], digest: str) -> None:
    """The same for modules of a wheel that were not imported with it."""
    name, *packages = {
        "numpy": ("NumPy", "numpy"),
        "tallow": ("Tallow", "tallow"),
        "page": ("the page's Python", "tallow_page"),
        "templates": ("Jinja2", "jinja2", "markupsafe"),
    }[wheel]
    found = sys.modules.get(packages[0], sys.modules["tallow"])
    folder = found.__path__[0].rpartition("/")[0]

    def put(content: bytes) -> None:
        zipfile.ZipFile(BytesIO(content)).extractall(folder)

    sys.meta_path.append(_Later(name, frozenset(packages), put, fetch, digest))


def _put_standard(content: bytes) -> None:
    with open(STANDARD, "wb") as file:  # noqa: PTH123 (pathlib imports more for this)
        file.write(content)
