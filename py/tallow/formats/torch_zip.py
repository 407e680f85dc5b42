"""Checkpoints as `torch.save` writes them: a ZIP archive of a pickle, and of the bytes of tensors.

PyTorch reads them, and so does torch_checkpoint.py. The names that the pickle refers to are
PyTorch's; nothing of PyTorch is needed to write them.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from typing import Any, BinaryIO

from ..core.dtype import TENSOR_TYPES, DType
from ..core.shape import strides_of
from ..errors import OptionError
from ..tensor import Tensor, host_values

_STORAGES = {name: f"{kind}Storage" for kind, name in TENSOR_TYPES.items()}


class _Name:
    """A name of PyTorch's, which the pickle refers to without having it."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class _Rebuilt:
    """A call of a name of PyTorch's, by which the reader makes a tensor."""

    def __init__(self, name: _Name, *args: object) -> None:
        self.name, self.args = name, args


class _Storage:
    """The elements of a tensor: a file of the archive."""

    def __init__(self, key: str, dtype: DType, count: int) -> None:
        self.key, self.dtype, self.count = key, dtype, count


_InPython: Any = vars(pickle)["_Pickler"]


class _Pickler(_InPython):  # type: ignore[misc]
    """Python's own pickler, in Python, since it writes names that do not exist here."""

    def __init__(self, file: BinaryIO, tensors: dict[int, tuple[str, Tensor]]) -> None:
        super().__init__(file, protocol=2)
        self._tensors = tensors

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, _Name):
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        elif isinstance(obj, _Rebuilt):
            self.save(obj.name)
            self.save(obj.args)
            self.write(pickle.REDUCE)
        elif isinstance(obj, DType):
            self.save(_Name("torch", obj.name))
        elif isinstance(obj, Tensor):
            self._save_tensor(obj)
        elif hasattr(obj, "__array_interface__") and not getattr(obj, "shape", (1,)):
            self.save(obj.item())  # a number of NumPy's
        else:
            super().save(obj, save_persistent_id)

    def _save_tensor(self, x: Tensor) -> None:
        if id(x) in self.memo:
            self.write(self.get(self.memo[id(x)][0]))
            return
        if x.dtype.name not in _STORAGES:
            raise OptionError(f"save: PyTorch has no tensors of {x.dtype.name}; cast it before")
        key = self._tensors.setdefault(id(x), (str(len(self._tensors)), x))[0]
        shape = tuple(x.shape)
        storage = _Storage(key, x.dtype, int(x.size))
        made = _Rebuilt(
            _Name("torch._utils", "_rebuild_tensor_v2"),
            storage, 0, shape, strides_of(shape), x.is_leaf and x.requires_grad, OrderedDict(),
        )  # fmt: skip
        if type(x).__name__ == "Parameter":
            rebuild = _Name("torch._utils", "_rebuild_parameter")
            made = _Rebuilt(rebuild, made, x.requires_grad, OrderedDict())
        self.save(made)
        self.memoize(x)

    def persistent_id(self, obj: object) -> tuple[object, ...] | None:
        if not isinstance(obj, _Storage):
            return None
        kind = _Name("torch", _STORAGES[obj.dtype.name])
        return "storage", kind, obj.key, "cpu", obj.count


def write(obj: object, file: BinaryIO) -> None:
    """Writes an object, such as a `state_dict`, with all tensors in it. Blocks while they are
    computed. Numbers of NumPy's become Python's. Raises OptionError for what cannot be pickled, and
    for element types that PyTorch does not have."""
    tensors: dict[int, tuple[str, Tensor]] = {}
    pickled = io.BytesIO()
    try:
        _Pickler(pickled, tensors).dump(obj)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise OptionError(f"save: {error}; save a state_dict() or plain containers") from error
    held = [x for _, x in tensors.values()]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", pickled.getvalue())
        archive.writestr("archive/byteorder", "little")
        for (key, _), data in zip(tensors.values(), host_values(held), strict=True):
            archive.writestr(f"archive/data/{key}", bytes(data.data))
        archive.writestr("archive/version", "3\n")
