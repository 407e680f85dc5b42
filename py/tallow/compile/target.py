"""The seam between the compiler and the kinds of device that it compiles for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..codegen.layout import Region, bools_of_words, words_of_bools
from ..core.devices import Parts
from ..core.dtype import DType, float16
from ..core.hostarray import HostArray
from ..core.shape import Shape
from ..graph import Graph, Node
from ..ops.kinds import Op
from .fuse import Group
from .limits import Limits
from .plan import Plan

GraphPass = Callable[[Graph], Graph]


Begin = Callable[[str, Mapping[str, Any]], None]
"""Is given the code of a kernel and its constants before the rest of the plan is there, so that a
device can compile it in the meantime."""


class Kernels(Protocol):
    """Makes the kernels of one plan."""

    @property
    def modules(self) -> list[str]:
        """The code of all kernels that were made, for the plan."""

    def kernel(self, group: Group, region: Region | None, over: Collection[Node]) -> dict[str, Any]:
        """What a step carries for this target's runner, as plain data; empty if nothing runs.

        region: where in its slot the result is, if it is a part of what is stored there. over: the
        reads that share the result's slot, so that each element is written over.
        """


class Quick(NamedTuple):
    """A plan that was made without passes. weights: where each constant begins in the weights
    block. plain: what takes the place of steps, if the nodes are computed one by one (plain.py)."""

    plan: Plan
    weights: list[tuple[int, HostArray]]
    plain: Any = None


class QuickPlan(Protocol):
    """Makes such a plan."""

    def __call__(
        self,
        order: Sequence[Node],
        inputs: Mapping[str, Node],
        outputs: Mapping[str, Node],
        limits: Limits,
    ) -> Quick | None:
        """The plan of some nodes; None if a pass has to prepare them. order: all that the outputs
        need, in topological order. inputs: leaves among those, which are fed. limits: of the
        device."""


_MOST_BYTES = 1 << 26
"""Of one value: for larger ones memory is worth a plan."""


def is_simple(nodes: Iterable[Node]) -> bool:
    """Whether nodes may be computed as they are: no pass has to change their types."""
    for node in nodes:
        dtype = node.dtype
        if dtype.coded or dtype is float16 or node.size * dtype.size > _MOST_BYTES:
            return False
    return True


@dataclass(frozen=True)
class Target:
    """A kind of device, as the compiler sees it: all that differs between kinds is in this record.

    name: of the device, in plans and in the registry, core/devices.py.
    computes_64_bits: whether it computes float64 and 64-bit integers as they are.
    bools_as_words: whether it stores a bool in 32 bits; otherwise in a byte.
    in_place: whether a kernel may write its result over an operand that nothing reads afterwards.
    joins: whether a kernel may write its result into its part of a concatenation.
    chooses_kernels: whether several kernels compute the same op, which tuning times.
    reads_packed: whether its kernels read a coded element type (core/dtype.py) as it is packed.
    on_codes: the passes for its limits before `decode`, which see types of few bits.
    fit_types: the passes after `decode` that leave only types that it computes.
    specialize: the passes for its limits, after those that every target has.
    packed_nodes: of a graph and its static nodes, those that make numbers of packed weights, which
    every kernel computes for itself as it loads.
    any_order: whether convolutions may read images of few channels in any order, and store what
    follows in another shape.
    kernels: makes the kernels of a plan for a device with such limits, which are given to a `Begin`
    if there is one and they are text; None if its runner computes what the steps' operations say.
    limits: what holds of it, from what the caller says.
    alone: of the device's limits, which contractions are computed without what follows them.
    computes: whether it computes an op, alone or with NumPy for some steps; a plan with an op that
    it does not compute runs on NumPy (runtime/hosted.py).
    quick: makes the plan of a graph that is likely to be computed once, in little time; None if
    there is no such way.
    functions: of a plan's modules, the text of the functions that its steps name, for people.
    declared: makes the kernel of a user's op (custom.py) from the op's name, the kernel's text, the
    number of operands and the functions that come with it. The kernel has `check(name, types)`.
    traits: makes the `traits` of its limits of their fields, if it has any.
    settled: the limits of a backend of its (runtime/base.py), by the settings that hold now.
    computes_float16: whether a device of such limits computes products in float16.
    """

    name: str
    computes_64_bits: bool
    fit_types: Sequence[GraphPass]
    any_order: bool
    kernels: Callable[[Limits, Begin | None], Kernels] | None
    bools_as_words: bool = False
    in_place: bool = False
    joins: bool = False
    chooses_kernels: bool = False
    reads_packed: Callable[[DType], bool] = lambda dtype: False
    specialize: Callable[[Limits], Sequence[GraphPass]] = lambda limits: ()
    packed_nodes: Callable[[Graph, set[Node]], set[Node]] = lambda graph, static: set()
    limits: Callable[[Limits], Limits] = lambda limits: limits
    alone: Callable[[Limits], Callable[[Node], bool]] = lambda limits: lambda node: False
    computes: Callable[[Op], bool] = lambda op: True
    on_codes: Callable[[Limits], Sequence[GraphPass]] = lambda limits: ()
    quick: QuickPlan | None = None
    functions: Callable[[Sequence[str]], Mapping[str, str]] = lambda modules: {}
    declared: Callable[..., Any] | None = None
    traits: Callable[..., Any] | None = None
    settled: Callable[[Any], Limits] = lambda backend: backend.limits
    computes_float16: Callable[[Limits], bool] = lambda limits: False

    def stored(self, data: HostArray) -> memoryview:
        """The bytes of a constant as the device stores it; its slot may be longer."""
        return words_of_bools(data.data) if self._has_words(data.dtype) else data.data

    def stored_size(self, data: HostArray) -> int:
        """How many bytes `stored` gives, without reading them."""
        return 4 * data.size if self._has_words(data.dtype) else data.nbytes

    def loaded(self, content: memoryview, shape: Shape, dtype: DType) -> HostArray:
        """The constant of which `stored` gave these bytes."""
        content = bools_of_words(content) if self._has_words(dtype) else content
        return HostArray(content, shape, dtype)

    def _has_words(self, dtype: DType) -> bool:
        return self.bools_as_words and dtype.kind == "b"


TARGETS: Parts[Target] = Parts("target", "TARGET")
"""By the names of devices."""
