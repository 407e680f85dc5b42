"""Attention (ops/attention.py): a block of queries by one block of keys after the other.

Memory of the kernel's own has, of a block of queries: these, times the scale; their sums of values;
their scores with a block of keys, which become weights; a panel of keys; and of each query, in the
lanes of a vector, the largest score so far and the sum of its weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf, log

from .....codegen.approximations import exp_near_0
from .....codegen.index import Coord, Coords
from .....core.dtype import float32
from .....graph import Node
from .....ops import panels
from .....scalar import Scalar, bitcast, bits, fma, operand, select
from ..arithmetic import Arithmetic
from ..expression import Expression
from ..values import constant
from . import tiles
from .products import Location, store_vector
from .unpacked import Store

_QUERIES, _CAUSAL = 128, 32
"""Queries of a head in a block, at most. Each block packs the keys again; where queries see those
before them alone, it also has scores that are not used."""

_KEYS = 64
"""Keys of a block: its values stay in a near cache while the queries pass by."""

_PANEL = panels.COLUMNS
_FIRST = b"".join(number.to_bytes(4, "little") for number in range(4))


_MAGIC = 1.5 * 2**23 + 127
"""Whole numbers from -126 on, plus this, end in the bits of the exponent of a power of 2."""


def _weight(x: Scalar) -> Scalar:
    """The exponential of what is 0 at most; 0 where it is below 2 ** -125."""
    shifted = fma(x, 1 / log(2), _MAGIC)
    power = bitcast(bits(shifted) << 23, float32)
    result = exp_near_0(fma(shifted - _MAGIC, -log(2), x)) * power
    return select(x < -125 * log(2), 0, result)


@dataclass
class _Rows:
    """Bytes from a row to the next, and from an element to the next."""

    stride: int
    step: int = 4


def attend(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes an attention, and what is fused behind it, as `product` does (products.py)."""
    return _Attention(body, node, store, width, scratch).write()


@dataclass(frozen=True)
class _Attention:
    body: Expression
    node: Node
    store: Store
    width: int
    scratch: int

    # ---- sizes ---------------------------------------------------------------------------------

    @cached_property
    def _shape(self) -> tuple[int, int, int, int]:
        """Batch, key heads, keys, and elements of a value."""
        batch, shared, keys, wide = self.node.inputs[2].shape
        return batch, shared, keys, wide

    @cached_property
    def _size(self) -> int:
        """Elements of a query."""
        return self.node.inputs[0].shape[3]

    @cached_property
    def _group(self) -> int:
        """Heads that a key head serves."""
        return self.node.shape[1] // self._shape[1]

    @cached_property
    def _each(self) -> int:
        """Queries of a head in a block. The last block may begin within another."""
        rows, most = self.node.shape[2], _CAUSAL if self.node.attrs["causal"] else _QUERIES
        return -(-rows // -(-rows // most))

    @cached_property
    def _height(self) -> int:
        """Rows of a tile."""
        return tiles.height_of(self._each, tiles.most_rows(self.body))

    @cached_property
    def _tall(self) -> int:
        """Rows of a head in a block, in whole tiles."""
        return -(-self._each // self._height) * self._height

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where the parts of the kernel's own memory begin, and where all of it ends."""
        rows, at, found = self._group * self._tall, 0, {}
        sizes = {
            "queries": self._size, "sums": self._shape[3], "scores": _KEYS, "peaks": 4, "totals": 4,
        }  # fmt: skip
        for name, elements in sizes.items():
            found[name] = at
            at += 4 * rows * elements
        return {**found, "panel": at, "end": at + 4 * _PANEL * self._size}

    def _pointer(self, part: str, offset: Coord) -> int:
        """A local with an address in a part of the kernel's own memory, so many bytes behind its
        beginning."""
        return self.body.pointer(self.scratch, offset + self._places[part])

    def _element(self, node: Node, coords: Coords) -> int:
        """A local with the address of an element of an operand."""
        address, linear = self.body.locate(node, coords)
        return self.body.pointer(address, linear * 4)

    # ---- a block of queries --------------------------------------------------------------------

    def write(self) -> int:
        """Writes it, and returns how many bytes of memory it uses."""
        (batch, shared, _, _), rows = self._shape, self.node.shape[2]
        self.body.parallel((batch, shared, -(-rows // self._each)), lambda at: self._block(*at))
        return self._places["end"]

    def _block(self, n: Coord, head: Coord, block: Coord) -> None:
        body, emit, keys = self.body, self.body.emit, self._shape[2]
        causal, window = self.node.attrs["causal"], self.node.attrs["window"]
        first = body.at_most(block * self._each, self.node.shape[2] - self._each)
        self._begin(n, head, first)
        own, end, begin = (body.function.local("i32") for _ in range(3))
        emit("local.get", body.value(self.node.inputs[3], (n,)))
        if causal:
            body.push_index(first)
            emit("i32.add")
        emit("local.tee", own)
        if causal:
            body.apply("i32.add", number=self._each - 1)
        emit("local.set", end)
        body.limit(end, "lt_s", keys)
        emit("i32.const", 0)
        emit("local.set", begin)
        if window:
            body.apply("i32.sub", own, number=window, into=begin)
            body.limit(begin, "gt_s", 0)
        start = body.coordinate(begin, keys) // _KEYS if window else 0
        stop = (body.coordinate(end, keys + 1) + (_KEYS - 1)) // _KEYS
        body.apply("i32.lt_s", begin, end)
        body.branch(
            lambda: body.span(start, stop, lambda number: self._by(n, head, number, own, end))
        )
        self._each_row(partial(self._finish, n, head, first))

    def _each_row(self, write: Callable[[Coord, Coord, Coord], None]) -> None:
        """Calls `write` with a head's number in its group, a query, and its row."""

        def of_head(head: Coord) -> None:
            row = head * self._tall
            self.body.loop(self._each, lambda query: write(head, query, row + query))

        self.body.loop(self._group, of_head)

    def _begin(self, n: Coord, head: Coord, first: Coord) -> None:
        """The queries, times the scale; no sums yet."""
        body, emit = self.body, self.body.emit
        query, scale = self.node.inputs[0], self.node.attrs["scale"]

        def clear(part: str, elements: int, value: float) -> None:
            into = self._pointer(part, 0)

            def one(_: Coord) -> None:
                emit("local.get", into)
                constant(body.function, value, float32, 4)
                emit("v128.store", 0)
                tiles.advance(body, into, 16)

            body.loop(self._group * self._tall * elements // 4, one)

        def copy(of_group: Coord, number: Coord, at: Coord) -> None:
            place = (n, head * self._group + of_group, first + number, 0)
            source, into = (
                self._element(query, place),
                self._pointer("queries", at * 4 * self._size),
            )

            def one(_: Coord) -> None:
                emit("local.get", into)
                body.apply("v128.load", source, offset=0)
                constant(body.function, scale, float32, 4)
                emit("f32x4.mul")
                emit("v128.store", 0)
                tiles.advance(body, source, 16)
                tiles.advance(body, into, 16)

            body.loop(self._size // 4, one)

        if self._tall > self._each:  # products of these are not used, but must not be slow
            clear("queries", self._size, 0)
        self._each_row(copy)
        clear("sums", self._shape[3], 0)
        clear("peaks", 4, -inf)
        clear("totals", 4, 0)

    def _finish(self, n: Coord, head: Coord, first: Coord, of_group: Coord, query: Coord,
                row: Coord) -> None:  # fmt: skip
        """Stores what a query has summed up, divided by the sum of its weights."""
        body, emit, wide = self.body, self.body.emit, self._shape[3]
        total = body.result_of("v128.load", self._pointer("totals", row * 16), offset=0)
        body.across(total, "f32x4.add")
        constant(body.function, 1, float32, 4)
        emit("local.get", total)
        emit("local.get", total)
        constant(body.function, 0, float32, 4)
        emit("f32x4.eq")
        body.apply("v128.bitselect", into=total)
        source = self._pointer("sums", row * 4 * wide)
        place = (n, head * self._group + of_group, first + query)
        rows = self.node.shape[2]

        def four(column: Coord) -> None:
            body.push_sum(source, column * 4)
            emit("v128.load", 0)
            vector = body.result_of("f32x4.div", total)

            def locate(lane: int) -> Location:
                line = (place[0] * self.node.shape[1] + place[1]) * rows + place[2]
                return self.node.shape, (*place, column + lane), line * wide + column + lane

            store_vector(body, self.node, self.store, vector, 4, locate, self.width)

        body.loop(wide, four, 4)

    # ---- by a block of keys --------------------------------------------------------------------

    def _by(self, n: Coord, head: Coord, number: Coord, own: int, end: int) -> None:
        """own: the local with how many keys the first query sees; end: how many any does."""
        body, emit, start = self.body, self.body.emit, number * _KEYS
        emit("local.get", end)
        body.push_index(start)
        emit("i32.sub")
        count = body.keep("i32")
        body.limit(count, "lt_s", _KEYS)
        left = body.coordinate(count, _KEYS + 1)
        many = (left + (_PANEL - 1)) // _PANEL
        tiled = self._group * self._tall // self._height

        def panel(at: Coord) -> None:
            packed = self._pack(n, head, start + at * _PANEL)
            body.loop(tiled, lambda tile: self._scores(packed, tile, at))

        body.span(0, many, panel)
        self._each_row(partial(self._weigh, start, own, count, many))
        body.loop(tiled, lambda tile: self._add(n, head, start, tile, left))

    def _pack(self, n: Coord, head: Coord, first: Coord) -> int:
        """Copies a panel of keys, whose elements are its rows; the local with its address."""
        body, size = self.body, self._size
        key, keys = self.node.inputs[1], self._shape[2]
        if keys % _PANEL:  # the last keys stand for those beyond, which no query sees
            rows = [
                (self._element(key, (n, head, body.at_most(first + number, keys - 1), 0)), 0)
                for number in range(_PANEL)
            ]
        else:
            row = self._element(key, (n, head, first, 0))
            rows = [(row, 4 * size * number) for number in range(_PANEL)]
        packed, into = (self._pointer("panel", 0) for _ in range(2))

        def four(_: Coord) -> None:
            for half in range(0, _PANEL, 4):
                loaded = [
                    body.result_of("v128.load", pointer, offset=offset)
                    for pointer, offset in rows[half : half + 4]
                ]
                for element, vector in enumerate(tiles.turned(body, loaded)):
                    body.apply("v128.store", into, vector, offset=4 * (_PANEL * element + half))
            for pointer in dict.fromkeys(pointer for pointer, _ in rows):
                tiles.advance(body, pointer, 16)
            tiles.advance(body, into, 16 * _PANEL)

        body.loop(size // 4, four)
        return packed

    def _scores(self, packed: int, tile: Coord, at: Coord) -> None:
        """The scores of a tile's queries with a panel of keys."""
        body, height = self.body, self._height
        queries = self._pointer("queries", tile * (4 * height * self._size))
        body.emit("local.get", packed)
        panel = body.keep("i32")
        rows = _Rows(4 * self._size)
        sums = tiles.multiplied(body, queries, rows, panel, self._size, height, tiles.VECTORS)
        into = self._pointer("scores", tile * (4 * height * _KEYS) + at * (4 * _PANEL))
        for row, vectors in enumerate(sums):
            for number, vector in enumerate(vectors):
                body.apply("v128.store", into, vector, offset=4 * _KEYS * row + 16 * number)

    def _weigh(self, start: Coord, own: int, count: int, many: Coord, of_group: Coord,
               query: Coord, row: Coord) -> None:  # fmt: skip
        """The weights of a query for a block of keys; what it has summed up is scaled if there is a
        score that is larger than all before. count: the local with how many keys any query sees.
        many: panels of keys."""
        body, emit, attrs = self.body, self.body.emit, self.node.attrs
        emit("local.get", own)
        if attrs["causal"]:
            body.push_index(query)
            emit("i32.add")
        body.push_index(start)
        emit("i32.sub")
        after = body.keep("i32")
        bounds = []
        if attrs["window"]:
            body.apply("i32.sub", after, number=attrs["window"])
            emit("i32x4.splat")
            bounds.append(("ge_s", body.keep("v128")))
        emit("local.get", after)
        emit("local.get", count)
        body.apply("i32.lt_s", after, count)
        emit("select")
        emit("i32x4.splat")
        bounds.append(("lt_s", body.keep("v128")))
        emit("v128.const", *_FIRST)
        places = body.keep("v128")
        kept = self._pointer("peaks", row * 16)
        old = body.result_of("v128.load", kept, offset=0)
        emit("local.get", old)
        peak = body.keep("v128")
        scores = self._pointer("scores", row * (4 * _KEYS))

        def mask(_: Coord) -> None:
            for offset in (0, 16):
                body.apply("v128.load", scores, offset=offset)
                constant(body.function, -inf, float32, 4)
                for number, (test, bound) in enumerate(bounds):
                    body.apply(f"i32x4.{test}", places, bound)
                    if number:
                        emit("v128.and")
                emit("v128.bitselect")
                value = body.keep("v128")
                body.apply("v128.store", scores, value, offset=offset)
                body.apply("f32x4.pmax", peak, value, into=peak)
                emit("local.get", places)
                emit("i32.const", 4)
                emit("i32x4.splat")
                body.apply("i32x4.add", into=places)
            tiles.advance(body, scores, 4 * _PANEL)

        body.span(0, many, mask)
        body.across(peak, "f32x4.pmax")
        constant(body.function, 0, float32, 4)
        emit("local.get", peak)
        emit("local.get", peak)
        constant(body.function, -inf, float32, 4)
        emit("f32x4.eq")
        emit("v128.bitselect")
        base = body.keep("v128")  # 0 of a query that sees no key yet
        totals = self._pointer("totals", row * 16)
        body.apply("f32x4.ne", old, peak)
        emit("v128.any_true")
        body.branch(lambda: self._rescale(old, base, totals, row))
        body.apply("v128.store", kept, peak, offset=0)
        total = body.result_of("v128.load", totals, offset=0)
        again = self._pointer("scores", row * (4 * _KEYS))

        def weigh(_: Coord) -> None:
            for offset in (0, 16):
                body.apply("v128.load", again, offset=offset)
                body.apply("f32x4.sub", base)
                weight = self._exp(body.keep("v128"))
                body.apply("v128.store", again, weight, offset=offset)
                body.apply("f32x4.add", total, weight, into=total)
            tiles.advance(body, again, 4 * _PANEL)

        body.span(0, many, weigh)
        body.apply("v128.store", totals, total, offset=0)

    def _rescale(self, old: int, base: int, totals: int, row: Coord) -> None:
        body, emit, wide = self.body, self.body.emit, self._shape[3]
        body.apply("f32x4.sub", old, base)
        factor = self._exp(body.keep("v128"))
        sums = self._pointer("sums", row * 4 * wide)

        def scale(pointer: int) -> None:
            emit("local.get", pointer)
            body.apply("v128.load", pointer, offset=0)
            body.apply("f32x4.mul", factor)
            emit("v128.store", 0)

        def four(_: Coord) -> None:
            scale(sums)
            tiles.advance(body, sums, 16)

        scale(totals)
        body.loop(wide // 4, four)

    def _exp(self, vector: int) -> int:
        body = self.body
        arithmetic = Arithmetic(body.function, 4, body.relaxed)
        arithmetic.push(_weight(operand(0, float32)), [lambda: body.emit("local.get", vector)])
        return body.keep("v128")

    def _add(self, n: Coord, head: Coord, start: Coord, tile: Coord, left: Coord) -> None:
        """Adds the values of a block of keys, times a tile's weights, to its sums."""
        body, wide = self.body, self._shape[3]

        def some(column: Coord, vectors: int) -> None:
            self._add_columns(n, head, start, tile, left, column, vectors)

        body.loop(wide // _PANEL, lambda at: some(at * _PANEL, tiles.VECTORS))
        if wide % _PANEL:
            body.scope(lambda: some(wide - wide % _PANEL, 1))

    def _add_columns(self, n: Coord, head: Coord, start: Coord, tile: Coord, left: Coord,
                     column: Coord, vectors: int) -> None:  # fmt: skip
        body, (_, _, keys, wide) = self.body, self._shape
        height, value = self._height, self.node.inputs[2]
        unrolled = next(count for count in (4, 2, 1) if keys % count == 0)
        kept = self._pointer("sums", tile * (4 * height * wide) + column * 4)
        sums: tiles.Tile = []
        for row in range(height):
            sums.append([])
            for number in range(vectors):
                body.apply("v128.load", kept, offset=4 * wide * row + 16 * number)
                sums[-1].append(body.keep("v128"))
        weights = self._pointer("scores", tile * (4 * height * _KEYS))
        right = self._element(value, (n, head, start, column))
        loaded = [body.function.local("v128") for _ in range(vectors)]
        weight = body.function.local("v128")

        def some(_: Coord) -> None:
            for k in range(unrolled):
                for number, local in enumerate(loaded):
                    body.apply("v128.load", right, offset=4 * wide * k + 16 * number, into=local)
                for row, into in enumerate(sums):
                    body.apply(
                        "v128.load32_splat", weights, offset=4 * _KEYS * row + 4 * k, into=weight
                    )
                    for total, local in zip(into, loaded, strict=True):
                        tiles.multiply_add(body, total, weight, local)
            tiles.advance(body, weights, 4 * unrolled)
            tiles.advance(body, right, 4 * wide * unrolled)

        body.span(0, (left + (unrolled - 1)) // unrolled, some)
        for row, vectors_of in enumerate(sums):
            for number, vector in enumerate(vectors_of):
                body.apply("v128.store", kept, vector, offset=4 * wide * row + 16 * number)
