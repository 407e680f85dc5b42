"""The walk over a group (codegen/walk.py) as WebAssembly, written into a function.

Nodes that are in memory (`addresses`) are loaded. What has been computed is remembered per scope,
in locals; code leaves its value on the stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....codegen.index import Coord, Coords, lane_axis
from ....codegen.picks import inside
from ....codegen.walk import Key, Walk
from ....core.dtype import DType, int32, uint32
from ....errors import DTypeError
from ....graph import Node
from ....ops import movement
from ....ops.kinds import Elementwise, Movement, Pick
from ....scalar import Scalar, number, operand
from . import storage
from .arithmetic import Arithmetic
from .assembler import Function
from .body import Body
from .reductions import Fold
from .values import UnsupportedError, constant, kind_of, wrap

_FOUR = b"".join(number.to_bytes(4, "little") for number in range(4))


class Expression(Walk[int, None], Body):
    """A function's body, growing.

    addresses: the local with the address of each node that is in memory. flat: every node is
    indexed by one coordinate, its flat index. vectors: whether rows are reduced by vectors along
    them. Values are named by the locals that hold them.
    """

    def __init__(
        self,
        function: Function,
        addresses: Mapping[Node, int],
        flat: bool = False,
        relaxed: bool = False,
        turns: tuple[int, int] | None = None,
        vectors: bool = True,
    ) -> None:
        Body.__init__(self, function, turns)
        self.addresses = dict(addresses)
        Walk.__init__(self, self.addresses, flat)
        self.relaxed = relaxed
        self.vectors = vectors

    # ---- values --------------------------------------------------------------------------------

    def _known(self, key: Key) -> int | None:
        return self._values.get(key)

    def _keep(self, key: Key, code: None) -> int:
        node, _, width = key
        local = self.function.local(kind_of(node.dtype, width))
        self.emit("local.set", local)
        self._remember(self._values, key, local)
        return local

    def _again(self, value: int) -> None:
        self.emit("local.get", value)

    def _constant(self, node: Node, width: int) -> None:
        constant(self.function, node.attrs["data"].item(), node.dtype, width)

    def _reduced(self, node: Node, coords: Coords, width: int) -> None:
        fold = Fold(
            self, node, self.value, self.end, self.addresses.__contains__, self.vectors,
            self.relaxed,
        )  # fmt: skip
        self.emit("local.get", fold.local(coords, width))

    def _iota(self, node: Node, coords: Coords, width: int) -> None:
        if width == 1:
            self.push_index(coords[node.attrs["axis"]])
            self._convert(node.dtype)
        elif node.dtype in (int32, uint32):
            self.push_index(coords[node.attrs["axis"]])
            self.emit("i32x4.splat")
            if node.attrs["axis"] == lane_axis(node.shape):
                self.emit("v128.const", *_FOUR)
                self.emit("i32x4.add")
        else:
            self._other(node)

    def _other(self, node: Node) -> None:
        raise UnsupportedError(f"{node} within other ops")

    def _convert(self, dtype: DType) -> None:
        """An i32 on the stack, which is not negative, as an element."""
        kind = kind_of(dtype)
        if dtype.kind == "f":
            self.emit(f"{kind}.convert_i32_u")
        elif kind == "i64":
            self.emit("i64.extend_i32_u")
        else:
            wrap(self.function, dtype)

    def locate(self, node: Node, coords: Coords) -> tuple[int, Coord]:
        """The local with the address of what a view shows, and the flat index there."""
        while node not in self.addresses:
            source = node
            while source.op is movement.reshape:
                source = source.inputs[0]
            if source in self.addresses:  # row-major order is all that counts
                return self.addresses[source], self._linear(node, coords)
            op = node.op
            if not isinstance(op, Movement) or not op.view or op.pick is None:
                raise UnsupportedError(f"{node} is not in memory")
            (pick,) = op.pick([child.shape for child in node.inputs], node.attrs, coords, None)
            node = node.inputs[pick.operand]
            coords = inside(node.shape, pick.coords)
        return self.addresses[node], self._linear(node, coords)

    def _read(self, node: Node, linear: Coord, width: int) -> None:
        offset = self.push_address(self.addresses[node], node.dtype, linear)
        storage.load(self.function, node.dtype, offset, width)

    def _elementwise(self, node: Node, operands: Sequence[int], width: int) -> None:
        op = node.op
        assert isinstance(op, Elementwise)
        scalars = [_scalar(index, child) for index, child in enumerate(node.inputs)]
        pushes = [lambda local=local: self.emit("local.get", local) for local in operands]
        try:
            computed = op.scalar(*scalars, **node.attrs)
        except DTypeError as error:
            raise UnsupportedError(f"{op.name}: {error}") from error
        Arithmetic(self.function, width, self.relaxed).push(computed, pushes)

    # ---- movement ------------------------------------------------------------------------------

    def _position(self, index: Node, at: Coords, size: int) -> Coord:
        local = self.value(index, at)
        known = self._positions.get((index, at, size))
        if known is not None:
            return known
        counted, position = self._counted(index, local, size), self.function.local("i32")
        # Out of range it is the last: without this it would be an element of another row.
        self._at_most(index, counted, size, max(size, 1) - 1, position)
        coord = self.coordinate(position, size)
        self._remember(self._positions, (index, at, size), coord)
        return coord

    def _counted(self, index: Node, local: int, size: int) -> int:
        """A local with an index, counted from the front of an axis."""
        kind = kind_of(index.dtype)
        counted = self.function.local(kind)
        self.emit("local.get", local)
        self.emit("local.set", counted)
        if index.dtype.kind == "i":
            self.apply(f"{kind}.add", local, number=size)
            self.emit("local.get", local)
            self.apply(f"{kind}.lt_s", local, number=0)
            self.apply("select", into=counted)
        return counted

    def start(self, index: Node, size: int, region: int) -> Coord:
        key = (index, (size, -1), region)  # no coordinates of a node without axes
        known = self._positions.get(key)
        if known is not None:
            return known
        kind, last, local = kind_of(index.dtype), size - region, self.value(index, ())
        counted, start = self._counted(index, local, size), self.function.local("i32")
        if index.dtype.kind == "i":  # what is negative still is 0
            self.limit(counted, "gt_s", 0, kind)
        self._at_most(index, counted, last, last, start)
        coord = self.coordinate(start, last + 1)
        self._remember(self._positions, key, coord)
        return coord

    def _at_most(self, index: Node, counted: int, limit: int, largest: int, into: int) -> None:
        """Keeps an index that is below a limit, else the largest."""
        kind = kind_of(index.dtype)
        self.emit("local.get", counted)
        self.emit(f"{kind}.const", largest)
        self.apply(f"{kind}.lt_u", counted, number=limit)
        self.emit("select")
        if kind == "i64":
            self.emit("i32.wrap_i64")
        self.emit("local.set", into)

    def _lanes(self, node: Node, coords: Coords, picks: list[Pick]) -> str | None:
        if node.op is movement.expand and storage.has_lanes(node.dtype):
            (child,), axis = node.inputs, lane_axis(node.shape)
            return "one" if child.shape[axis] == 1 else "neighbours"
        found = super()._lanes(node, coords, picks)
        return found if storage.has_lanes(node.dtype) else None

    def _one_by_one(self, node: Node, lanes: Sequence[Coords]) -> None:
        raise UnsupportedError(f"four elements of {node.op.name} at once")

    def _chosen(self, node: Node, picks: Sequence[Pick], width: int, splats: bool) -> None:
        result = self.function.local(kind_of(node.dtype, width))
        constant(self.function, node.attrs.get("value", 0), node.dtype, width)
        self.emit("local.set", result)
        for pick in picks:

            def assign(pick: Pick = pick) -> None:
                self._test(pick)
                self.emit("if")
                self._picked(node, pick, width, splats)
                self.emit("local.set", result)

            self.scope(assign)
            self.emit("else")
        for _ in picks:
            self.emit("end")
        self.emit("local.get", result)

    def _test(self, pick: Pick) -> None:
        """Pushes whether all conditions of a pick hold."""
        for index, (coord, low, high) in enumerate(pick.when):
            self.push_index(coord - low)  # below low it is a very large unsigned number
            self.apply("i32.lt_u", number=high - low)
            if index:
                self.emit("i32.and")
        if not pick.when:
            self.emit("i32.const", 1)

    def _picked(self, node: Node, pick: Pick, width: int, splats: bool) -> None:
        if splats and node.dtype.kind == "b":  # no bit or all bits
            self.emit("i32.const", 0)
        super()._picked(node, pick, width, splats)

    def _splat(self, value: int, node: Node) -> None:
        self.emit("local.get", value)
        if node.dtype.kind == "b":
            self.emit("i32.sub")
        self.emit("f32x4.splat" if node.dtype.kind == "f" else "i32x4.splat")


def _scalar(index: int, child: Node) -> Scalar:
    """An operand in arithmetic: a known integer as a number, since vectors are shifted by those."""
    source = child
    while source.op in (movement.expand, movement.reshape):
        source = source.inputs[0]
    if source.is_scalar_constant and source.dtype.is_integer:
        return number(source.attrs["data"].item(), child.dtype)
    return operand(index, child.dtype)
