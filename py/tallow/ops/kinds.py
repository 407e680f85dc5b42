"""The op record: all that Tallow knows about an op, in one place.

An op is declared once, as one record of one of the kinds below, in ops/. The kind gives the shape
rule and says how code is made for it; the record gives the facts. A backend holds mechanism and
never asks for an op by name, hand-written kernels aside (devices/webgpu/codegen/choice.py chooses
those).

    Source        begins a graph: an input, a constant, a coordinate
    Elementwise   one output element from the elements at the same position
    Reduce        folds axes to length 1 (they are kept, so that rank never changes)
    Movement      moves elements without computing: an index rule, `pick`
    Contraction   sums products over an axis: matmul, and Winograd's transforms around it
    Window        slides over two spatial axes of a channels-last image
    Composite     NumPy has one function for it; a GPU without a kernel for it computes a
                  composition of other ops
    Custom        a user's own (custom.py): a kernel for each device that it has code for
    Apart         what else shares a kernel with nothing: the ops of linear algebra (ops/linalg.py)

Evaluators take the module NumPy (arrays.pyi) as an argument: this package imports without it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from ..core import dtype as dt
from ..core.bounds import Attrs as Attrs
from ..core.bounds import Bounds, hull
from ..core.dtype import DType
from ..core.shape import Shape, size_of
from ..errors import DTypeError, GraphError
from ..scalar import Scalar

Spec = tuple[Shape, DType]  # what a shape rule sees of an operand

REGISTRY: dict[str, Op] = {}
"""Tallow's own ops by name."""

DECLARED: dict[str, Op] = {}
"""Those that users have declared (custom.py)."""


def op_named(name: str) -> Op:
    """The op of that name, Tallow's or a user's. Raises KeyError."""
    return REGISTRY[name] if name in REGISTRY else DECLARED[name]


@dataclass(frozen=True, eq=False)
class Op:
    """What all kinds share. `numpy(np, *operands, **attrs)` evaluates the op on NumPy arrays.

    onnx: the ONNX operator that is the same, for every type that the op takes; "" where there is
    none: then formats/onnx/write/element_forms.py has what stands for it.
    bounds: the range of the results, from those of the operands (bounds.py); None where it is
    unknown.
    overflows: whether integers may leave the range of their type, round which they then wrap: a
    target that computes narrow ones in wider ones has to see to that.
    autocast: the type in which `tl.amp.autocast` has it computed (casting.py); None: in the widest
    type of its operands, as elsewhere.
    declared: whether it is a user's.
    """

    name: str
    numpy: Callable[..., Any]
    onnx: str = field(default="", kw_only=True)
    bounds: Bounds | None = field(default=None, kw_only=True)
    overflows: bool = field(default=False, kw_only=True)
    autocast: Literal["float16", "float32"] | None = field(default=None, kw_only=True)
    declared: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.name in REGISTRY or self.name in DECLARED:
            raise GraphError(f"the op {self.name!r} is declared twice")
        (DECLARED if self.declared else REGISTRY)[self.name] = self

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        """Shape and element type of the result; raises ShapeError or DTypeError."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Source(Op):
    """Begins a graph; shape and dtype stand in the attributes."""

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        return attrs["shape"], attrs["dtype"]


@dataclass(frozen=True, eq=False)
class Elementwise(Op):
    """One element from the elements at the same position; operands have equal shapes.

    scalar: the arithmetic, a function of a Scalar for each operand (scalar.py), and of the node's
    `dtype` where it asks for that. accepts: kinds of element type. result: None (that of the
    operands), or the result's type.
    discontinuous: whether the last bit of a floating operand may change the result altogether, as
    where it is rounded to whole numbers. An op of floating operands whose result is not
    floating always counts as such.
    cheap: whether it takes no longer than reading an operand, so that a weight which is stored
    packed may be unpacked with it wherever it is read.
    ufunc: whether it is NumPy's function of the same name, which may write over an operand.

    tests/unit/tensors/test_op_facts.py finds a fact that is missing.
    """

    scalar: Callable[..., Scalar]
    arity: int = 1
    accepts: str = "fiu"
    result: DType | None = None
    discontinuous: bool = field(default=False, kw_only=True)
    cheap: bool = field(default=False, kw_only=True)
    ufunc: bool = field(default=False, kw_only=True)
    checked: dict[tuple[DType, ...], DType] = field(default_factory=dict, init=False, repr=False)
    """The common type of operands whose types have been checked."""

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        shape, first = operands[0]
        if len(operands) != self.arity:
            raise GraphError(f"{self.name}: takes {self.arity} operands, got {len(operands)}")
        types = [first]
        for other, dtype in operands[1:]:
            if other != shape:
                raise GraphError(f"{self.name}: operands of unequal shape reached the graph")
            types.append(dtype)
        key = tuple(types)
        value_type = self.checked.get(key)
        if value_type is None:
            value_type = self.checked[key] = self.check_types(types)
        return shape, self.result or attrs.get("dtype") or value_type

    def check_types(self, dtypes: Sequence[DType]) -> DType:
        """The common type of the operands; DTypeError if the op does not take it."""
        for dtype in dtypes:
            if dtype.kind not in self.accepts:
                takes = ", ".join(_KINDS[kind] for kind in self.accepts)
                raise DTypeError(f"{self.name}: takes {takes} operands, not {dtype.name}")
            if dtype != dtypes[0]:
                names = " and ".join(d.name for d in dtypes)
                raise DTypeError(f"{self.name}: operands must have one type, got {names}")
        return dtypes[0]


@dataclass(frozen=True, eq=False)
class Select(Elementwise):
    """`where`: a boolean first operand, then two of one type."""

    def check_types(self, dtypes: Sequence[DType]) -> DType:
        if dtypes[0] != dt.bool_:
            raise DTypeError(f"{self.name}: the condition must be bool, not {dtypes[0].name}")
        return super().check_types(dtypes[1:])


@dataclass(frozen=True, eq=False)
class Reduce(Op):
    """Folds the axes `axes` to length 1.

    combine: the arithmetic, a function of the value so far and the next (scalar.py).
    start: the value before the first element: a number, or "lowest" or "highest", the end of the
    type's range (a fold over nothing is then an error).
    indexed: the result is the index of the winner; `combine` is then the test that the next one
    wins. The first NaN wins over everything.
    """

    combine: Callable[[Scalar, Scalar], Scalar]
    start: int | Literal["lowest", "highest"] = 0
    indexed: bool = False
    accepts: str = "fiu"

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        ((shape, dtype),) = operands
        if dtype.kind not in self.accepts:
            takes = ", ".join(_KINDS[kind] for kind in self.accepts)
            raise DTypeError(f"{self.name}: takes {takes} operands, not {dtype.name}")
        axes = attrs["axes"]
        folded = tuple([1 if axis in axes else dim for axis, dim in enumerate(shape)])
        return folded, dt.int32 if self.indexed else dtype


class Coordinate(Protocol):
    """A Python integer, or an index expression (codegen/index.py)."""

    def __add__(self, other: Any, /) -> Coordinate: ...
    def __sub__(self, other: Any, /) -> Coordinate: ...
    def __mul__(self, other: Any, /) -> Coordinate: ...
    def __floordiv__(self, divisor: int, /) -> Coordinate: ...
    def __mod__(self, divisor: int, /) -> Coordinate: ...


Coordinates = tuple[Coordinate, ...]
Read = Callable[..., Any]
"""read(operand, coords, size, region=None) -> an element of an integer operand as a coordinate
along an axis of `size` elements. A negative one counts from the end. One that is out of range is
the last; with a `region` of so many elements it is clamped, so that the region which begins there
is inside."""


@dataclass(frozen=True)
class Pick:
    """One position an element may come from: operand and coordinates, if all of `when` hold.

    A condition is (coordinate, low, high): low <= coordinate < high.
    """

    operand: int
    coords: tuple[Any, ...]
    when: tuple[tuple[Any, int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Movement(Op):
    """Moves elements.

    pick(shapes, attrs, coords, read) -> the positions from which the element at `coords` may come,
    first match first; an element that none matches is `attrs["value"]`. Coordinates are Python
    integers or index expressions of the code generator: use only + - * // % on them.
    `read` makes coordinates of elements of an integer operand: see `Read`.
    rule(operands, attrs): the shape rule.
    view: the element's position is a plain function of the coordinates and costs nothing, so that
    every reader may take its own copy. bijective: every source element is used exactly once.
    """

    rule: Callable[[Sequence[Spec], Attrs], Spec] | None = None
    pick: Callable[..., list[Pick]] | None = None
    view: bool = False
    bijective: bool = False
    bounds: Bounds | None = field(default=hull, kw_only=True)

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        assert self.rule is not None
        return self.rule(operands, attrs)


@dataclass(frozen=True, eq=False)
class Contraction(Op):
    """Sums products over an axis, or prepares for that; its kernels are hand-written."""

    rule: Callable[[Sequence[Spec], Attrs], Spec] | None = None

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        assert self.rule is not None
        return self.rule(operands, attrs)


@dataclass(frozen=True, eq=False)
class Window(Contraction):
    """Slides over the two spatial axes of a channels-last image; its kernels are hand-written."""


@dataclass(frozen=True, eq=False)
class Composite(Contraction):
    """What NumPy has a function for; a GPU that has no kernel for it computes a composition of
    other ops (compile/passes/compose.py)."""


class Operand(NamedTuple):
    """What the functions of a custom op see of an operand."""

    shape: Shape
    dtype: DType

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return size_of(self.shape)


class Apart(Op):
    """Shares a kernel with nothing, and reads its operands from memory."""

    @property
    def kernels(self) -> Mapping[str, Any]:
        """The kernels that it has, by the name of the kind of device whose target made them."""
        return {}


@dataclass(frozen=True, eq=False)
class Custom(Apart):
    """A user's op (custom.py), computed by a kernel that nothing else shares. The result's type
    stands in the attribute `dtype`.

    title: the name that its user gave it. rule: the result's shape, from an Operand for each
    operand. own: the kernels that its user wrote, by the kind of device. `numpy` computes what
    other devices do not.
    """

    title: str
    rule: Callable[..., Shape]
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kernels(self) -> Mapping[str, Any]:
        return self.own

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        return self.rule(*(Operand(*spec) for spec in operands)), attrs["dtype"]


_KINDS = {"b": "bool", "i": "signed integer", "u": "unsigned integer", "f": "floating"}


@dataclass(frozen=True)
class Frozen(Mapping[str, Any]):
    """Attributes of a node: a mapping that cannot change."""

    items_: tuple[tuple[str, Any], ...] = field(default=())

    def __getitem__(self, key: str) -> Any:
        for name, value in self.items_:
            if name == key:
                return value
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or another one; that of a Mapping would raise and catch an error."""
        for name, value in self.items_:
            if name == key:
                return value
        return default

    def __iter__(self) -> Any:
        return (name for name, _ in self.items_)

    def __len__(self) -> int:
        return len(self.items_)

    def items(self) -> Any:
        """The pairs; those of a Mapping would look up each value again."""
        return self.items_

    @property
    def exact(self) -> Hashable:
        """The pairs as part of a key, in which 0.0 and -0.0 differ."""
        for _, value in self.items_:
            if type(value) is float and not value:
                return repr(self.items_)
        return self.items_
