"""Matches the locations of external data to files that were given by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PureWindowsPath

from ....errors import OnnxAmbiguousDataError

Parts = tuple[str, ...]


def parts_of(path: str) -> Parts:
    """The folders and name of a path, with either separator; omits "."; case-sensitive."""
    return PureWindowsPath(path).parts


class GivenNames:
    """Finds the file name that a location refers to.

    An exact match of all folders wins. Otherwise it is the only name that could be the location,
    provided that it could be no other location of the model. A name could be a location if one is a
    suffix of the other: a file chosen by itself comes without its folders, and a file in a dropped
    folder comes with more of them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)  # by file name
        for name in names:
            self._names[_last(name)].append(name)
        self._found: dict[str, dict[str, str | None]] = defaultdict(
            dict
        )  # by file name, then by location

    def find(self, location: str) -> str | None:
        """The name that the location refers to, or None.

        Raises OnnxAmbiguousDataError if several names match, or if the name also matches another
        requested location.
        """
        found = self._found[_last(location)]
        if location not in found:
            names = self._names.get(_last(location), [])
            exact = [name for name in names if parts_of(name) == parts_of(location)]
            names = exact or [name for name in names if _could_be(name, location)]
            if len(names) > 1:
                raise OnnxAmbiguousDataError((location,), tuple(names))
            name = names[0] if names else None
            for other, its in found.items():
                pairs = (name, location, other), (its, other, location)
                for each, own, another in pairs:
                    if each is not None and _doubtful(each, own, another):
                        raise OnnxAmbiguousDataError((other, location), (each,))
            found[location] = name
        return found[location]


def _last(path: str) -> str:
    return PureWindowsPath(path).name


def _could_be(name: str, location: str) -> bool:
    given, wanted = parts_of(name), parts_of(location)
    shared = min(len(given), len(wanted))
    return shared > 0 and given[-shared:] == wanted[-shared:]


def _doubtful(name: str, location: str, other: str) -> bool:
    """Whether the name, matched to this location only by suffix, could also be the other one."""
    own = parts_of(location)
    return parts_of(name) != own != parts_of(other) and _could_be(name, other)


def needed(names: Iterable[str], locations: Iterable[str]) -> list[str]:
    """The names that a location may refer to; no others need to be read."""
    wanted = {_last(location) for location in locations}
    return [name for name in names if _last(name) in wanted]
