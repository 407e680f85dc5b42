"""WGSL for the value of a node at given coordinates, written into a function body.

An Expression knows the nodes that are in buffers (`reads`) and inlines everything else. `width`
is 1, or 4 for the elements at four neighbouring coordinates along the node's lane axis: the last
one longer than 1. What has been written is remembered per scope, so that nothing is computed twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from ....codegen.index import Coord, Coords, is_multiple, lane, lane_axis, variable
from ....codegen.layout import is_packed
from ....codegen.picks import alike, inside, possible
from ....core.shape import Shape, strides_of
from ....graph import Node
from ....ops import gather, movement
from ....ops.kinds import Elementwise, Movement, Pick, Reduce
from ....ops.source import iota
from . import arithmetic, lines, storage
from .index_text import text_of
from .lines import Access, Code, Line
from .literal import is_nan, number, splat, type_of
from .reduction import ALONE, Team, fold_row, reduce

Key = tuple[Node, Coords, int] | tuple[Node, int, int]


class Expression:
    """The body of one WGSL function, growing.

    reads: the name of the binding for each node that is in a buffer. declared: the widths with
    which bindings are declared, shared by all functions of a module; an access of width 4 raises
    one.
    known: a shape, coordinates in it and their flat index, which saves the arithmetic. flat: every
    node is indexed by one coordinate, its flat index. team: which invocations compute a reduction
    together. builtins: functions such as the sine are WGSL's own.
    """

    def __init__(
        self,
        reads: Mapping[Node, str],
        declared: dict[str, int],
        helpers: dict[str, str],
        known: tuple[tuple[int, ...], Coords, Coord] | None = None,
        flat: bool = False,
        team: Team = ALONE,
        builtins: bool = False,
    ) -> None:
        self.reads = reads
        self.declared = declared
        self.helpers = helpers
        self.flat_indices = {known[:2]: known[2]} if known else {}
        self.flat = flat
        self.team = team
        self.builtins = builtins
        self._scopes: list[tuple[list[Line], dict[Key, str]]] = [([], {})]
        self._given: dict[Node, str] = {}
        self._names = 0

    # ---- writing -------------------------------------------------------------------------------

    @property
    def lines(self) -> list[Line]:
        """The statements of the outermost scope."""
        return self._scopes[0][0]

    def line(self, text: str) -> None:
        """Adds a statement to the innermost scope."""
        self._scopes[-1][0].append(lines.line(text))

    def fresh(self, prefix: str = "v") -> str:
        """A name that is used nowhere else in the function."""
        self._names += 1
        return f"{prefix}{self._names}"

    def let(self, code: Code) -> str:
        """What has a value under a name, unless it is a text that is short enough to repeat."""
        if isinstance(code, str) and _SHORT.fullmatch(code):
            return code
        name = self.fresh()
        self._scopes[-1][0].append(lines.let(name, code))
        return name

    def named(self, coord: Coord) -> Coord:
        """The coordinate, computed here and now if it takes a division."""
        text = text_of(coord)
        if isinstance(coord, int) or _SHORT.fullmatch(text):
            return coord
        return variable(self.let(text), coord.bound)

    def know(self, shape: Shape, coords: Coords, linear: Coord) -> None:
        """Records the flat index `linear` of coordinates in a shape."""
        self.flat_indices.setdefault((shape, coords), linear)

    def give(self, node: Node, text: str) -> None:
        """Records the value of a node, at the requested coordinates and width."""
        self._given[node] = text

    def block(self, head: str, write: Callable[[], None]) -> None:
        """A nested scope: `head { ... }`."""
        self._scopes.append(([], {}))
        write()
        inner, _ = self._scopes.pop()
        self._scopes[-1][0].extend(lines.block(head, inner))

    # ---- values --------------------------------------------------------------------------------

    def value(self, node: Node, coords: Coords, width: int) -> str:
        """The value, as a name or a short text; statements it needs are written first."""
        if node in self._given:
            return self._given[node]
        key = (node, coords, width)
        for _, known in reversed(self._scopes):
            if key in known:
                return known[key]
        text = self.let(self._compute(node, coords, width))
        self._scopes[-1][1][key] = text
        return text

    def _compute(self, node: Node, coords: Coords, width: int) -> Code:
        if node.is_scalar_constant:
            item = node.attrs["data"].item()
            return splat(number(item, node.dtype), node.dtype, width)
        if node in self.reads:
            return self._read(node, self._linear(node, coords), width)
        if self.flat and isinstance(node.op, Movement):
            return self.value(node.inputs[0], coords, width)
        if isinstance(node.op, Elementwise):
            return self._elementwise(node, coords, width)
        if isinstance(node.op, Reduce):
            return reduce(self, node, coords, width)
        if node.op is iota:
            return self._iota(node, coords, width)
        if node.op is gather.take and width == 4 and _is_table(node):
            table, codes = node.inputs
            at = self.value(codes, coords, 4)
            limit = table.shape[0]
            code: list[str | Access] = [f"{type_of(node.dtype, 4)}("]
            for number_, name in enumerate("xyzw"):
                code += [", "] if number_ else []
                code.append(self._read(table, variable(f"{at}.{name}", limit), 1))
            return (*code, ")")
        assert isinstance(node.op, Movement), f"{node} cannot be inlined"
        return self._movement(node, coords, width)

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

    def _read(self, node: Node, linear: Coord, width: int) -> str | Access:
        binding = self.reads[node]
        if width == 4 and is_multiple(linear, 4) and not is_packed(node.dtype):
            self.declared[binding] = 4
        # The declared width is known only when the whole module is written: see lines.py.
        if is_packed(node.dtype) or (width == 4 and is_multiple(linear, 4)):
            return storage.load(binding, node.dtype, linear, width, 4)
        wide = storage.load(binding, node.dtype, linear, width, 4)
        narrow = storage.load(binding, node.dtype, linear, width, 1)
        return Access(binding, narrow, wide)

    def _elementwise(self, node: Node, coords: Coords, width: int) -> str:
        op = node.op
        assert isinstance(op, Elementwise)
        operands = [self.value(child, coords, width) for child in node.inputs]
        types = tuple(child.dtype for child in node.inputs)
        template = arithmetic.elementwise(op, types, node.dtype, width, self.builtins)
        self.helpers.update(template.functions)
        text = template.text.format(*operands)
        if template.loses_nan:
            for child, operand in zip(node.inputs, operands, strict=True):
                if child.dtype.is_floating and not _is_known_number(child):
                    text = f"select({text}, {operand}, {is_nan(operand, width)})"
        return text

    def _iota(self, node: Node, coords: Coords, width: int) -> str:
        axis = node.attrs["axis"]
        kind = type_of(node.dtype)
        text = f"{kind}({text_of(coords[axis])})"
        if width == 1:
            return text
        lanes = "(0, 1, 2, 3)" if axis == lane_axis(node.shape) else "(0)"
        return f"({type_of(node.dtype, 4)}({text}) + {type_of(node.dtype, 4)}{lanes})"

    # ---- movement ------------------------------------------------------------------------------

    def _picks(self, node: Node, coords: Coords) -> list[Pick]:
        op = node.op
        assert isinstance(op, Movement) and op.pick is not None

        def read(operand: int, at: Coords, size: int, region: int | None = None) -> Coord:
            index = node.inputs[operand]
            if region is not None:
                return self.start(index, size, region)
            text = self.value(index, at, 1)
            if index.dtype.kind == "i":
                text = f"u32(select({text}, {text} + {size}i, {text} < 0i))"
            # Out of range it is the last: without this it would be an element of another row.
            text = self.let(f"min({text}, {max(size, 1) - 1}u)")
            return variable(text, max(size, 2))

        shapes = [child.shape for child in node.inputs]
        return op.pick(shapes, node.attrs, coords, read)

    def start(self, index: Node, size: int, region: int) -> Coord:
        """The start of a region along an axis, from 0 to `size - region`: one name for all who ask
        in a scope."""
        for _, known in reversed(self._scopes):
            if (index, size, region) in known:
                return variable(known[index, size, region], size - region + 1)
        last, text = size - region, self.value(index, (), 1)
        if index.dtype.kind == "i":
            start = f"u32(clamp(select({text}, {text} + {size}i, {text} < 0i), 0i, {last}i))"
        else:
            start = f"min({text}, {last}u)"
        name = self.fresh()
        self.line(f"let {name} = {start};")
        self._scopes[-1][1][index, size, region] = name
        return variable(name, last + 1)

    def end(self, filled: Node) -> str:
        """The position from which on `fill_from` has its value."""
        start, dim = filled.inputs[1], filled.shape[filled.attrs["axis"]]
        return text_of(self.start(start, dim, 0))

    def _movement(self, node: Node, coords: Coords, width: int) -> Code:
        source = node
        while source.op is movement.reshape:
            source = source.inputs[0]
            if source in self.reads:  # row-major order is all that counts
                return self._read(source, self._linear(node, coords), width)
        picks = self._picks(node, coords)
        if node.op is movement.reshape:  # the flat index stays the same
            shape = node.inputs[0].shape
            self.know(shape, inside(shape, picks[0].coords), self._linear(node, coords))
        splats = False
        if width == 4:
            lanes = [lane(node.shape, coords, number) for number in range(4)]
            kind = alike(node, picks, [self._picks(node, each) for each in lanes[1:]])
            if kind is None:
                sources = [self._source(node, each) for each in lanes]
                if (first := _side_by_side(sources)) is not None:
                    return self._read(*first, width)
                parts = [self.value(node, each, 1) for each in lanes]
                return f"{type_of(node.dtype, 4)}({', '.join(parts)})"
            splats = kind == "one"
        fill = splat(number(node.attrs.get("value", 0), node.dtype), node.dtype, width)
        picks = possible(picks)
        if not picks:
            return fill
        if len(picks) == 1 and not picks[0].when:
            return self._picked(node, picks[0], width, splats)
        name = self.fresh()
        self.line(f"var {name} = {fill};")
        for number_, pick in enumerate(picks):
            tests = [
                test
                for coord, low, high in pick.when
                for test in (
                    f"{text_of(coord)} >= {low}u" if low else "",
                    f"{text_of(coord)} < {high}u",
                )
                if test
            ]
            head = f"if ({' && '.join(tests)})" if tests else ""
            head = f"else {head}".strip() if number_ else head

            def assign(pick: Pick = pick) -> None:
                self.line(f"{name} = {self._picked(node, pick, width, splats)};")

            self.block(head, assign)
        return name

    def _source(self, node: Node, coords: Coords) -> tuple[Node, Coord] | None:
        """The stored node that an element is moved from, and its flat index there; None if it is
        computed, looked up, or there only under conditions."""
        while node not in self.reads:
            if not isinstance(node.op, Movement) or len(node.inputs) > 1:
                return None
            picks = self._picks(node, coords)
            if len(picks) != 1 or picks[0].when:
                return None
            (node,) = node.inputs
            coords = inside(node.shape, picks[0].coords)
        return node, self._linear(node, coords)

    def _picked(self, node: Node, pick: Pick, width: int, splats: bool) -> str:
        child = node.inputs[pick.operand]
        coords = inside(child.shape, pick.coords)
        if splats:
            return splat(self.value(child, coords, 1), child.dtype, 4)
        return self.value(child, coords, width)

    def fold(self, node: Node, at: Coords, over: Coords, width: int, loop: str) -> None:
        """Writes the reduction of a row, and remembers its value at the coordinates `at`.

        For the rest see reduction.fold_row.
        """
        self._scopes[-1][1][node, at, 1] = fold_row(self, node, over, width, loop)


def _side_by_side(sources: Sequence[tuple[Node, Coord] | None]) -> tuple[Node, Coord] | None:
    """The first of the elements, if they are neighbours that one access can read."""
    first = sources[0]
    if first is None or not is_multiple(first[1], 4):
        return None
    for lane_number, source in enumerate(sources):
        if source is None or source[0] is not first[0] or source[1] - first[1] != lane_number:
            return None
    return first


def _is_known_number(node: Node) -> bool:
    """Whether a node is a number in the text of a shader, and no NaN."""
    while node.op in _SPREADING:
        (node,) = node.inputs
    return node.is_scalar_constant and not math.isnan(node.attrs["data"].item())


def _is_table(take: Node) -> bool:
    """Whether an op looks its elements up, each by the code at its own position."""
    table, codes = take.inputs
    return len(table.shape) == 1 and table.size > 1 and codes.dtype.kind == "u"


_SPREADING = (movement.expand, movement.reshape)
_SHORT = re.compile(r"[\w.]+|vec4[fiu]\([\w.]+\)")  # a name or a number, once or four times
