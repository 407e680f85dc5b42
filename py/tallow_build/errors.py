"""The one exception for everything that a step may expect to go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class BuildError(Exception):
    """A step failed for a reason that can be put in words.

    step: what was being done. why: what went wrong, with the values. remedy: what to do about it.
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
    """Turns an error of the operating system inside the block into a BuildError of `step`."""
    try:
        yield
    except OSError as error:
        raise BuildError(step, str(error), remedy) from error
