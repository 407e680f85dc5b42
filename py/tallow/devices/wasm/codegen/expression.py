"""The value of a node at given coordinates, written into a WebAssembly function.

An Expression knows the nodes that are in memory (`addresses`) and computes everything else where it
is needed. What has been computed is remembered per scope, in locals.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....codegen.index import Coord, Coords, lane, lane_axis
from ....codegen.picks import alike, inside, possible
from ....core.dtype import DType, int32, uint32
from ....core.shape import Shape, strides_of
from ....errors import DTypeError
from ....graph import Node
from ....ops import movement
from ....ops.kinds import Elementwise, Movement, Pick, Reduce
from ....ops.source import iota
from ....scalar import Scalar, number, operand
from . import storage
from .arithmetic import Arithmetic
from .assembler import Function
from .body import Body
from .reductions import Fold
from .values import UnsupportedError, constant, kind_of, wrap

_FOUR = b"".join(number.to_bytes(4, "little") for number in range(4))


class Expression(Body):
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
        super().__init__(function, turns)
        self.addresses = dict(addresses)
        self.flat = flat
        self.relaxed = relaxed
        self.vectors = vectors
        self.flat_indices: dict[tuple[Shape, Coords], Coord] = {}
        self._given: dict[Node, int] = {}

    def give(self, node: Node, local: int) -> None:
        """Records the value of a node, at the requested coordinates and width."""
        self._given[node] = local

    def know(self, shape: Shape, coords: Coords, linear: Coord) -> None:
        """Records the flat index `linear` of coordinates in a shape."""
        self.flat_indices.setdefault((shape, coords), linear)

    # ---- values --------------------------------------------------------------------------------

    def value(self, node: Node, coords: Coords, width: int = 1) -> int:
        """The local that holds a value."""
        if node in self._given:
            return self._given[node]
        key = (node, coords, width)
        known = self._values.get(key)
        if known is not None:
            return known
        self._compute(node, coords, width)
        local = self.function.local(kind_of(node.dtype, width))
        self.emit("local.set", local)
        self._remember(self._values, key, local)
        return local

    def _compute(self, node: Node, coords: Coords, width: int) -> None:
        """Pushes a value."""
        if node.is_scalar_constant:
            constant(self.function, node.attrs["data"].item(), node.dtype, width)
        elif node in self.addresses:
            self._read(node, self._linear(node, coords), width)
        elif self.flat and isinstance(node.op, Movement):
            self.emit("local.get", self.value(node.inputs[0], coords, width))
        elif isinstance(node.op, Elementwise):
            self._elementwise(node, coords, width)
        elif isinstance(node.op, Reduce):
            fold = Fold(self, node, self.value, self.end, self.vectors, self.relaxed)
            self.emit("local.get", fold.local(coords, width))
        elif node.op is iota and width == 1:
            self.push_index(coords[node.attrs["axis"]])
            self._convert(node.dtype)
        elif node.op is iota and node.dtype in (int32, uint32):
            self.push_index(coords[node.attrs["axis"]])
            self.emit("i32x4.splat")
            if node.attrs["axis"] == lane_axis(node.shape):
                self.emit("v128.const", *_FOUR)
                self.emit("i32x4.add")
        elif isinstance(node.op, Movement):
            self._movement(node, coords, width)
        else:
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

    def _linear(self, node: Node, coords: Coords) -> Coord:
        if self.flat:
            return coords[0]
        if (node.shape, coords) in self.flat_indices:
            return self.flat_indices[node.shape, coords]
        result: Coord = 0
        for coord, dim, stride in zip(coords, node.shape, strides_of(node.shape), strict=True):
            if dim > 1:
                result = result + coord * stride
        return result

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

    def _elementwise(self, node: Node, coords: Coords, width: int) -> None:
        op = node.op
        assert isinstance(op, Elementwise)
        locals_ = [self.value(child, coords, width) for child in node.inputs]
        scalars = [_scalar(index, child) for index, child in enumerate(node.inputs)]
        pushes = [lambda local=local: self.emit("local.get", local) for local in locals_]
        try:
            computed = op.scalar(*scalars, **node.attrs)
        except DTypeError as error:
            raise UnsupportedError(f"{op.name}: {error}") from error
        Arithmetic(self.function, width, self.relaxed).push(computed, pushes)

    # ---- movement ------------------------------------------------------------------------------

    def _picks(self, node: Node, coords: Coords) -> list[Pick]:
        op = node.op
        assert isinstance(op, Movement) and op.pick is not None

        def read(number: int, at: Coords, size: int, region: int | None = None) -> Coord:
            index = node.inputs[number]
            if region is not None:
                return self.start(index, size, region)
            local = self.value(index, at)
            known = self._positions.get((index, at, size))
            if known is not None:
                return known
            kind = kind_of(index.dtype)
            counted, position = self._counted(index, local, size), self.function.local("i32")
            # Out of range it is the last: without this it would be an element of another row.
            self.emit("local.get", counted)
            self.emit(f"{kind}.const", max(size, 1) - 1)
            self.emit("local.get", counted)
            self.emit(f"{kind}.const", size)
            self.emit(f"{kind}.lt_u")
            self.emit("select")
            if kind == "i64":
                self.emit("i32.wrap_i64")
            self.emit("local.set", position)
            coord = self.coordinate(position, size)
            self._remember(self._positions, (index, at, size), coord)
            return coord

        return op.pick([child.shape for child in node.inputs], node.attrs, coords, read)

    def _counted(self, index: Node, local: int, size: int) -> int:
        """A local with an index, counted from the front of an axis."""
        kind = kind_of(index.dtype)
        counted = self.function.local(kind)
        self.emit("local.get", local)
        self.emit("local.set", counted)
        if index.dtype.kind == "i":
            self.emit("local.get", local)
            self.emit(f"{kind}.const", size)
            self.emit(f"{kind}.add")
            self.emit("local.get", local)
            self.emit("local.get", local)
            self.emit(f"{kind}.const", 0)
            self.emit(f"{kind}.lt_s")
            self.emit("select")
            self.emit("local.set", counted)
        return counted

    def start(self, index: Node, size: int, region: int) -> Coord:
        """The start of a region along an axis, from 0 to `size - region`."""
        key = (index, (size, -1), region)  # no coordinates of a node without axes
        known = self._positions.get(key)
        if known is not None:
            return known
        kind, last, local = kind_of(index.dtype), size - region, self.value(index, ())
        counted, start = self._counted(index, local, size), self.function.local("i32")
        if index.dtype.kind == "i":  # what is negative still is 0
            self.emit("local.get", counted)
            self.emit(f"{kind}.const", 0)
            self.emit("local.get", counted)
            self.emit(f"{kind}.const", 0)
            self.emit(f"{kind}.gt_s")
            self.emit("select")
            self.emit("local.set", counted)
        self.emit("local.get", counted)
        self.emit(f"{kind}.const", last)
        self.emit("local.get", counted)
        self.emit(f"{kind}.const", last)
        self.emit(f"{kind}.lt_u")
        self.emit("select")
        if kind == "i64":
            self.emit("i32.wrap_i64")
        self.emit("local.set", start)
        coord = self.coordinate(start, last + 1)
        self._remember(self._positions, key, coord)
        return coord

    def end(self, filled: Node) -> Coord:
        """The position from which on `fill_from` has its value."""
        start, dim = filled.inputs[1], filled.shape[filled.attrs["axis"]]
        return self.start(start, dim, 0)

    def _movement(self, node: Node, coords: Coords, width: int) -> None:
        source = node
        while source.op is movement.reshape:
            source = source.inputs[0]
            if source in self.addresses:  # row-major order is all that counts
                self._read(source, self._linear(node, coords), width)
                return
        picks = self._picks(node, coords)
        if node.op is movement.reshape:  # the flat index stays the same
            shape = node.inputs[0].shape
            self.know(shape, inside(shape, picks[0].coords), self._linear(node, coords))
        splats = False
        if node.op is movement.expand and width == 4 and storage.has_lanes(node.dtype):
            (child,), axis = node.inputs, lane_axis(node.shape)
            splats = child.shape[axis] == 1
        elif width == 4:
            lanes = [lane(node.shape, coords, number) for number in range(1, 4)]
            found = alike(node, picks, [self._picks(node, each) for each in lanes])
            if found is None or not storage.has_lanes(node.dtype):
                raise UnsupportedError(f"four elements of {node.op.name} at once")
            splats = found == "one"
        picks = possible(picks)
        if len(picks) == 1 and not picks[0].when:
            self._picked(node, picks[0], width, splats)
            return
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
            self.emit("i32.const", high - low)
            self.emit("i32.lt_u")
            if index:
                self.emit("i32.and")
        if not pick.when:
            self.emit("i32.const", 1)

    def _picked(self, node: Node, pick: Pick, width: int, splats: bool) -> None:
        child = node.inputs[pick.operand]
        coords = inside(child.shape, pick.coords)
        if splats and child.dtype.kind == "b":  # no bit or all bits
            self.emit("i32.const", 0)
        self.emit("local.get", self.value(child, coords, 1 if splats else width))
        if splats and child.dtype.kind == "b":
            self.emit("i32.sub")
        if splats:
            self.emit("f32x4.splat" if child.dtype.kind == "f" else "i32x4.splat")


def _scalar(index: int, child: Node) -> Scalar:
    """An operand in arithmetic: a known integer as a number, since vectors are shifted by those."""
    source = child
    while source.op in (movement.expand, movement.reshape):
        source = source.inputs[0]
    if source.is_scalar_constant and source.dtype.is_integer:
        return number(source.attrs["data"].item(), child.dtype)
    return operand(index, child.dtype)
