"""The exception for every expected failure of a build step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class BuildError(Exception):
    """A step failed for a known reason.

    step: what was being done. why: what went wrong, with details. remedy: what to do about it.
    """

    def __init__(self, step: str, why: str, remedy: str) -> None:
        super().__init__(step, why, remedy)
        self.step = step
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.step} failed: {self.why}\nWhat to do: {self.remedy}"


@contextmanager
def explained(step: str, remedy: str = "see the reason above, then try again") -> Iterator[None]:
    """Turns an OSError inside the block into a BuildError for `step`."""
    try:
        yield
    except OSError as error:
        raise BuildError(step, str(error), remedy) from error
