"""Element types: one table with the name, size, NumPy name and buffer code of each.

A GPU computes three of them, and truth values. What else there is becomes one of these
(`device_type`): float16 is unpacked to float32, 64-bit integers become 32-bit ones.

Types that are `coded` are packed and computed nowhere: a graph decodes them to another
type (compile/passes/decode.py), which `computed_type` names. Their names are those of ml_dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import DTypeError
from . import context


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One element type. Equal only to itself, so that comparing and hashing cost nothing.

    name: the array API's name. size: bytes of an element on the host. kind: "b" boolean,
    "i" signed, "u" unsigned, "f" floating. code: its letter in Python's `struct` and `array`.
    coded: neither NumPy nor a GPU has it; size and code are those of the unsigned words that carry
    its elements one by one. narrow_bits: of an element of less than a byte, which data packs.
    """

    name: str
    size: int
    kind: str
    code: str
    coded: bool = False
    narrow_bits: int = 0

    def __repr__(self) -> str:
        return f"{'torch' if in_pytorch() else 'tallow'}.{self.name}"

    def __reduce__(self) -> tuple[Callable[[str], DType], tuple[str]]:
        """A copy, or what was pickled, is the same object."""
        return _named, (self.name,)

    @property
    def bits(self) -> int:
        """Bits of an element in packed data."""
        return self.narrow_bits or 8 * self.size

    @property
    def is_floating(self) -> bool:
        return self.kind == "f"

    is_floating_point = is_floating
    """PyTorch's name of it."""

    @property
    def is_complex(self) -> bool:
        """False: there are no complex numbers here."""
        return False

    @property
    def is_signed(self) -> bool:
        """Whether elements may be negative."""
        return self.kind in "if"

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.size

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"


bool_ = DType("bool", 1, "b", "?")
int8 = DType("int8", 1, "i", "b")
uint8 = DType("uint8", 1, "u", "B")
int16 = DType("int16", 2, "i", "h")
uint16 = DType("uint16", 2, "u", "H")
int32 = DType("int32", 4, "i", "i")
uint32 = DType("uint32", 4, "u", "I")
int64 = DType("int64", 8, "i", "q")
uint64 = DType("uint64", 8, "u", "Q")
float16 = DType("float16", 2, "f", "e")
float32 = DType("float32", 4, "f", "f")
float64 = DType("float64", 8, "f", "d")

bfloat16 = DType("bfloat16", 2, "f", "H", coded=True)
float8_e4m3fn = DType("float8_e4m3fn", 1, "f", "B", coded=True)
float8_e4m3fnuz = DType("float8_e4m3fnuz", 1, "f", "B", coded=True)
float8_e5m2 = DType("float8_e5m2", 1, "f", "B", coded=True)
float8_e5m2fnuz = DType("float8_e5m2fnuz", 1, "f", "B", coded=True)
float8_e8m0fnu = DType("float8_e8m0fnu", 1, "f", "B", coded=True)
float4_e2m1fn = DType("float4_e2m1fn", 1, "f", "B", coded=True, narrow_bits=4)
int4 = DType("int4", 1, "i", "B", coded=True, narrow_bits=4)
uint4 = DType("uint4", 1, "u", "B", coded=True, narrow_bits=4)
int2 = DType("int2", 1, "i", "B", coded=True, narrow_bits=2)
uint2 = DType("uint2", 1, "u", "B", coded=True, narrow_bits=2)

ALL = (
    bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, float64,
    bfloat16, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu,
    float4_e2m1fn, int4, uint4, int2, uint2,
)  # fmt: skip
BY_NAME = {dtype.name: dtype for dtype in ALL}


def _named(name: str) -> DType:
    return BY_NAME[name]


def in_pytorch() -> bool:
    """Whether PyTorch's habits hold: see `context.pytorch`."""
    return context.pytorch.used and context.pytorch.get()


def default_integer() -> DType:
    """The type of integers that are given none, of indices and of counts: int32, but PyTorch's are
    int64."""
    return int64 if in_pytorch() else int32


def default_floating() -> DType:
    """The type of floating numbers that are given none: float32, or `torch.set_default_dtype`'s."""
    found: DType | None = context.floating.get() if context.floating.used else None
    return float32 if found is None else found


_WIDER = {
    int8: int32, int16: int32, int64: int32, uint8: uint32, uint16: uint32, uint64: uint32,
    float16: float32, bfloat16: float32, float64: float32,
    int4: int32, int2: int32, uint4: uint32, uint2: uint32,
}  # fmt: skip


def device_type(dtype: DType) -> DType:
    """The type in which the GPU computes elements of this type."""
    return _WIDER.get(dtype, dtype)


def computed_type(dtype: DType) -> DType:
    """The type in which elements of this type are computed on every device."""
    if not dtype.coded:
        return dtype
    return float32 if dtype.kind == "f" else int8 if dtype.kind == "i" else uint8


def word_type(dtype: DType) -> DType:
    """The type of the words in which inputs and outputs of this type travel, one an element."""
    return (uint16 if dtype.size == 2 else uint8) if dtype.coded else dtype


def as_dtype(value: object) -> DType:
    """The DType named by a DType, a name such as "float32", a Python type, or a NumPy dtype.

    Raises DTypeError for anything else.
    """
    if isinstance(value, DType):
        return value
    found: DType | None = getattr(value, "tallow_dtype", None)
    if found is not None:
        return found
    if value is float or value is int or value is bool:
        return {float: default_floating(), int: default_integer(), bool: bool_}[value]
    name = _plain_name(value) if isinstance(value, str) else getattr(value, "name", None)
    name = name or getattr(value, "__name__", None)  # NumPy's scalar types, such as np.float32
    if isinstance(name, str) and name.rstrip("_") in BY_NAME:
        return BY_NAME[name.rstrip("_")]
    raise DTypeError(f"{value!r} is not an element type; choose one of {', '.join(BY_NAME)}")


def is_dtype(value: object) -> bool:
    """Whether a value names an element type by itself: a DType, its name, or PyTorch's name of a
    type of tensors, such as torch.FloatTensor."""
    if isinstance(value, str):
        return _plain_name(value) in BY_NAME
    return isinstance(value, DType) or isinstance(getattr(value, "tallow_dtype", None), DType)


TENSOR_TYPES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16",
    "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
    "Bool": "bool",
}  # fmt: skip
"""The element types of PyTorch's types of tensors, of FloatTensor and the like."""

_ALIASES = {"float": "float32", "double": "float64", "half": "float16", "long": "int64",
            "int": "int32", "short": "int16"}  # fmt: skip


def _plain_name(name: str) -> str:
    """The name of an element type, without what PyTorch's texts have before and behind it:
    "torch.float32", "torch.LongTensor", "torch.cuda.FloatTensor"."""
    if not name.startswith("torch."):
        return name
    last = name.rpartition(".")[2]
    return TENSOR_TYPES.get(last.removesuffix("Tensor"), _ALIASES.get(last, last))


def tensor_type(dtype: DType) -> str:
    """PyTorch's text for the type of a tensor, such as "torch.FloatTensor"."""
    kind = next((kind for kind, name in TENSOR_TYPES.items() if name == dtype.name), None)
    return f"torch.{kind}Tensor" if kind else repr(dtype)


_ORDER = {"b": 0, "u": 1, "i": 2, "f": 3}


def promote(a: DType, b: DType) -> DType:
    """The type that holds both, after the array API's promotion table.

    Mixed signedness goes to the next wider signed type; an integer with a floating type gives
    the floating type. uint64 with a signed type has no common integer: DTypeError.
    """
    if a == b:
        return a
    if _ORDER[a.kind] > _ORDER[b.kind]:
        a, b = b, a
    if a.kind == b.kind:
        if a.bits == b.bits:  # floating types of which neither holds the other
            return float32
        return a if a.bits > b.bits else b
    if b.kind == "i" and a.kind == "u" and a.bits >= b.bits:
        wider = {2: int4, 4: int8, 8: int16, 16: int32, 32: int64}.get(a.bits)
        if wider is None:
            raise DTypeError(f"{a.name} and {b.name} have no common type; cast one of them")
        return wider
    return b
