"""Reads weights from pickles without torch and without running code that the pickle names.

A pickle may name any Python function and have it called. Here a short allow-list covers everything
that a file of weights needs, and each name on it maps to a stand-in in this module that only
records sizes and bytes. Any other name is an error.
"""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_PROTOCOL = 1001


class CheckpointError(ValueError):
    """A file of weights is damaged, has another format, or names something not allowed."""


class _RestrictedUnpickler(pickle.Unpickler):
    """Resolves only the allowed names; persistent ids become storages."""

    def __init__(self, file: io.BytesIO, allowed: Mapping[str, Any]) -> None:
        super().__init__(file, encoding="latin1")
        self._allowed = allowed

    def find_class(self, module: str, name: str) -> Any:
        full = f"{module}.{name}"
        if full not in self._allowed:
            raise CheckpointError(
                f"the pickle names {full}, which is not needed for weights; "
                f"allowed are {', '.join(sorted(self._allowed)) or 'no names at all'}"
            )
        return self._allowed[full]

    def persistent_load(self, pid: Any) -> Any:
        if not (isinstance(pid, tuple) and len(pid) >= 5 and pid[0] == "storage"):
            raise CheckpointError(f"the pickle has a persistent id of another kind: {pid!r}")
        _, dtype, key, _location, count = pid[:5]
        if not (isinstance(dtype, np.dtype) and isinstance(key, str) and isinstance(count, int)):
            raise CheckpointError(f"the pickle has a malformed storage: {pid!r}")
        return _Storage(dtype, key, count)


def _unpickle(file: io.BytesIO, allowed: Mapping[str, Any]) -> Any:
    try:
        return _RestrictedUnpickler(file, allowed).load()
    except CheckpointError:
        raise
    except Exception as error:  # a damaged pickle can raise almost anything
        raise CheckpointError(f"the pickle cannot be read: {error}") from error


# PyTorch's legacy checkpoint: magic, protocol, system facts, the state dict, the storage keys, five
# pickles back to back; then for each key an int64 count and that many little-endian elements.


class _Storage(NamedTuple):
    dtype: np.dtype[Any]
    key: str
    elements: int


class _View(NamedTuple):
    """A tensor as the pickle describes it: a strided window on a storage that is read later."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _rebuild_tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_rest: Any) -> _View:
    if not isinstance(storage, _Storage):
        raise CheckpointError(f"a tensor has no storage: {storage!r}")
    numbers = (offset, *shape, *strides)
    if len(shape) != len(strides) or not all(isinstance(n, int) and n >= 0 for n in numbers):
        raise CheckpointError(f"a tensor has shape {shape!r} and strides {strides!r}")
    return _View(storage, offset, tuple(shape), tuple(strides))


_TORCH_NAMES: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor,
    "torch.FloatStorage": np.dtype("<f4"),
    "torch.LongStorage": np.dtype("<i8"),
}


def read_torch_legacy(data: bytes) -> dict[str, Array]:
    """The state dict of a checkpoint in PyTorch's legacy format (torch.save before 1.6).

    Returns name -> array (float32 or int64). Raises CheckpointError.
    """
    file = io.BytesIO(data)
    if _unpickle(file, {}) != LEGACY_MAGIC:
        raise CheckpointError("not PyTorch's legacy format: the magic number is missing")
    protocol = _unpickle(file, {})
    if protocol != LEGACY_PROTOCOL:
        raise CheckpointError(f"protocol {protocol!r}, expected {LEGACY_PROTOCOL}")
    system = _unpickle(file, {})
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise CheckpointError(f"written by a big-endian machine, or damaged: {system!r}")
    state = _unpickle(file, _TORCH_NAMES)
    keys = _unpickle(file, {})
    if not isinstance(state, dict) or not isinstance(keys, list):
        raise CheckpointError("the file contains no state dict")
    views = {name: view for name, view in state.items() if isinstance(view, _View)}
    if len(views) != len(state):
        strange = sorted(str(name) for name in state.keys() - views.keys())
        raise CheckpointError(f"these entries are not tensors: {', '.join(strange)}")
    dtypes = {view.storage.key: view.storage.dtype for view in views.values()}
    storages = {key: _read_storage(file, key, dtypes) for key in keys}
    return {name: _window(name, view, storages) for name, view in views.items()}


def _read_storage(file: io.BytesIO, key: Any, dtypes: Mapping[str, np.dtype[Any]]) -> Array:
    if key not in dtypes:
        raise CheckpointError(f"storage {key!r} belongs to no tensor")
    count = int.from_bytes(file.read(8), "little", signed=True)
    raw = file.read(max(count, 0) * dtypes[key].itemsize)
    if count < 0 or len(raw) != count * dtypes[key].itemsize:
        raise CheckpointError(
            f"storage {key} should have {count} elements of {dtypes[key]}, "
            f"but the file ends after {len(raw)} bytes of it"
        )
    return np.frombuffer(raw, dtypes[key])


def _window(name: str, view: _View, storages: Mapping[str, Array]) -> Array:
    storage = storages.get(view.storage.key)
    if storage is None:
        raise CheckpointError(f"{name}: its storage {view.storage.key} is not in the file")
    last = view.offset + sum(
        (n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)
    )  # the last element must be inside: as_strided does not check
    if 0 not in view.shape and last >= storage.size:
        raise CheckpointError(
            f"{name}: shape {view.shape} with strides {view.strides} from {view.offset} "
            f"reaches past the {storage.size} elements of its storage"
        )
    strides = tuple(s * storage.itemsize for s in view.strides)
    start = storage[view.offset :]
    return np.ascontiguousarray(np.lib.stride_tricks.as_strided(start, view.shape, strides))


# A plain pickle of NumPy arrays. NumPy pickles an array as an empty one plus a state; the stand-ins
# record the state.


class _Dtype:
    """Stands for numpy.dtype: accepts only float32."""

    def __init__(self, code: Any, *_flags: Any) -> None:
        if code != "f4":
            raise CheckpointError(f"an array has the type {code!r}, expected 'f4' (float32)")

    def __setstate__(self, state: Any) -> None:
        if state[1] not in ("<", "="):
            raise CheckpointError(f"an array has the byte order {state[1]!r}, expected '<'")


class _ArrayState:
    """Stands for numpy.ndarray: keeps shape and bytes."""

    array: Array | None = None

    def __setstate__(self, state: Any) -> None:
        _version, shape, dtype, fortran, raw = state
        if not (isinstance(dtype, _Dtype) and isinstance(raw, bytes)):
            raise CheckpointError("an array does not consist of plain float32 bytes")
        flat = np.frombuffer(raw, "<f4")
        if flat.size != int(np.prod(shape, dtype=np.int64)):
            raise CheckpointError(f"an array of shape {shape} has {flat.size} elements")
        self.array = flat.reshape(shape, order="F" if fortran else "C")


def _reconstruct(*_arguments: Any) -> _ArrayState:
    return _ArrayState()


_NUMPY_NAMES: dict[str, Any] = {
    f"{module}.{name}": stand_in
    for name, stand_in in {"_reconstruct": _reconstruct, "ndarray": _ArrayState}.items()
    for module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray")
} | {"numpy.dtype": _Dtype}


def read_array_pickle(data: bytes) -> dict[str, list[Array]]:
    """A pickled dict of name -> list of float32 arrays (kernel, bias). Raises CheckpointError."""
    loaded = _unpickle(io.BytesIO(data), _NUMPY_NAMES)
    if not isinstance(loaded, dict) or not all(isinstance(v, list) for v in loaded.values()):
        raise CheckpointError("the pickle is not a dict of lists of arrays")
    result: dict[str, list[Array]] = {}
    for name, states in loaded.items():
        arrays = [state.array for state in states if isinstance(state, _ArrayState)]
        if len(arrays) != len(states) or any(array is None for array in arrays):
            raise CheckpointError(f"{name}: not a list of arrays")
        result[name] = [np.ascontiguousarray(array) for array in arrays]
    return result
