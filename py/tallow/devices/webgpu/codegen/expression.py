"""The walk over a group (codegen/walk.py) as WGSL, written into a function body.

Nodes that are in buffers (`reads`) are loaded, everything else is inlined. What has been written is
remembered per scope, under a name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from ....codegen.index import Coord, Coords, is_multiple, lane_axis, variable
from ....codegen.layout import is_packed
from ....codegen.picks import inside
from ....codegen.walk import Key, Walk
from ....graph import Node
from ....ops import gather, movement
from ....ops.kinds import Elementwise, Movement, Pick
from . import arithmetic, lines, storage
from .index_text import text_of
from .lines import Access, Code, Line
from .literal import is_nan, number, splat, type_of
from .reduction import ALONE, Team, fold_row, reduce


class Expression(Walk[str, Code]):
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
        super().__init__(reads, flat)
        self.reads = reads
        self.declared = declared
        self.helpers = helpers
        if known:
            self.know(*known)
        self.team = team
        self.builtins = builtins
        self._scopes: list[tuple[list[Line], dict[Key, str]]] = [([], {})]
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

    def block(self, head: str, write: Callable[[], None]) -> None:
        """A nested scope: `head { ... }`."""
        self._scopes.append(([], {}))
        write()
        inner, _ = self._scopes.pop()
        self._scopes[-1][0].extend(lines.block(head, inner))

    # ---- values --------------------------------------------------------------------------------

    def _known(self, key: Key) -> str | None:
        found = (known[key] for _, known in reversed(self._scopes) if key in known)
        return next(found, None)

    def _keep(self, key: Key, code: Code) -> str:
        name = self._scopes[-1][1][key] = self.let(code)
        return name

    def _again(self, value: str) -> Code:
        return value

    def _constant(self, node: Node, width: int) -> Code:
        return splat(number(node.attrs["data"].item(), node.dtype), node.dtype, width)

    def _reduced(self, node: Node, coords: Coords, width: int) -> Code:
        return reduce(self, node, coords, width)

    def _other(self, node: Node) -> Code:
        raise AssertionError(f"{node} cannot be inlined")

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

    def _elementwise(self, node: Node, operands: Sequence[str], width: int) -> Code:
        op = node.op
        assert isinstance(op, Elementwise)
        types = tuple(child.dtype for child in node.inputs)
        template = arithmetic.elementwise(op, types, node.dtype, width, self.builtins)
        self.helpers.update(template.functions)
        text = template.text.format(*operands)
        if template.loses_nan:
            for child, operand in zip(node.inputs, operands, strict=True):
                if child.dtype.is_floating and not _is_known_number(child):
                    text = f"select({text}, {operand}, {is_nan(operand, width)})"
        return text

    def _iota(self, node: Node, coords: Coords, width: int) -> Code:
        axis = node.attrs["axis"]
        kind = type_of(node.dtype)
        text = f"{kind}({text_of(coords[axis])})"
        if width == 1:
            return text
        lanes = "(0, 1, 2, 3)" if axis == lane_axis(node.shape) else "(0)"
        return f"({type_of(node.dtype, 4)}({text}) + {type_of(node.dtype, 4)}{lanes})"

    # ---- movement ------------------------------------------------------------------------------

    def start(self, index: Node, size: int, region: int) -> Coord:
        key = (index, (size, -1), region)  # no coordinates of a node without axes
        known, last = self._known(key), size - region
        if known is None:
            text = self.value(index, (), 1)
            if index.dtype.kind == "i":
                start = f"u32(clamp(select({text}, {text} + {size}i, {text} < 0i), 0i, {last}i))"
            else:
                start = f"min({text}, {last}u)"
            known = self.fresh()
            self.line(f"let {known} = {start};")
            self._scopes[-1][1][key] = known
        return variable(known, last + 1)

    def _movement(self, node: Node, coords: Coords, width: int) -> Code:
        if node.op is not gather.take or width == 1 or not _is_table(node):
            return super()._movement(node, coords, width)
        table, codes = node.inputs
        at = self.value(codes, coords, 4)
        limit = table.shape[0]
        code: list[str | Access] = [f"{type_of(node.dtype, 4)}("]
        for number_, name in enumerate("xyzw"):
            code += [", "] if number_ else []
            code.append(self._read(table, variable(f"{at}.{name}", limit), 1))
        return (*code, ")")

    def _position(self, index: Node, at: Coords, size: int) -> Coord:
        text = self.value(index, at, 1)
        if index.dtype.kind == "i":
            text = f"u32(select({text}, {text} + {size}i, {text} < 0i))"
        # Out of range it is the last: without this it would be an element of another row.
        text = self.let(f"min({text}, {max(size, 1) - 1}u)")
        return variable(text, max(size, 2))

    def _one_by_one(self, node: Node, lanes: Sequence[Coords]) -> Code:
        sources = [self._source(node, each) for each in lanes]
        if (first := _side_by_side(sources)) is not None:
            return self._read(*first, 4)
        parts = [self.value(node, each, 1) for each in lanes]
        return f"{type_of(node.dtype, 4)}({', '.join(parts)})"

    def _chosen(self, node: Node, picks: Sequence[Pick], width: int, splats: bool) -> Code:
        fill = splat(number(node.attrs.get("value", 0), node.dtype), node.dtype, width)
        if not picks:
            return fill
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
                code = self._picked(node, pick, width, splats)
                self._scopes[-1][0].append(lines.Line((f"{name} = ", *lines.parts_of(code), ";")))

            self.block(head, assign)
        return name

    def _splat(self, value: str, node: Node) -> Code:
        return splat(value, node.dtype, 4)

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
