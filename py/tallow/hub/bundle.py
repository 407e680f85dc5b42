"""The files of one model, wherever they lie."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..core.drivers import Steps
from ..errors import FetchError, FormatError
from ..files import File, ProgressOfSeveral
from ..files.fetching import fetching_all, world_here
from ..files.ranges import Ranges, ranges_of

_LARGEST = 100_000_000
"""Bytes of a text, such as a tokenizer; more are none."""

_ENDINGS = (".gguf", ".safetensors", ".onnx", ".json")
"""How the address of a file ends; another one is that of a folder."""


class Bundle:
    """Files by their names within a folder. What no list tells is asked for."""

    def __init__(
        self, name: str, files: Mapping[str, Ranges], folder: Path | str | None, main: str = ""
    ) -> None:
        """name: what errors call it. files: those that are known. folder: a path or an address,
        below which others may be. main: the file that was given, if it was one."""
        self.name, self.main = name, main
        self._files, self._folder = dict(files), folder

    def find(self, name: str) -> Steps[Ranges | None]:
        """A file; None if it is not there."""
        if name in self._files or self._folder is None:
            return self._files.get(name)
        if isinstance(self._folder, Path):
            path = self._folder / name
            is_there = yield world_here(False).reads(path.is_file)
            return ranges_of(path) if is_there else None
        source = ranges_of(f"{self._folder}{name}")
        try:
            yield from source.size()
        except FetchError:  # a server that is gone fails again, with the file that must be there
            return None
        self._files[name] = source
        return source

    def names(self) -> Steps[list[str]]:
        """The files that are known, without those below a server's folder."""
        if isinstance(self._folder, Path) and not self.main:
            found: list[str] = yield world_here(False).reads(_names_below, self._folder)
            return found
        return sorted(self._files)

    def first(self, names: Iterable[str]) -> Steps[Ranges | None]:
        """The first of these files that is there."""
        for name in names:
            found = yield from self.find(name)
            if found is not None:
                return found
        return None

    def text(self, name: str) -> Steps[str | None]:
        """The content of a text; None if it is not there. Raises FormatError."""
        source = yield from self.find(name)
        if source is None:
            return None
        size = yield from source.size()
        if size > _LARGEST:
            raise FormatError(f"{name}: {size:,} bytes are no text that belongs to a model")
        try:
            return bytes((yield from source.read(0, size))).decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(f"{name}: is not UTF-8: {error}") from error

    def record(self, name: str) -> Steps[dict[str, Any]]:
        """The object in a file of JSON; an empty one if the file is not there. Raises
        FormatError."""
        text = yield from self.text(name)
        try:
            found = {} if text is None else json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{name}: is not JSON: {str(error)[:200]}") from error
        if not isinstance(found, dict):
            raise FormatError(f"{name}: is not an object of JSON")
        return found


def bundled(
    source: Any, progress: ProgressOfSeveral | None = None, blocks: bool = False
) -> Steps[Bundle]:
    """The files of a source.

    source: a folder, a file of one, the address of either, a JavaScript Blob or File, bytes, or a
      dict of such sources by the names of their files; files that are to be fetched (`File`), which
      then are.
    """
    if isinstance(source, File):
        source = {source.name: source}
    if isinstance(source, Mapping):
        wanted = {str(name): each for name, each in source.items() if isinstance(each, File)}
        source = {**source, **(yield from fetching_all(wanted, progress, blocks))}
    if isinstance(source, Mapping):
        files = {str(name): ranges_of(each, str(name)) for name, each in source.items()}
        return Bundle("the files", files, None, next(iter(files)) if len(files) == 1 else "")
    if not isinstance(source, (str, os.PathLike)):
        single = ranges_of(source, "the model")
        return Bundle(single.name, {single.name: single}, None, single.name)
    text = os.fspath(source)
    if text.startswith(("http://", "https://")):
        start, _, last = text.partition("?")[0].rpartition("/")
        if not last.endswith(_ENDINGS):
            return Bundle(text, {}, f"{text.rstrip('/')}/")
        return Bundle(last, {last: ranges_of(text)}, f"{start}/", last)
    path = Path(text)
    if (yield world_here(False).reads(path.is_dir)):
        return Bundle(path.name, {}, path)
    return Bundle(path.name, {path.name: ranges_of(path)}, path.parent, path.name)


def _names_below(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
