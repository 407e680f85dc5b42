"""Files of weights that stay where they are: names and shapes are read at once, and each tensor
when it is wanted.

weights = tl.open_weights("model.gguf")
architecture, kind = weights.metadata["general.architecture"], weights.info("output.weight").kind
output = weights["output.weight"]
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.drivers import Steps, run_async, run_sync
from ..errors import FetchError, FormatError
from ..files.fetching import world_here
from ..files.ranges import Ranges, ranges_of
from ..tensor import Tensor
from . import gguf, safetensors
from .blocks import BLOCKS, Block, later_blocks, read_blocks
from .headers import TensorInfo, later_plain, read_plain

INDEX = ".index.json"
"""How the name of a list of files ends."""

_FOLDERS_INDEX = "model.safetensors.index.json"
_NAMES = ("model.safetensors",)
_ENDINGS = (".safetensors", ".gguf")
_MAX_INDEX = 100_000_000

_BLOCKS = {block.name: block for block in BLOCKS.values()}


class Weights(Mapping[str, Tensor]):
    """The tensors of one file or several, by name; `weights[name]` reads one, blocking.

    Nothing is kept of what was read, so a second read reads the file again.

    format: "gguf" or "safetensors". metadata: of GGUF numbers, truth values, texts, lists of texts
    and arrays (`array.array`) of numbers; of safetensors texts.
    """

    def __init__(
        self,
        format: str,
        metadata: Mapping[str, Any],
        tensors: Mapping[str, tuple[Ranges, TensorInfo]],
    ) -> None:
        self.format, self.metadata = format, metadata
        self._tensors = tensors

    def __repr__(self) -> str:
        size = sum(info.nbytes for _, info in self._tensors.values())
        return f"<Weights: {self.format}, {len(self)} tensors, {size:,} bytes>"

    def __len__(self) -> int:
        return len(self._tensors)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def info(self, name: str) -> TensorInfo:
        """The shape of a tensor, its type, and its bytes in the file. Raises KeyError."""
        return self._tensors[name][1]

    def __getitem__(self, name: str) -> Tensor:
        return run_sync(self.reading(name))

    async def read_async(self, name: str) -> Tensor:
        """As `weights[name]`, without blocking."""
        return await run_async(self.reading(name))

    def reading(self, name: str) -> Steps[Tensor]:
        """The steps of `weights[name]`.

        Returns: the tensor. Of blocks it is a graph that gives float32; the codes stay packed.
        Raises: KeyError; FormatError for elements that are none; FetchError for a file that has
          changed, or a server that no longer answers.
        """
        source, info, block = self._found(name)
        if block is None:
            return (yield from read_plain(source, info))
        return (yield from read_blocks(source, block, info.shape, info.start))

    def later(self, name: str) -> Tensor:
        """A tensor of which nothing is read yet: a device reads it from the file when it loads a
        program with it, so that a network is never in Python's memory as a whole. Each such load
        reads it again, of blocks once for each plane; so a file of a server is better fetched
        first. Errors of `reading` come then, too. Raises KeyError."""
        source, info, block = self._found(name)
        if block is None:
            return later_plain(source, info)
        return later_blocks(source, block, info.shape, info.start)

    def _found(self, name: str) -> tuple[Ranges, TensorInfo, Block | None]:
        source, info = self._tensors[name]
        return source, info, _BLOCKS.get(info.kind) if self.format == "gguf" else None

    def reading_all(self) -> Steps[dict[str, Tensor]]:
        """The steps that read every tensor."""
        found = {}
        for name in self._tensors:
            found[name] = yield from self.reading(name)
        return found


def open_weights(source: Any) -> Weights:
    """Opens weights without reading them: safetensors and GGUF.

    source: a path, an address (http: or https:) of a server that knows ranges, a JavaScript Blob or
      File, bytes, or an open file. Of weights in several files: the folder, the path or address of
      their index (model.safetensors.index.json), or of a part of a split GGUF file
      (NAME-00001-of-00003.gguf), or a dict of such sources by their names.
    Returns: a mapping that reads a tensor when it is asked for one.
    Raises: FormatError for a file that is damaged, cut short or of another kind; FetchError if a
      server does not give ranges of a file.
    """
    return run_sync(opening(source))


async def open_weights_async(source: Any) -> Weights:
    """As `open_weights`, without blocking."""
    return await run_async(opening(source))


def opening(source: Any) -> Steps[Weights]:
    """The steps of `open_weights`."""
    single = yield from single_file(source)
    if single is not None:
        return (yield from _whole(ranges_of(single)))
    if isinstance(source, Mapping):
        files = {str(name): ranges_of(each, str(name)) for name, each in source.items()}
        index = [name for name in files if name.endswith(INDEX)]
        if len(index) == 1:
            return (yield from _listed(files[index[0]], files))
        if not files or index:
            raise FormatError(f"{len(files)} files with {len(index)} indices are no weights")
        parts = gguf.parts_of(next(iter(files)))
        if len(parts) > 1 and files.keys() <= set(parts):
            return (yield from _parts(files, parts))
        return (yield from _joined(files, None, "weights"))
    path = os.fspath(source)
    if path.partition("?")[0].endswith(INDEX):
        return (yield from _listed(ranges_of(source), None))
    return (yield from _listed(ranges_of(Path(path) / _FOLDERS_INDEX), None))


def single_file(source: Any) -> Steps[Any]:
    """What stands for one file: the source itself, or the only file of a folder; None for several
    files. Raises FormatError for a folder without weights."""
    if isinstance(source, Mapping):
        return None
    if not isinstance(source, (str, os.PathLike)):
        return source
    path = os.fspath(source)
    if path.partition("?")[0].endswith(INDEX):
        return None
    if path.startswith(("http://", "https://")):
        return source
    names: list[str] | None = yield world_here(False).reads(_names_in, Path(path))
    if names is None:
        return source
    if _FOLDERS_INDEX in names:
        return None
    fitting = [name for name in names if name in _NAMES]
    fitting = fitting or [name for name in names if name.endswith(_ENDINGS)]
    if fitting and set(fitting) <= set(gguf.parts_of(fitting[0])):
        return Path(path) / fitting[0]
    if len(fitting) != 1:
        raise FormatError(
            f"{Path(path).name}: a folder with {len(fitting)} files of weights and without "
            f"{_FOLDERS_INDEX}; give the file itself, or a dict of files"
        )
    return Path(path) / fitting[0]


def _names_in(path: Path) -> list[str] | None:
    """The names in a folder; None if it is none."""
    return sorted(each.name for each in path.iterdir()) if path.is_dir() else None


def is_by_ranges(start: bytes) -> bool:
    """Whether a file that begins with these bytes is read by ranges."""
    return start.startswith(gguf.MAGIC) or start[8:9] == b"{"


def _whole(source: Ranges) -> Steps[Weights]:
    """The weights of one file; of a part, by its name, those of all parts beside it."""
    parts = gguf.parts_of(source.name)
    if len(parts) == 1:
        weights = yield from _opened(source)
        count = weights.metadata.get("split.count", 1)
        if weights.format == "gguf" and count != 1:
            raise FormatError(
                f"{source.name}: is one of {count!r:.60} parts of a file; give them all, by names "
                "such as NAME-00001-of-00003.gguf"
            )
        return weights
    files = {}
    for name in parts:
        files[name] = source if name == source.name else source.beside(name)
        try:
            yield from files[name].size()
        except (FetchError, OSError) as error:
            raise FormatError(
                f"{source.name}: {name} is missing beside it: {str(error)[:200]}"
            ) from error
    return (yield from _parts(files, parts))


def _parts(files: Mapping[str, Ranges], names: Sequence[str]) -> Steps[Weights]:
    """The weights of a split file. names: of all its parts. Raises FormatError for less."""
    missing = [name for name in names if name not in files]
    if missing:
        raise FormatError(f"{missing[0]} is missing, of {len(names)} parts of one file")
    weights = yield from _joined({name: files[name] for name in names}, None, names[0])
    wanted = weights.metadata.get("split.tensors.count", len(weights))
    if wanted != len(weights):
        raise FormatError(
            f"{names[0]}: its parts have {len(weights)} tensors, and it says {wanted!r:.60}"
        )
    return weights


def _opened(source: Ranges) -> Steps[Weights]:
    """The weights of one file."""
    size = yield from source.size()
    start = bytes((yield from source.read(0, min(size, 16))))
    if start.startswith(gguf.MAGIC):
        header = yield from gguf.read_header(source)
        named = {name: (source, info) for name, info in header.tensors.items()}
        return Weights("gguf", header.metadata, named)
    if not is_by_ranges(start):
        raise FormatError(
            f"{source.name}: is neither safetensors nor GGUF (it begins with {start[:8]!r})"
        )
    tensors, texts = yield from safetensors.read_header(source)
    return Weights("safetensors", texts, {name: (source, each) for name, each in tensors.items()})


def _listed(index: Ranges, files: Mapping[str, Ranges] | None) -> Steps[Weights]:
    """The weights of the files that an index lists. files: where they are; None for beside it."""
    size = yield from index.size()
    if size > _MAX_INDEX:
        raise FormatError(f"{index.name}: {size:,} bytes are no list of files")
    try:
        content = json.loads(bytes((yield from index.read(0, size))).decode("utf-8"))
        wanted = content["weight_map"]
        if not wanted or not all(isinstance(name, str) for name in wanted.values()):
            raise ValueError("weight_map does not name files")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"{index.name}: is no list of files: {error!r:.200}") from error
    sources = {}
    for name in dict.fromkeys(wanted.values()):
        if not name or name.startswith(".") or not set(name).isdisjoint("/\\:?#%"):
            raise FormatError(f"{index.name}: {name!r:.80} is no name of a file beside it")
        if files is not None and name not in files:
            raise FormatError(f"{index.name}: {name!r:.80} is missing")
        sources[name] = index.beside(name) if files is None else files[name]
    return (yield from _joined(sources, wanted, index.name))


def _joined(
    files: Mapping[str, Ranges], wanted: Mapping[str, str] | None, what: str
) -> Steps[Weights]:
    """The weights of several files. wanted: the file of each tensor; None for all there are."""
    opened: dict[str, Weights] = {}
    for name, each in files.items():
        opened[name] = yield from _opened(each)
    metadata: dict[str, Any] = {}
    found: dict[str, tuple[Ranges, TensorInfo]] = {}
    for weights in opened.values():
        metadata = {**weights.metadata, **metadata}
        twice = found.keys() & weights.keys()
        if twice:
            raise FormatError(f"{what}: {min(twice)!r:.80} is in two files")
        found |= weights._tensors
    for name, file in (wanted or {}).items():
        if name not in opened[file]:
            raise FormatError(f"{what}: {name!r:.80} is not in {file!r:.80}")
    formats = {weights.format for weights in opened.values()}
    if len(formats) > 1:
        raise FormatError(f"{what}: safetensors and GGUF beside each other")
    return Weights(formats.pop(), metadata, found)
