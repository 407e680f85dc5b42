"""`torch.save` and `torch.load`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..formats import torch_zip, weights
from ..tensor import Tensor
from .types import Device, FileLike

Location = Device | Callable[..., Any] | dict[str, str]


def save(
    obj: object,
    f: FileLike,
    pickle_module: object = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Writes an object with tensors in PyTorch's format, a ZIP archive, which PyTorch reads too.

    obj: tensors, numbers and texts, in dicts, lists and tuples, such as a `state_dict()`; a whole
    module can be written, but `load` refuses it. f: a path, under any name, or a file that is open
    for writing bytes. A file that stands under the path is replaced once the new one is whole. The
    other arguments change nothing. Raises OptionError for what cannot be written.
    """
    if not isinstance(f, (str, os.PathLike)):
        torch_zip.write(obj, f)
        return
    path = Path(os.fspath(f))
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as new:
            torch_zip.write(obj, new)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


# Why: docs/decisions/pytorch.md, "`torch.load` never executes, and a whole module that
# `torch.save` wrote is refused"
def load(
    f: FileLike,
    map_location: Location = None,
    pickle_module: object = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: object,
) -> Any:
    """What `save`, or PyTorch's, has written, or the tensors of a .safetensors or .npz file.

    f: a path, or a file that is open for reading bytes. map_location: the device of the tensors; a
    function or a dict changes nothing. The other arguments change nothing: code in a file never
    runs. Raises FormatError for a file that is damaged, and for a pickle that would run code, which
    it names.
    """
    found = weights.load(f)
    if map_location is None or callable(map_location) or isinstance(map_location, dict):
        return found
    return _moved(found, str(map_location))


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, dict):
        for key, each in value.items():
            value[key] = _moved(each, device)
    elif isinstance(value, (list, tuple)):
        return type(value)(_moved(each, device) for each in value)
    return value


def add_safe_globals(safe_globals: object) -> None:
    """Changes nothing: `load` makes tensors and plain containers only."""


__all__ = ["add_safe_globals", "load", "save"]
