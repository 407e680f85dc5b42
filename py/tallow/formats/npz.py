"""NumPy's .npz and .npy, without NumPy (numpy.org, "NEP 1"): a ZIP archive of arrays, each a short
header that describes it, then its elements."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from array import array
from collections.abc import Iterator, Mapping

from .. import functions as f
from ..core import dtype as dt
from ..core.dtype import DType
from ..core.hostarray import HostArray
from ..errors import FormatError, OptionError
from ..tensor import Tensor
from .archives import Archive
from .arrays import checked_shape, tensor_of

MAGIC = b"\x93NUMPY"

_ALIGNED = 64

_LETTERS = {"b": "b", "i": "i", "u": "u", "f": "f"}
_BY_CODE = {
    f"{_LETTERS[each.kind]}{each.size}": each for each in dt.ALL if not each.coded
}  # "f4", "b1"

_KEYS = "descr", "fortran_order", "shape"
_HEADER = re.compile(r"\s*\{(.*)\}\s*", re.DOTALL)
_ENTRY = re.compile(
    r"""\s*(['"])(\w+)\1\s*:\s*"""
    r"""(?:(['"])([<>|=]?[a-z]\d+)\3|(True|False)|\(((?:\s*\d{1,16}L?\s*,)*(?:\s*\d{1,16}L?)?)\s*\))"""
    r"""\s*(?:,\s*|\Z)"""
)
"""A key and a type, a truth value or a shape. The header is a dictionary as Python writes it, with
keys in any order; to evaluate it would be to run what a file says."""


def dump(arrays: Mapping[str, HostArray], metadata: Mapping[str, str]) -> Iterator[bytes]:
    """An uncompressed .npz file. Raises OptionError for what the format cannot express."""
    if metadata:
        raise OptionError("npz: cannot hold metadata; save as .safetensors")
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, value in arrays.items():
            if value.dtype.coded:
                raise OptionError(
                    f"npz: {name!r} is {value.dtype.name}, which NumPy lacks; "
                    "save as .safetensors, or cast it"
                )
            # A fixed date, so that equal arrays give equal files.
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            file.writestr(entry, _npy(value))
    yield target.getvalue()


def _npy(value: HostArray) -> bytes:
    order = "|" if value.dtype.size == 1 else "<"
    code = f"{order}{value.dtype.kind}{value.dtype.size}"
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {value.shape}, }}"
    used = len(MAGIC) + 4 + len(text) + 1
    header = text.encode() + b" " * (-used % _ALIGNED) + b"\n"
    return MAGIC + b"\x01\x00" + struct.pack("<H", len(header)) + header + value.data


def read(data: memoryview, source: str, limit: int) -> dict[str, Tensor]:
    """The arrays of an .npz file. Raises FormatError for anything but a sound file, and for arrays
    of Python objects, which are pickles."""
    with Archive(data, source, limit) as archive:
        found = {
            name.removesuffix(".npy"): read_array(archive.read(name), f"{source}: {name!r}")
            for name in archive.names
        }
        if len(found) != len(archive.names):
            raise FormatError(f"{source}: two arrays have the same name")
        return found


def read_array(data: memoryview, what: str) -> Tensor:
    """The array of an .npy file."""
    if bytes(data[:6]) != MAGIC or data.nbytes < 12:
        raise FormatError(f"{what}: is not an .npy file")
    major = data[6]
    if major not in (1, 2, 3):
        raise FormatError(f"{what}: version {major} of .npy is unknown")
    wide = major > 1
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    start = (12 if wide else 10) + length
    if length > 1 << 16 or start > data.nbytes:
        raise FormatError(f"{what}: a header of {length} bytes")
    text = bytes(data[start - length : start]).decode("latin-1")
    code, reverse, lengths = _entries(text, what)
    dtype = _BY_CODE.get(code.lstrip("<>|="))
    if dtype is None:
        raise FormatError(f"{what}: the type {code!r} is unknown")
    shape = checked_shape(
        [int(each) for each in lengths.replace("L", "").split(",") if each.strip()], what
    )
    body = _little_endian(data[start:], dtype, what) if code[0] == ">" else data[start:]
    if reverse != "True":
        return tensor_of(body, shape, dtype, what)
    stored = tensor_of(body, shape[::-1], dtype, what)
    return f.permute_dims(stored, tuple(range(len(shape)))[::-1])


def _entries(text: str, what: str) -> tuple[str, str, str]:
    """The type, whether the first axis is the innermost, and the lengths, of a header."""
    found: dict[str, str] = {}
    match = _HEADER.fullmatch(text)
    rest = match.group(1) if match else ""
    at = 0
    while entry := _ENTRY.match(rest, at):
        kind, value = entry.group(2), entry.group(4, 5, 6)
        number = _KEYS.index(kind) if kind in _KEYS else None
        if number is None or kind in found or value[number] is None:
            break
        if kind == "shape" and value[2].strip() and "," not in value[2]:
            break  # a number in brackets is no tuple
        found[kind], at = value[number], entry.end()
    if len(found) < len(_KEYS) or at < len(rest):
        raise FormatError(f"{what}: not an array of numbers: {text.strip()[:100]}")
    return found["descr"], found["fortran_order"], found["shape"]


def _little_endian(data: memoryview, dtype: DType, what: str) -> memoryview:
    if data.nbytes % dtype.size:
        raise FormatError(f"{what}: {data.nbytes} bytes are no whole elements")
    words = array({1: "B", 2: "H", 4: "I", 8: "Q"}[dtype.size], bytes(data))
    words.byteswap()
    return memoryview(words.tobytes())
