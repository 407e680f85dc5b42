"""`save`, `load` and `load_into`: weights in files, whatever the format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..core.drivers import Steps, run_async, run_sync
from ..core.hostarray import HostArray
from ..errors import FormatError, OptionError, TallowError
from ..files.ranges import ranges_of
from ..tensor import Tensor, asarray, host_values
from . import npz, safetensors, structure, torch_checkpoint
from .archives import Archive
from .opened import is_by_ranges, opening, single_file

if TYPE_CHECKING:
    from ..nn.module import Module

Dump = Callable[[Mapping[str, HostArray], Mapping[str, str]], Iterator[bytes]]

_WRITERS: dict[str, Dump] = {"safetensors": safetensors.dump, "npz": npz.dump}

_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"

_LEAST_LIMIT, _RATIO = 1 << 28, 64
"""What an archive may unpack to, unless more is allowed: 256 MiB, or 64 times its own bytes."""


def save(
    target: str | os.PathLike[str] | BinaryIO | Mapping[str, object],
    state: Mapping[str, Any] | str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes tensors by name, such as a module's `state_dict()`, to a file.

    A file that stands under the path is replaced only once the new one is whole. Blocks while the
    tensors are computed.

    target: a path, or a file that is open for writing bytes. PyTorch's order, save(state, path), is
      accepted too.
    state: a dict of tensors, arrays and numbers, all of which become tensors. Or, in a safetensors
      file, a checkpoint: dicts, lists and tuples of tensors, numbers, texts and None, such as
      {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, which `load`
      gives back as it was. Other programs see its tensors under names such as "model.0.weight".
    format: "safetensors" or "npz"; None is what the path ends in, or else "safetensors".
    metadata: texts that go into the header of a safetensors file.
    Returns: nothing.
    Raises: OptionError for an unknown format and for what a format cannot hold.
    """
    if isinstance(target, Mapping) and not isinstance(state, Mapping):
        target, state = state, target
    if not isinstance(state, Mapping):
        given = target if hasattr(target, "state_dict") else state
        hint = "; give its state_dict()" if hasattr(given, "state_dict") else ""
        raise OptionError(f"save: the state is a dict, not {type(given).__name__}{hint}")
    to: Any = target
    path = None if hasattr(to, "write") else Path(os.fspath(to))
    chosen = format or (path.suffix[1:] if path and path.suffix else "safetensors")
    if chosen not in _WRITERS:
        raise OptionError(
            f"save: {chosen!r} is none of {', '.join(_WRITERS)}; PyTorch reads .safetensors files "
            "too, with the package safetensors"
        )
    metadata = dict(metadata or {})
    if not structure.is_flat(state):
        if chosen != "safetensors":
            raise OptionError(
                f"save: {chosen} holds tensors by name and nothing else; a .safetensors file holds "
                "dicts of dicts, texts and None too"
            )
        state, metadata[structure.KEY] = structure.taken_apart(state)
    for name in state:
        if not isinstance(name, str):
            raise OptionError(f"save: the name {name!r} is not a text")
    values = host_values([asarray(value) for value in state.values()])
    pieces = _WRITERS[chosen](dict(zip(state, values, strict=True)), metadata)
    if path is None:
        for piece in pieces:
            to.write(piece)
        return
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as new:
            new.writelines(pieces)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(source: Any, *, max_bytes: int | None = None) -> Any:
    """What is in a file of weights.

    The format is recognised by the first bytes. Nothing that a file contains is executed. Blocks of
    quantised weights stay packed: their tensors are graphs over the packed codes.

    source: a path, the bytes, an open file, an address (http: or https:), a JavaScript Blob or
      File. Of weights in several files: the folder, the path or address of their index
      (model.safetensors.index.json), or a dict of such sources by their names.
    max_bytes: what a ZIP archive may unpack to; None is 256 MiB or 64 times its size, whichever is
      more.
    Returns: a dict of tensors by name, of a .safetensors, .gguf or .npz file; of a checkpoint, by
      `save` or by PyTorch (.pt, .pth, .bin), what was saved, often a dict of such dicts.
    Raises: FormatError for a file that is damaged, cut short, of another kind, or that asks for
      more than tensors, numbers, texts, lists and dicts; nothing is loaded then. FetchError for a
      server that gives no ranges of a file, and for a file that changes meanwhile.
    """
    return run_sync(loading(source, max_bytes))


async def load_async(source: Any, *, max_bytes: int | None = None) -> Any:
    """As `load`, without blocking."""
    return await run_async(loading(source, max_bytes))


def loading(source: Any, max_bytes: int | None = None) -> Steps[Any]:
    """The steps of `load`."""
    single = yield from single_file(source)
    if single is None:
        return dict((yield from (yield from opening(source)).reading_all()))
    file = ranges_of(single)
    size = yield from file.size()
    start = bytes((yield from file.read(0, min(size, 16))))
    if is_by_ranges(start):
        found = yield from opening(file)
        tensors = yield from found.reading_all()
        text = found.metadata.get(structure.KEY) if found.format == "safetensors" else None
        return tensors if text is None else structure.put_together(tensors, text, file.name)
    return _whole((yield from file.read(0, size)), start, file.name, max_bytes)


def _whole(data: memoryview, start: bytes, name: str, max_bytes: int | None) -> Any:
    """What is in a file of a format that is read at once."""
    limit = max(_LEAST_LIMIT, _RATIO * data.nbytes) if max_bytes is None else max_bytes
    if start.startswith((_ZIP, _EMPTY_ZIP)):
        with Archive(data, name, limit) as archive:
            is_torch = any(each.rpartition("/")[2] == "data.pkl" for each in archive.names)
        if is_torch:
            return torch_checkpoint.read_zip(data, name, limit)
        return npz.read(data, name, limit)
    if start.startswith(torch_checkpoint.LEGACY_START):
        return torch_checkpoint.read_legacy(data, name)
    raise FormatError(
        f"{name}: is neither safetensors, GGUF, .npz, nor a checkpoint of PyTorch "
        f"(it begins with {start[:8]!r})"
    )


@dataclass(frozen=True)
class LoadReport:
    """What `load_into` did with each tensor; its text has a line for each.

    loaded: names in the module.
    renamed: of those, (name in the file, name in the module).
    missing: names in the module alone.
    unexpected: names in the file alone.
    mismatched: (name, the module's shape, the file's).
    """

    loaded: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    mismatched: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)

    def __str__(self) -> str:
        sources = {new: old for old, new in self.renamed}
        lines = [
            f"renamed     {sources[name]} -> {name}" if name in sources else f"loaded      {name}"
            for name in self.loaded
        ]
        lines += [f"missing     {name}" for name in self.missing]
        lines += [f"unexpected  {name}" for name in self.unexpected]
        lines += [f"shape       {name}: the module has {own}, the file {given}"
                  for name, own, given in self.mismatched]  # fmt: skip
        return "\n".join(lines)


def load_into(
    module: Module,
    state: Mapping[str, Any],
    *,
    rename: Sequence[tuple[str, str]] | Iterable[tuple[str, str]] = (),
    strict: bool = True,
) -> LoadReport:
    """Gives a module the values of tensors by name, such as `load` gives, under other names if
    necessary.

    module: the module that gets the values.
    state: tensors, arrays or numbers by name.
    rename: (pattern, replacement), as for `re.sub`, applied in this order to each name.
    strict: False leaves alone what is missing, unexpected or of another shape.
    Returns: what happened to each tensor.
    Raises: TallowError, with the report, if strict and not everything fits, and OptionError for a
      pattern that is wrong or that gives two tensors one name; the module is unchanged then.
    """
    try:
        patterns = [(re.compile(pattern), new) for pattern, new in rename]
        found: dict[str, tuple[str, Any]] = {}
        for old, value in state.items():
            name = old
            for pattern, new in patterns:
                name = pattern.sub(new, name)
            if name in found:
                raise OptionError(f"load_into: {found[name][0]!r} and {old!r} become {name!r}")
            found[name] = old, value
    except (re.error, IndexError) as error:
        raise OptionError(f"load_into: rename={rename!r}: {error}") from error
    report = LoadReport()
    state = module.state_dict()
    own = {name: value.shape for name, value in state.items() if isinstance(value, Tensor)}
    report.missing.extend(name for name in own if name not in found)
    fitting: dict[str, Tensor] = {}
    for name, (old, value) in found.items():
        if name not in own:
            report.unexpected.append(old)
            continue
        tensor = asarray(value)
        if tensor.shape != own[name]:
            report.mismatched.append((name, own[name], tensor.shape))
            continue
        fitting[name] = tensor
        report.loaded.append(name)
        if old != name:
            report.renamed.append((old, name))
    if strict and (report.missing or report.unexpected or report.mismatched):
        kind = type(module).__name__
        raise TallowError(f"load_into {kind}: not everything fits:\n{report}")
    module.load_state_dict(fitting, strict=False)
    return report
