"""Packages of others, which are imported when they are needed."""

from __future__ import annotations

from typing import Any

from ..binding import imported
from ..errors import PackageError


def package(name: str, what: str, extra: str) -> Any:
    """A module of another package.

    name: the module's whole name. what: what needs it, for the error. extra: the extra of `tallow`
    that installs it.
    Raises: PackageError, with the command that installs it.
    """
    try:
        return imported(name)
    except ImportError as error:
        raise PackageError(
            f"{what} needs a package that is not installed ({error}): pip install tallow[{extra}]"
        ) from error
