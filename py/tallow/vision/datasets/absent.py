"""The error for a dataset whose files are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import FetchError, MissingDataError


@contextmanager
def absent(name: str, path: Path, download: bool) -> Iterator[None]:
    """Raises MissingDataError where nothing should be fetched, and the file is missing."""
    try:
        yield
    except FetchError as error:
        if download:
            raise
        raise MissingDataError(
            f"{name}: {path} is missing; give download=True to fetch it"
        ) from error
