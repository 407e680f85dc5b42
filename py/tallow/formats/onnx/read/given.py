"""Files of external data that were given by name: which of them a location means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PureWindowsPath

from ....errors import OnnxAmbiguousDataError

Parts = tuple[str, ...]


def parts_of(path: str) -> Parts:
    """The folders of a path and its name, with either separator; "." is left out, case counts."""
    return PureWindowsPath(path).parts


class GivenNames:
    """Finds the name that a location means.

    That is the name with the very folders of the location. Where there is none, it is the only name
    that could be the location, if it could be no other location of the model. A name could be a
    location if the two agree from the end, as far as the shorter one goes: a file that is chosen by
    itself comes without its folders, one in a folder that is dropped with more of them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = defaultdict(list)  # by their last part
        for name in names:
            self._names[_last(name)].append(name)
        self._found: dict[str, dict[str, str | None]] = defaultdict(dict)  # likewise, by location

    def find(self, location: str) -> str | None:
        """The name that the location means, None where no name could.

        Raises OnnxAmbiguousDataError where several could, or where the name could be another
        location too that was asked for.
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
    """Could the name, found for this location by its end alone, be the other location?"""
    own = parts_of(location)
    return parts_of(name) != own != parts_of(other) and _could_be(name, other)


def needed(names: Iterable[str], locations: Iterable[str]) -> list[str]:
    """Those of the names that a location may mean: no others need to be read."""
    wanted = {_last(location) for location in locations}
    return [name for name in names if _last(name) in wanted]
