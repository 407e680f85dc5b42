"""The value of a node at given coordinates, written into a WebAssembly function.

An Expression knows the nodes that are in memory (`addresses`) and computes everything else where it
is needed. What has been computed is remembered per scope, in locals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...dtype import DType, float64
from ...errors import DTypeError
from ...graph import Node
from ...op import Elementwise, Movement, Pick, Reduce
from ...ops import movement
from ...ops.source import iota
from ...scalar import operand
from ...shape import Shape, strides_of
from ..index import Coord, Coords, lane, lane_axis
from ..picks import alike, inside, undecided
from . import storage
from .arithmetic import Arithmetic
from .assembler import Function
from .body import Body, Key
from .values import UnsupportedError, constant, kind_of, wrap

_LONG = 1024
"""Elements of a sum that float32 adds up one by one without losing more than it must."""


class Expression(Body):
    """A function's body, growing.

    addresses: the local with the address of each node that is in memory. flat: every node is
    indexed by one coordinate, its flat index. Values are named by the locals that hold them.
    """

    def __init__(
        self,
        function: Function,
        addresses: Mapping[Node, int],
        flat: bool = False,
        relaxed: bool = False,
    ) -> None:
        super().__init__(function)
        self.addresses = addresses
        self.flat = flat
        self.relaxed = relaxed
        self.flat_indices: dict[tuple[Shape, Coords], Coord] = {}
        self._given: dict[Node, int] = {}

    def give(self, node: Node, local: int) -> None:
        """Says what the value of a node is, at the coordinates and width that are asked for."""
        self._given[node] = local

    def remember(self, node: Node, coords: Coords, local: int) -> None:
        """Says what the value of a node at coordinates is, in the present scope."""
        self._scopes[-1][0][node, coords, 1] = local

    def know(self, shape: Shape, coords: Coords, linear: Coord) -> None:
        """Says that coordinates in a shape have the flat index `linear`."""
        self.flat_indices.setdefault((shape, coords), linear)

    # ---- values --------------------------------------------------------------------------------

    def value(self, node: Node, coords: Coords, width: int = 1) -> int:
        """The local that holds a value."""
        if node in self._given:
            return self._given[node]
        key = (node, coords, width)
        known = self._known(key)
        if known is not None:
            return known
        self._compute(node, coords, width)
        local = self.function.local(kind_of(node.dtype, width))
        self.emit("local.set", local)
        self._scopes[-1][0][key] = local
        return local

    def _known(self, key: Key) -> int | None:
        """The local of a value that was computed before."""
        return next((known[key] for known, *_ in reversed(self._scopes) if key in known), None)

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
            self._reduce(node, coords, width)
        elif node.op is iota and width == 1:
            self.push_index(coords[node.attrs["axis"]])
            self._convert(node.dtype)
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
        scalars = [operand(index, child.dtype) for index, child in enumerate(node.inputs)]
        pushes = [lambda local=local: self.emit("local.get", local) for local in locals_]
        try:
            computed = op.scalar(*scalars, **node.attrs)
        except DTypeError as error:
            raise UnsupportedError(f"{op.name}: {error}") from error
        Arithmetic(self.function, width, self.relaxed).push(computed, pushes)

    # ---- reductions ----------------------------------------------------------------------------

    def _reduce(self, node: Node, coords: Coords, width: int) -> None:
        op, (child,) = node.op, node.inputs
        assert isinstance(op, Reduce)
        axes = [axis for axis in node.attrs["axes"] if child.shape[axis] != 1]
        if width == 4 and (op.indexed or lane_axis(child.shape) in axes):
            raise UnsupportedError("four reductions of rows at once")
        if width == 4 and child.size > _LONG * node.size and not isinstance(op.start, str):
            raise UnsupportedError("long sums in float32")
        if not child.size and isinstance(op.start, str):
            raise UnsupportedError(f"{op.name} of nothing")

        def nested(at: Coords, left: Sequence[int], fold: Callable[[Coords], None]) -> None:
            if not left:
                fold(at)
                return
            axis = left[0]
            self.loop(
                child.shape[axis],
                lambda coord: nested((*at[:axis], coord, *at[axis + 1 :]), left[1:], fold),
            )

        self.emit("local.get", self.fold(node, width, lambda fold: nested(coords, axes, fold)))

    def fold(self, node: Node, width: int, over: Callable[[Callable[[Coords], None]], None]) -> int:
        """The local with a reduction of the elements at whose coordinates `over` calls."""
        op, (child,) = node.op, node.inputs
        assert isinstance(op, Reduce)
        # One by one, a long sum or product loses its last digits in float32.
        exact = width == 1 and kind_of(child.dtype) == "f32" and not isinstance(op.start, str)
        dtype = float64 if exact else child.dtype
        total = self.function.local(kind_of(dtype, width))
        constant(self.function, _start(op, dtype), dtype, width)
        self.emit("local.set", total)
        if op.indexed:
            return self._winner(node, total, over)
        combined = op.combine(operand(0, dtype), operand(1, dtype))

        def step(at: Coords) -> None:
            item = self.value(child, at, width)

            def push_item() -> None:
                self.emit("local.get", item)
                if exact:
                    self.emit("f64.promote_f32")

            pushes = [lambda: self.emit("local.get", total), push_item]
            Arithmetic(self.function, width, self.relaxed).push(combined, pushes)
            self.emit("local.set", total)

        over(step)
        if not exact:
            return total
        result = self.function.local("f32")
        self.emit("local.get", total)
        self.emit("f32.demote_f64")
        self.emit("local.set", result)
        return result

    def _winner(self, node: Node, best: int, over: Callable[..., None]) -> int:
        """The index of the first element that no other beats; the first NaN beats all."""
        op, (child,) = node.op, node.inputs
        assert isinstance(op, Reduce)
        (axis,) = node.attrs["axes"]
        index = self.function.local("i32")
        self.emit("i32.const", 0)
        self.emit("local.set", index)
        wins = op.combine(operand(0, child.dtype), operand(1, child.dtype))
        kind = kind_of(child.dtype)

        def step(at: Coords) -> None:
            item = self.value(child, at)
            pushes = [lambda local=local: self.emit("local.get", local) for local in (best, item)]
            Arithmetic(self.function).push(wins, pushes)
            if child.dtype.kind == "f":
                for local, test in ((item, "ne"), (best, "eq")):
                    self.emit("local.get", local)
                    self.emit("local.get", local)
                    self.emit(f"{kind}.{test}")
                    self.emit("i32.or" if test == "ne" else "i32.and")
            self.emit("if")
            self.emit("local.get", item)
            self.emit("local.set", best)
            self.push_index(at[axis])
            self.emit("local.set", index)
            self.emit("end")

        over(step)
        return index

    # ---- movement ------------------------------------------------------------------------------

    def _picks(self, node: Node, coords: Coords) -> list[Pick]:
        op = node.op
        assert isinstance(op, Movement) and op.pick is not None

        def read(number: int, at: Coords, size: int) -> Coord:
            index = node.inputs[number]
            local = self.value(index, at)
            for *_, positions in reversed(self._scopes):
                if (index, at, size) in positions:
                    return positions[index, at, size]
            kind = kind_of(index.dtype)
            counted, position = self.function.local(kind), self.function.local("i32")
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
            coord = self._variable(position, max(size, 2))
            self._scopes[-1][2][index, at, size] = coord
            return coord

        return op.pick([child.shape for child in node.inputs], node.attrs, coords, read)

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
        picks = [left for pick in picks if (left := undecided(pick)) is not None]
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
        for number, (coord, low, high) in enumerate(pick.when):
            self.push_index(coord - low)  # below low it is a very large unsigned number
            self.emit("i32.const", high - low)
            self.emit("i32.lt_u")
            if number:
                self.emit("i32.and")
        if not pick.when:
            self.emit("i32.const", 1)

    def _picked(self, node: Node, pick: Pick, width: int, splats: bool) -> None:
        child = node.inputs[pick.operand]
        coords = inside(child.shape, pick.coords)
        self.emit("local.get", self.value(child, coords, 1 if splats else width))
        if splats:
            self.emit("f32x4.splat" if child.dtype.kind == "f" else "i32x4.splat")


def _start(op: Reduce, dtype: DType) -> float:
    """The value before the first element."""
    if not isinstance(op.start, str):
        return op.start
    if dtype.kind == "f":
        return float("-inf") if op.start == "lowest" else float("inf")
    bits = 8 * dtype.size
    ends = (0, (1 << bits) - 1) if dtype.kind == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return ends[op.start == "highest"]
