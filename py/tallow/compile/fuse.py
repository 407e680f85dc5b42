"""Fusion: which nodes are computed by one kernel, and which results are stored in between.

Nodes are visited from the outputs back. A node joins the kernel of its readers if they all belong
to one kernel and may compute it where they read it; otherwise it becomes the root of a kernel of
its own. Since a member is read inside its group alone, groups never wait for each other in a
circle. What counts:

* views (reshape, permute, expand, slice) cost nothing and are copied into every reader; so is
  what makes numbers of packed weights (packed.py);
* so is a sum, difference or product of one stored array and numbers, which costs no more than
  reading it would. Nothing that follows from another such step is: all groups have the same digits;
* an op that is computed apart (op.Apart), as a user's own is, is a group of its own, which reads
  its operands from memory;
* a group holds at most one anchor: a contraction, a window or a reduction. Contractions and
  windows compute what follows them (elementwise, same shape) as they store; a reduction also
  computes what comes before it as it reads;
* several reductions of the same rows, whose results are spread over those rows again, are one
  kernel (softmax, layer norm), unless the rows are long;
* a kernel binds no more buffers than the adapter allows;
* at most MAX_DEPTH members follow one after the other;
* nothing is computed more than MAX_EVALUATIONS times for one element of the result: sums of what
  was shifted and summed before would double the work with every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..codegen.layout import Region
from ..codegen.picks import ending
from ..core.shape import Shape, size_of
from ..graph import Graph, Node, consumers, make
from ..ops import (
    blocks,
    contract,
    elementwise,
    gather,
    integer,
    movement,
    panels,
    positions,
    window,
)
from ..ops.dynamic_recurrence import round_states, word_step, word_steps
from ..ops.kinds import Apart, Contraction, Elementwise, Movement, Reduce
from ..ops.source import iota

# Why: docs/decisions/engine.md, "Discontinuous ops are evaluated in one place"
_ROUNDED_ONCE = {elementwise.add, elementwise.subtract, elementwise.multiply, elementwise.negative}

_PRODUCTS = {contract.matmul, contract.matmul_to, integer.integer_matmul}
_AT_POSITION = {
    positions.slice_at,
    positions.update_at,
    positions.fill_from,
    panels.pack_panels,
}

# Why: docs/decisions/engine.md, "No kernel computes a value at more than eight positions for one
# element"
MAX_EVALUATIONS = 8
MAX_DEPTH = (
    100  # members one after the other; a kernel's text is made by as many calls, one in another
)
MAX_ROW = 8192  # elements; longer rows are better reduced by many kernels' workgroups


@dataclass(eq=False)
class Group:
    """One kernel: its result, what it computes on the way (root included), what it reads."""

    root: Node
    members: list[Node] = field(default_factory=list)
    reads: list[Node] = field(default_factory=list)
    anchor: Node | None = None
    # Axes of the root that its rows consist of, in a kernel of rows.
    row: tuple[int, ...] = ()
    # Reads whose elements are only needed where the result's element at the same index is written.
    in_place: set[Node] = field(default_factory=set)
    # How a member is read from the root: see `_Fuser._access`.
    access: dict[Node, str] = field(default_factory=dict)
    # The paths from the root to a member, as the movements on them; it is computed once for each.
    paths: dict[Node, frozenset[tuple[Node, ...]]] = field(default_factory=dict)
    frontier: set[Node] = field(default_factory=set)
    # The members that read a node, in the order in which they joined.
    readers: dict[Node, list[Node]] = field(default_factory=dict)
    # How many members come after one, at most.
    depth: dict[Node, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Fusion:
    """Groups in an order in which they can run, and nodes that share another's memory.

    alias: a reshape of a stored value shares its memory, and so do the parts of a concatenation.
    regions: where the results of such groups are stored in the concatenation (join.py).
    """

    groups: list[Group]
    alias: Mapping[Node, Node]
    regions: Mapping[Node, Region] = field(default_factory=dict)

    def memory_of(self, node: Node) -> Node:
        """The node whose memory holds the elements of this one."""
        while node in self.alias:
            node = self.alias[node]
        return node


def fuse(
    graph: Graph,
    static: set[Node],
    packed: set[Node],
    most_buffers: int,
    any_order: bool = True,
    alone: Callable[[Node], bool] = lambda node: False,
) -> Fusion:
    """Groups the nodes; `static` ones depend on weights alone and never share a kernel with
    others, but for the `packed` among them (packed.py). any_order: whether convolutions may read
    images of few channels in any order, and store what follows in another shape. alone: whether
    what follows a contraction is computed by another kernel."""
    return _Fuser(graph, static, packed, most_buffers, any_order, alone).run()


def split_wide(graph: Graph, most_buffers: int) -> Graph:
    """Joins of more operands than a kernel may bind, as joins of joins."""
    most = most_buffers - 1

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.op is not movement.concat:
            return make(node.op, *inputs, **node.attrs) if inputs != node.inputs else node
        while len(inputs) > most:
            parts = [inputs[start : start + most] for start in range(0, len(inputs), most)]
            inputs = tuple(
                make(node.op, *part, **node.attrs) if len(part) > 1 else part[0] for part in parts
            )
        return make(node.op, *inputs, **node.attrs)

    return graph.rewrite(rule)


def _is_part(node: Node, source: Node) -> bool:
    """Whether a node moves elements of a source."""
    while isinstance(node.op, Movement):
        node = node.inputs[0]
        if node is source:
            return True
    return False


def _keeps_rows(source: Node, target: Node) -> bool:
    """Whether neighbours in a row stay neighbours in a row after a reshape."""
    a, b = ([dim for dim in node.shape if dim != 1] for node in (source, target))
    return a[-1:] == b[-1:]


def _is_spread(node: Node) -> bool:
    """Whether an op only reads repeated or counted values: computing it again where it is read
    costs less than storing and reading it."""
    return isinstance(node.op, Elementwise) and all(
        child.op in (movement.expand, iota) or child.is_scalar_constant for child in node.inputs
    )


def _postorder(root: Node, inside: set[Node]) -> list[Node]:
    """The nodes of a set that a node is made of, itself last, operands before what reads them."""
    order: dict[Node, None] = {}
    todo = [root]
    while todo:
        node = todo[-1]
        left = [child for child in node.inputs if child in inside and child not in order]
        if left:
            todo.append(left[0])
        else:
            order[todo.pop()] = None
    return list(order)


def _is_as_cheap_again(node: Node) -> bool:
    """Whether computing an element costs no more than reading one would, and gives the same digits
    everywhere: it is a sum, difference or product, which is rounded once, of an element of one
    other array, which is read instead."""
    if node.op not in _ROUNDED_ONCE or not node.dtype.is_floating:
        return False
    return len({child for child in node.inputs if not _is_number(child)}) == 1


def _is_number(node: Node) -> bool:
    """Whether it is one number, which stands in a kernel's text."""
    while node.op in (movement.expand, movement.reshape):
        (node,) = node.inputs
    return node.is_scalar_constant


def _is_number_made_of_numbers(node: Node) -> bool:
    """Whether it is one element that a few operations make of elements that are given."""
    if node.is_source:
        return True
    alone = isinstance(node.op, Elementwise) or node.op in (movement.reshape, movement.expand)
    return alone and node.size == 1 and all(map(_is_number_made_of_numbers, node.inputs))


def _spread_row(node: Node, spread: Node) -> tuple[int, ...]:
    """The axes along which an expand repeats a value that was reduced over just these axes.

    Empty if it is not so, or if the axes are not the last ones, or the rows are too long.
    """
    axes = tuple(a for a, dim in enumerate(spread.shape) if dim != node.shape[a])
    first = min(axes, default=0)
    trailing = all(a in axes or spread.shape[a] == 1 for a in range(first, len(spread.shape)))
    length = size_of(spread.shape[first:])
    if not trailing or length > MAX_ROW or not _comes_from_rows(node, spread.shape, axes):
        return ()
    return axes


def _comes_from_rows(node: Node, shape: Shape, axes: tuple[int, ...]) -> bool:
    """Whether a value per row is made, elementwise, of reductions of rows of that shape."""
    todo, seen = [node], {node}
    while todo:
        node = todo.pop()
        if isinstance(node.op, Reduce):
            reduced = tuple(a for a in node.attrs["axes"] if node.inputs[0].shape[a] != 1)
            if not node.op.indexed and node.inputs[0].shape == shape and reduced == axes:
                return True
        elif isinstance(node.op, Elementwise):
            new = set(node.inputs) - seen
            seen |= new
            todo += new
    return False


class _Fuser:
    def __init__(
        self,
        graph: Graph,
        static: set[Node],
        packed: set[Node],
        most_buffers: int,
        any_order: bool,
        alone: Callable[[Node], bool],
    ) -> None:
        self.any_order = any_order
        self.alone = alone
        self.order = graph.nodes()
        self.readers = consumers(self.order)
        self.static = static
        self.packed = packed
        self.most = most_buffers
        self.wanted = set(graph.outputs.values())  # must be stored
        self.groups: dict[Node, Group] = {}  # by root
        self.member_of: dict[Node, list[Group]] = {}
        self.alias: dict[Node, Node] = {}
        self.again: set[Node] = set()  # what several groups compute, and views of what that reads

    def run(self) -> Fusion:
        for node in reversed(self.order):
            if not node.is_source or node.op is iota:
                self._visit(node)
        for group in self.groups.values():
            self._finish(group)
        ordered = [self.groups[node] for node in self.order if node in self.groups]
        return Fusion(ordered, self.alias)

    # ---- deciding ------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        hosts = self._hosts(node)
        if node in self.wanted:
            if node.op is movement.reshape:
                self.alias[node] = node.inputs[0]
                self._want(node.inputs[0])
            else:
                hosts = []
                self._found(node)
        for group in hosts:
            self._join(group, node)

    def _hosts(self, node: Node) -> list[Group]:
        """The groups that will compute this node; marks it as wanted if one of its readers
        cannot."""
        readers = self.readers[node]
        hosts = list(
            dict.fromkeys(group for reader in readers for group in self.member_of.get(reader, []))
        )
        if not hosts or (node in self.wanted and node.op is not movement.reshape):
            return []
        if (len(hosts) > 1 and not self._may_be_copied(node)) or not all(
            self._may_join(group, node) for group in hosts
        ):
            self._want(node)
            return []
        return hosts

    def _may_be_copied(self, node: Node) -> bool:
        """Whether several groups may compute it: see the head of this file."""
        follows = any(reader in self.again for reader in self.readers[node])
        if self._is_view(node):
            if follows:
                self.again.add(node)
            return True
        if node.op is iota:
            return True
        if follows or not _is_as_cheap_again(node):
            return False
        self.again.add(node)
        return True

    def _want(self, node: Node) -> None:
        if not node.is_source or node.op is iota:
            self.wanted.add(node)

    def _is_view(self, node: Node) -> bool:
        return node in self.packed or (isinstance(node.op, Movement) and node.op.view)

    # Why: docs/decisions/engine.md, "Stores fuse; loads of contractions do not"
    def _may_join(self, group: Group, node: Node) -> bool:
        if isinstance(node.op, Apart):
            return False
        if node.op is positions.fill_from and not self._ends_at(node):
            return False  # what it fills is computed where it is stored, and no further
        if group.root.op is positions.update_at and _is_part(node, group.root.inputs[0]):
            return False  # it is stored apart, so that the region alone can be written
        crosses = (node in self.static) != (group.root in self.static)
        free = node.op in (movement.expand, movement.reshape, iota) or _is_spread(node)
        if crosses and not free and node not in self.packed:
            return False
        accesses = {self._access(group, reader, node) for reader in self._readers_in(group, node)}
        if "memory" in accesses or self._depth(group, node) > MAX_DEPTH:
            return False
        crowded = len((group.frontier - {node}) | set(self._loads(node))) >= self.most
        if self._is_view(node) or node.op is iota:
            return not (crowded and node in self.packed)
        if "repeated" in accesses or len(self._paths(group, node)) > MAX_EVALUATIONS:
            return False
        if crowded or ("row" in accesses and accesses != {"row"}):
            return False
        if isinstance(node.op, Contraction):
            return group.anchor is None and accesses == {"same"} and not self.alone(node)
        if isinstance(node.op, Reduce):
            return self._may_reduce(group, node, accesses)
        if accesses == {"row"}:
            return isinstance(node.op, Elementwise)
        return (accesses == {"same"} and not group.row) or not self._follows_kernel(node)

    def _ends_at(self, filled: Node) -> bool:
        """Whether all that read what is filled from a position on are reductions that end there."""
        return all(
            isinstance(reader.op, Reduce) and ending(reader) is not None
            for reader in self.readers[filled]
        )

    @staticmethod
    def _may_reduce(group: Group, node: Node, accesses: set[str]) -> bool:
        if group.anchor is not None and not group.row:
            return False
        if accesses != {"row"}:
            return not group.row
        return not group.row or _comes_from_rows(node, group.root.shape, group.row)

    def _readers_in(self, group: Group, node: Node) -> list[Node]:
        return group.readers.get(node, [])[::-1]  # from the first to the last

    def _depth(self, group: Group, node: Node) -> int:
        return max((group.depth[reader] + 1 for reader in self._readers_in(group, node)), default=0)

    def _paths(self, group: Group, node: Node) -> frozenset[tuple[Node, ...]]:
        """The paths from the root of a group to a node that would join it."""
        return frozenset(
            path if isinstance(reader.op, Elementwise) else (*path, reader)
            for reader in self._readers_in(group, node)
            for path in group.paths[reader]
        )

    def _access(self, group: Group, reader: Node, node: Node) -> str:
        """How a group would use a node that `reader`, a member, reads.

        "same": at the root's own index. "row": one value for a row of the root. "once": each
        element once, elsewhere. "repeated": some elements more than once. "memory": only from
        memory.
        """
        own = group.access[reader]
        if isinstance(reader.op, Elementwise):
            return own
        if isinstance(reader.op, Apart):
            return "memory"
        if isinstance(reader.op, Contraction):
            cheap = node.op in (movement.reshape, movement.expand, movement.permute)
            # The three channels of a picture are read one by one, in any order.
            few = self.any_order and node is reader.inputs[0] and node.shape[-1] < 4
            product = reader.op in _PRODUCTS or (
                reader.op is blocks.block_matmul and node is reader.inputs[0]
            )
            # A step reads little more than once what is a slice of all steps, or of the one before.
            step = node.op in (movement.slice_, movement.reshape) and reader.op in (
                word_step,
                word_steps,
                round_states,
            )
            cheap = (cheap and (product or few)) or step
            return "repeated" if cheap or node in self.packed else "memory"
        if isinstance(reader.op, Reduce):
            return {"repeated": "repeated", "row": "same"}.get(own, "once")
        if reader.op in (gather.take, gather.take_along_axis):
            return "memory" if not self._is_view(node) else "repeated"
        if reader.op in _AT_POSITION:
            return self._at_position(reader, node, own)
        assert isinstance(reader.op, Movement)
        if reader.op is movement.expand:
            return "row" if own == "same" and self._is_row(group, reader, node) else "repeated"
        if reader.op is movement.reshape and (
            _keeps_rows(node, reader) or self._keeps_fours(node, reader)
        ):
            return own
        return own if own == "repeated" else "once"

    def _at_position(self, reader: Node, node: Node, own: str) -> str:
        """How a slice or an update at a position uses an operand.

        A start is read by all, and computed by all if it is made of numbers. What a region is
        written into comes from memory, since the region alone is written where nothing else needs
        that memory; unless it is made of one number.
        """
        parts = reader.inputs[: 2 if reader.op is positions.update_at else 1]
        if node in reader.inputs[len(parts) :]:
            if isinstance(node.op, Elementwise) and _is_number_made_of_numbers(node):
                return "once"
            return "memory" if not self._is_view(node) else "repeated"
        if len(parts) == 2 and node is parts[0] and node.op is not movement.expand:
            return "memory"
        return own if own == "repeated" else "once"

    def _keeps_fours(self, source: Node, target: Node) -> bool:
        """Whether a kernel for convolutions, which stores four channels at once, may go on in the
        shape that its result gets."""
        by_fours = source.shape[-1] % 4 == 0 and target.shape[-1:] and target.shape[-1] % 4 == 0
        return self.any_order and source.op is window.conv2d and bool(by_fours)

    @staticmethod
    def _is_row(group: Group, spread: Node, node: Node) -> bool:
        """Whether an expand spreads a value of each of the group's rows over the row."""
        if spread.shape != group.root.shape or isinstance(group.root.op, Reduce):
            return False
        axes = _spread_row(node, spread)
        free = group.anchor is None and not group.row
        return bool(axes) and (free or axes == group.row)

    def _follows_kernel(self, node: Node) -> bool:
        """Whether this is the end of a chain that a hand-written kernel can compute as it
        stores."""
        while isinstance(node.op, Elementwise) or node.op is movement.reshape:
            before = [
                child
                for child in node.inputs
                if child.size == node.size
                and len(set(self.readers[child])) == 1
                and child.op is not movement.expand
            ]
            if not before:
                return False
            node = before[0]
        return isinstance(node.op, Contraction)

    # ---- bookkeeping ---------------------------------------------------------------------------

    @staticmethod
    def _loads(node: Node) -> list[Node]:
        return [child for child in node.inputs if not child.is_scalar_constant]

    def _found(self, node: Node) -> None:
        group = Group(node)
        self.groups[node] = group
        self._add(group, node, "same")

    def _join(self, group: Group, node: Node) -> None:
        accesses = [self._access(group, reader, node) for reader in self._readers_in(group, node)]
        order = ["same", "row", "once", "repeated"]
        access = max(accesses, key=order.index)
        if access == "row" and not group.row:
            spread = next(r for r in self._readers_in(group, node) if r.op is movement.expand)
            group.row = _spread_row(node, spread)
        self._add(group, node, access)

    def _add(self, group: Group, node: Node, access: str) -> None:
        group.members.append(node)
        group.paths[node] = self._paths(group, node) or frozenset([()])
        group.access[node] = access
        group.depth[node] = self._depth(group, node)
        for child in node.inputs:
            group.readers.setdefault(child, []).append(node)
        group.frontier.discard(node)
        group.frontier.update(self._loads(node))
        if isinstance(node.op, (Contraction, Reduce)):
            group.anchor = node
        self.member_of.setdefault(node, []).append(group)

    def _finish(self, group: Group) -> None:
        """Members in an order of computation that depends on the group alone, so that equal groups
        are one kernel; reads in the order in which they are met."""
        group.members = _postorder(group.root, set(group.members))
        if isinstance(group.root.op, Apart):  # a binding for each operand, whatever it is
            group.reads = list(group.root.inputs)
            return
        inside = set(group.members)
        accesses: dict[Node, set[str]] = {}
        for member in group.members:
            for child in member.inputs:
                if child not in inside and not child.is_scalar_constant:
                    accesses.setdefault(child, set()).add(self._access(group, member, child))
        if group.root.op is positions.update_at:
            source = group.root.inputs[0]
            if source in accesses and group.readers[source] == [group.root]:
                accesses[source] = {"same"}  # what it reads there it leaves where it is
        group.reads = list(accesses)
        group.in_place = {node for node, access in accesses.items() if access == {"same"}}
