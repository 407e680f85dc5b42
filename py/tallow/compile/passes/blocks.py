"""Weights in blocks stay packed: products become `block_matmul` (ops/blocks.py), and rows that are
looked up are unpacked alone.

Such a weight is a constant of 4 or 8 bits, which is cast, multiplied by a scale, and moved by a
zero point or a minimum, each one number a block of neighbours along what a product sums over; or a
column is one block, and one scale may be that of all. Many graphs say so in many ways: by
DequantizeLinear with blocks, or by hand, with whatever reshapes between. All come down to where an
element of the matrix lies in each constant, which an index expression tells.

It works before types of few bits are decoded, for targets that have kernels for `block_matmul`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from ... import functions as f
from ...codegen.index import Coord, Coords, joined, variable
from ...codegen.picks import inside
from ...core import dtype as dt
from ...core.hostarray import HostArray, from_values
from ...core.retyped import retyped
from ...core.shape import Shape, strides_of
from ...graph import Graph, Node, constant, make, rebuild
from ...ops import contract, gather, movement
from ...ops import elementwise as e
from ...ops.blocks import block_matmul
from ...ops.kinds import Movement
from ...tensor import Tensor
from ..partition import static_nodes
from . import rewrite
from .packed import reordered, uniform

Move = Callable[[Node], Node]

_MIN_ELEMENTS = 4096  # of a weight that is worth a kernel of its own
_STEP = 32  # elements along a row that a kernel takes at once
_BITS = {"uint4": 4, "int4": -4, "uint8": 8, "int8": -8}


@dataclass(frozen=True)
class _Chain:
    """(codes - zero) * factors + terms, all of them matrices (1, depth, columns)."""

    codes: Node
    seen: Node
    """The matrix that the codes' own elements would be."""
    zero: int = 0
    factors: tuple[Node, ...] = ()
    terms: tuple[tuple[int, tuple[Node, ...]], ...] = ()


@dataclass(frozen=True)
class _Weight:
    """The operands of a block_matmul, and its attributes. constant: what has the codes."""

    constant: Node
    codes: Node
    scale: Node
    minimum: Node | None
    block: int
    bits: int
    zero: int

    @property
    def is_finer(self) -> bool:
        """Whether a column has several blocks."""
        return self.scale.shape[1] > 1


# Why: docs/decisions/webassembly.md, "Weights in blocks are multiplied by integers of 16 bits, as
# they lie in their file"
def use_blocks(graph: Graph) -> Graph:
    """The graph with products by weights in blocks, and with rows of such weights."""
    finder = _Finder(static_nodes(graph), turns=True)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.op is contract.matmul and node.dtype == dt.float32 and node.size:
            found = finder.found(node.inputs[1], lambda matrix: matrix)
            if found is not None and (found.is_finer or not _is_of_integers(node)):
                return _product(inputs[0], found)
        if node.op is gather.take and not node.attrs["axis"] and len(node.inputs[0].shape) == 2:
            found = finder.found(node.inputs[0], _transposed)
            if found is not None:
                return _rows(found, inputs[1])
        return rebuild(node, inputs)

    return graph.rewrite(rule, (contract.matmul, gather.take))


# Why: docs/decisions/webgpu.md, "Weights in blocks are multiplied as they lie"; and
# docs/decisions/types.md, "On a GPU minima of blocks stand behind other products"
def use_blocks_in_words(graph: Graph, rows: int | None = None) -> Graph:
    """The graph with products of so many rows at most by weights in blocks, whose codes are read as
    words. In other products minima of blocks stand behind the product, times the sums of what
    blocks are multiplied by: where weights are decoded at each read, that is one number less to
    read with each."""
    static = static_nodes(graph)
    in_words, finder = _Finder(static, as_words=True), _Finder(static)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.dtype != dt.float32 or not node.size:
            return rebuild(node, inputs)
        weight = node.inputs[1]
        if (rows is None or node.shape[1] <= rows) and not _is_of_integers(node):
            found = in_words.found(weight, lambda matrix: matrix)
            if found is not None:
                return _product(inputs[0], found)
        found = finder.found(weight, lambda matrix: matrix)
        if found is not None and found.minimum is not None and found.is_finer:
            return _parted(Tensor(inputs[0]), found, found.minimum)
        return rebuild(node, inputs)

    return graph.rewrite(rule, (contract.matmul,))


def _is_of_integers(product: Node) -> bool:
    """Whether the left operand's own elements are of few bits, too. If a column of the weight is
    one block, integers alone are multiplied then."""
    through = (movement.reshape, movement.expand, movement.permute, e.multiply, e.subtract, e.cast)
    x = product.inputs[0]
    while x.dtype.name not in _BITS and x.op in through:
        x = x.inputs[0]
    return x.dtype.name in _BITS


def _parted(x: Tensor, weight: _Weight, minimum: Node) -> Node:
    """A product, in two."""
    columns, blocks = weight.scale.shape
    shape = columns, blocks, weight.block
    codes = Tensor(rewrite.reshape(weight.constant, shape)).astype(dt.float32)
    scale = f.reshape(Tensor(weight.scale).astype(dt.float32), (columns, blocks, 1))
    scaled = f.reshape(
        (codes - float(weight.zero) if weight.zero else codes) * scale, (columns, -1)
    )
    sums = f.sum(f.reshape(x, (*x.shape[:2], *shape[1:])), axis=3)
    least = Tensor(minimum).astype(dt.float32)
    return (x @ f.permute_dims(scaled, (1, 0)) + sums @ f.permute_dims(least, (1, 0))).node


def _transposed(rows: Node) -> Node:
    return rewrite.reshape(rewrite.permute(rows, (1, 0)), (1, *rows.shape[::-1]))


def _product(x: Node, weight: _Weight) -> Node:
    factors = [weight.scale] if weight.minimum is None else [weight.scale, weight.minimum]
    attrs = {"block": weight.block, "bits": weight.bits, "zero": weight.zero}
    return make(block_matmul, x, weight.codes, *factors, **attrs)


def _rows(weight: _Weight, index: Node) -> Node:
    """Some rows of a weight, unpacked."""

    def looked_up(table: Node) -> Tensor:
        return f.take(Tensor(table), Tensor(index), axis=0)

    blocks = weight.scale.shape[1]
    codes = looked_up(weight.codes)
    rest = (*index.shape, blocks)
    if abs(weight.bits) == 4:
        shifts = Tensor(constant(from_values([0, 4], (2,), dt.uint8)))
        halves = f.reshape(codes, (*codes.shape, 1)) >> shifts
        codes = f.reshape(f.bitwise_and(halves, 15), (*rest, weight.block))
        if weight.bits < 0:
            codes = f.bitwise_xor(codes.astype(dt.int32), 8) - 8
    scale = f.reshape(looked_up(weight.scale).astype(dt.float32), (*rest, 1))
    rows = (codes.astype(dt.float32) - float(weight.zero)) * scale
    if weight.minimum is not None:
        rows = rows + f.reshape(looked_up(weight.minimum).astype(dt.float32), (*rest, 1))
    return f.reshape(rows, (*index.shape, blocks * weight.block)).node


class _Finder:
    """Finds weights, each once; constants that several readers share stay one. turns: whether also
    those are found whose elements of a column lie apart, which are reordered. as_words: whether
    codes are words of constants, and not bytes."""

    def __init__(self, static: set[Node], turns: bool = False, as_words: bool = False) -> None:
        self._static, self._turns, self._as_words = static, turns, as_words
        self._known: dict[Node, _Weight | None] = {}
        self._bytes: dict[tuple[Node, bool], Node] = {}

    def found(self, node: Node, move: Move) -> _Weight | None:
        """The weight that a node is; None if it is none. move: makes (1, depth, columns) of it."""
        if node not in self._static:
            return None
        if node not in self._known:
            self._known[node] = self._weight(node, move)
        return self._known[node]

    def _weight(self, node: Node, move: Move) -> _Weight | None:
        chain = _chain(node, move)
        if chain is None or not chain.factors:
            return None
        batch, depth, columns = chain.seen.shape
        operands = [*chain.factors, *(one for _, term in chain.terms for one in term)]
        most = max(_source(each).size for each in operands)
        blocks = max(most // columns, 1)
        if batch > 1 or most not in (1, blocks * columns) or depth % blocks or depth % _STEP:
            return None
        block = depth // blocks
        if block % (_STEP // 2) or (block > _STEP and block % _STEP) or columns < 4:
            return None
        bits = _BITS[chain.codes.dtype.name]
        codes = self._codes(chain, block, bits)
        small = {each: self._of_blocks(each, block) for each in operands}
        if codes is None or None in small.values():
            return None
        known = {each: made for each, made in small.items() if made is not None}
        scale = self._multiplied([known[each] for each in chain.factors], 1)
        terms = [self._multiplied([known[o] for o in term], sign) for sign, term in chain.terms]
        minimum = terms[0] if terms else None
        for term in terms[1:]:
            assert minimum is not None
            minimum = make(e.add, _wide(minimum), _wide(term))
        return _Weight(chain.codes, codes, scale, minimum, block, bits, chain.zero)

    def _codes(self, chain: _Chain, block: int, bits: int) -> Node | None:
        """The codes (columns, blocks, bytes of a block), or the words of columns."""
        _, depth, columns = chain.seen.shape
        n, k = variable("n", columns), variable("k", depth)
        source, at = _located(chain.seen, (0, k, n))
        turned = _same(at, k * columns + n)
        if source is not chain.codes or not ((turned and self._turns) or _same(at, n * depth + k)):
            return None
        shape: Shape = (columns, depth // block, block * abs(bits) // 8)
        word = dt.int8 if bits == -8 else dt.uint8
        if self._as_words:
            shape, word = (columns, depth * abs(bits) // 32), dt.uint32
            if not chain.codes.is_constant:
                return None
        if not chain.codes.is_constant:
            matrix = rewrite.reshape(chain.codes, (depth, columns) if turned else (columns, depth))
            return rewrite.reshape(rewrite.permute(matrix, (1, 0)) if turned else matrix, shape)
        key = chain.codes, turned
        if key not in self._bytes:
            data = chain.codes.attrs["data"]
            if turned:
                data = _turned(chain.codes, depth, columns)
            same = data is chain.codes.attrs["data"] and data.dtype == word and data.shape == shape
            self._bytes[key] = chain.codes if same else constant(retyped(data, shape, word))
        made = self._bytes[key]
        return made if made.shape == shape else None

    def _of_blocks(self, matrix: Node, block: int) -> Node | None:
        """An operand as (columns, blocks); None if it isn't one number a block."""
        _, depth, columns = matrix.shape
        blocks, source = depth // block, _source(matrix)
        groups = max(source.size // columns, 1)
        each = blocks // groups
        n, b = variable("n", columns), variable("b", blocks)
        if source.size == 1:
            return rewrite.expand(rewrite.reshape(source, (1, 1)), (columns, blocks))
        if _lies(matrix, block, b * columns + n):
            return rewrite.permute(rewrite.reshape(source, (blocks, columns)), (1, 0))
        if source.size * each != columns * blocks or not _lies(
            matrix, block, n * groups + b // each
        ):
            return None
        if each == 1 and source.is_constant:  # it stays as it is in memory, too
            data = source.attrs["data"]
            return constant(retyped(data, (columns, blocks), data.dtype))
        made = rewrite.reshape(source, (columns, groups, 1))
        return rewrite.reshape(rewrite.expand(made, (columns, groups, each)), (columns, blocks))

    def _multiplied(self, operands: list[Node], sign: int) -> Node:
        if len(operands) == 1 and sign > 0 and operands[0].dtype in (dt.float16, dt.float32):
            return operands[0]
        product = _wide(operands[0])
        for each in operands[1:]:
            product = make(e.multiply, product, _wide(each))
        return make(e.negative, product) if sign < 0 else product


def _turned(codes: Node, depth: int, columns: int) -> HostArray:
    """The codes of columns, which lie apart, together: made once for all plans that read them."""
    known = _together.get(codes)
    if known is None:
        data = codes.attrs["data"]
        flat = constant(retyped(data, (depth, columns), data.dtype))
        known = _together[codes] = reordered(flat, (1, 0))
    return known


_together: WeakKeyDictionary[Node, HostArray] = WeakKeyDictionary()


def _lies(matrix: Node, block: int, wanted: Coord) -> bool:
    """Whether what a matrix shows at column n, in block b, lies where it should in its source."""
    _, depth, columns = matrix.shape
    n, b = variable("n", columns), variable("b", depth // block)

    def at(within: Coord) -> bool:
        return _same(_located(matrix, (0, b * block + within, n))[1], wanted)

    if at(variable("j", block)):
        return True
    # An index of blocks in larger ones is simplified for known elements alone.
    some = (1 << bit for bit in range((block - 1).bit_length()))
    return all(at(within) for within in (0, block - 1, *some))


def _same(a: Coord, b: Coord) -> bool:
    difference = a - b
    return isinstance(difference, int) and not difference


def _wide(node: Node) -> Node:
    return node if node.dtype == dt.float32 else make(e.cast, node, dtype=dt.float32)


# ---- what a weight is made of -----------------------------------------------------------------


def _chain(node: Node, move: Move) -> _Chain | None:
    """The steps that end in a node. Bytes that are computed, of planes of fewer bits say, are codes
    as constants are: once, in `prepare`."""
    found = _followed(node, move)
    codes = node.dtype.name in _BITS and (node.is_constant or node.dtype.size == 1)
    if found is None and codes and node.size >= _MIN_ELEMENTS and not _is_view(node):
        return _Chain(node, move(node))
    return found


def _followed(node: Node, move: Move) -> _Chain | None:
    if node.op is movement.reshape:
        return _chain(node.inputs[0], lambda inner: move(rewrite.reshape(inner, node.shape)))
    if node.op is movement.permute:
        axes = node.attrs["axes"]
        return _chain(node.inputs[0], lambda inner: move(rewrite.permute(inner, axes)))
    if node.op is e.cast:
        inner = _chain(node.inputs[0], move)
        fits = node.dtype == dt.float32 or (node.dtype.kind == "i" and inner and not inner.factors)
        return inner if fits else None
    if node.op not in (e.multiply, e.add, e.subtract):
        return None
    for number, other in enumerate(node.inputs[::-1]):
        chain = _chain(node.inputs[number], move) if _is_few(other, node.size) else None
        if chain is not None:
            return None if number and node.op is e.subtract else _stepped(chain, node, other, move)
    return None


def _is_few(node: Node, size: int) -> bool:
    """Whether an operand is made of much fewer elements."""
    return _source(node).size * 8 <= size


def _stepped(chain: _Chain, node: Node, other: Node, move: Move) -> _Chain | None:
    """A chain and one more step. other: the operand that is not the chain."""
    operand = move(other)
    if node.op is e.multiply:
        if node.dtype != dt.float32:
            return None
        terms = tuple((sign, (*term, operand)) for sign, term in chain.terms)
        return replace(chain, factors=(*chain.factors, operand), terms=terms)
    exact = node.dtype == dt.float32 or (node.dtype.kind == "i" and _has_room(chain, node))
    if not exact or (node.dtype != dt.float32 and node.op is not e.subtract):
        return None
    number = _number(other)
    if node.op is e.subtract and number is not None and not chain.factors and not chain.terms:
        return replace(chain, zero=chain.zero + number)
    sign = -1 if node.op is e.subtract else 1
    return replace(chain, terms=(*chain.terms, (sign, (operand,))))


def _has_room(chain: _Chain, node: Node) -> bool:
    """Whether a difference of integers does not wrap around."""
    return node.dtype.size > 1 or abs(_BITS[chain.codes.dtype.name]) == 4


def _number(node: Node) -> int | None:
    """The whole number that a small operand repeats, if it does and it has 8 bits."""
    source = _source(uniform(node))
    while source.op is e.cast:
        source = _source(uniform(source.inputs[0]))
    if not source.is_scalar_constant:
        return None
    value = source.attrs["data"].item()
    return int(value) if value == int(value) and abs(value) < 256 else None


def _source(node: Node) -> Node:
    """What views, and a cast from float16 to float32, show."""
    while _is_view(node) or _widens(node):
        node = node.inputs[0]
    return node


def _widens(node: Node) -> bool:
    return node.op is e.cast and (node.inputs[0].dtype, node.dtype) == (dt.float16, dt.float32)


def _is_view(node: Node) -> bool:
    return isinstance(node.op, Movement) and node.op.view and node.op.pick is not None


def _located(node: Node, coords: Coords) -> tuple[Node, Coord]:
    """What a matrix shows, and the flat index of an element there."""
    while _is_view(node) or _widens(node):
        if _widens(node):
            node = node.inputs[0]
            continue
        assert isinstance(node.op, Movement) and node.op.pick is not None
        shapes = [child.shape for child in node.inputs]
        (pick,) = node.op.pick(shapes, node.attrs, coords, None)
        node = node.inputs[pick.operand]
        coords = inside(node.shape, pick.coords)
    index: Coord = 0
    for coord, dim, stride in zip(coords, node.shape, strides_of(node.shape), strict=True):
        if dim > 1:
            index = index + coord * stride
    return node, joined(index)
