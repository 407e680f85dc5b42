"""Generated WebAssembly: a function for each step; what has none is computed by NumPy."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ...codegen.layout import Region
from ...compile.count import effort
from ...compile.fuse import Group
from ...compile.limits import Limits
from ...compile.passes.compose import compose_recurrences, with_scores
from ...compile.passes.packed import is_large
from ...compile.passes.widen import widen
from ...compile.target import Begin, GraphPass, Quick, Target
from ...graph import Graph, Node, rebuild, topological
from ...ops.attention import attention
from ...ops.kinds import Apart
from ...ops.positions import update_at
from .blas import by_blas
from .codegen.assembler import Function, encode
from .codegen.disassembler import disassemble
from .codegen.kernels import Features, kernel_for
from .codegen.values import UnsupportedError
from .passes.dots import use_dots
from .passes.dynamic import pack_dynamic
from .passes.panels import panel_views, use_panels
from .passes.winograd import use_winograd4

if TYPE_CHECKING:
    from .codegen.strided import Strided

_WORTH_SHARING = 1.5e6
"""The effort (count.py) of a step that threads share: about 60 µs of one. To share a step costs
some microseconds; much more where the system has interrupted a thread that the others wait for."""


def features_of(limits: Limits) -> Features:
    """What limits say of an engine; the defaults hold of every one."""
    found: Features | None = limits.traits
    return found or Features()


class WasmKernels:
    """The kernels of one plan, in one module, as the plan's only text: its bytes in base 64.

    A step carries `function`, the name of the module's function that computes it from the addresses
    of its bindings, or nothing; `scratch`, where that function takes one more address, of so many
    bytes for its own use; and `units`, where threads may share the step: the function then computes
    a part of so many units, given by its first unit and the one behind its last. A step of a quick
    plan (strided.py) also has `at`, the bytes from the address of each binding to where its
    elements begin, and `sizes`, what the function takes behind the addresses.
    """

    def __init__(self, limits: Limits, begin: Begin | None = None) -> None:
        self._functions: dict[bytes, Function] = {}
        self._features = features_of(limits)
        self._alone = _alone(limits)
        self._known: dict[Any, dict[str, Any]] = {}

    @property
    def modules(self) -> list[str]:
        functions = list(self._functions.values())
        return [b64encode(encode(functions)).decode()] if functions else []

    def kernel(self, group: Group, region: Region | None, over: Collection[Node]) -> dict[str, Any]:
        update = group.root.op is update_at and group.root.inputs[0] in over
        if not group.root.size or (over and not update) or isinstance(group.root.op, Apart):
            return {}
        if group.anchor is not None and self._alone(group.anchor):
            return {}
        key = _signature(group, region), update
        if key not in self._known:
            self._known[key] = self._made(group, region, update)
        return self._known[key]

    def _made(self, group: Group, region: Region | None, update: bool) -> dict[str, Any]:
        try:
            made = kernel_for(
                group.root,
                group.members,
                group.reads,
                group.row,
                self._features,
                region,
                threads=effort(group.members, group.reads) >= _WORTH_SHARING and not update,
                update=update,
            )
        except UnsupportedError:
            return {}
        # By its bytes: 0.0 and -0.0 are equal to Python.
        function = made.function
        kept = self._functions.setdefault(bytes([len(function.params)]) + function.body, function)
        kept.exported = kept.exported or f"k{len(self._functions)}"
        found = {"function": kept.exported, "scratch": made.scratch, "units": made.units}
        return {name: value for name, value in found.items() if value is not None}


def _signature(group: Group, region: Region | None) -> Any:
    """What a group computes: networks repeat their blocks, and to write a kernel takes time."""
    numbers = {node: number for number, node in enumerate((*group.reads, *group.members))}

    def operand(node: Node) -> Any:
        if node in numbers:
            return numbers[node]
        return node.dtype.name, node.shape, bytes(node.attrs["data"].data)

    reads = tuple((node.dtype.name, node.shape) for node in group.reads)
    members = tuple(
        (
            node.op.name,
            node.dtype.name,
            node.shape,
            repr(tuple(node.attrs.items())),
            tuple(operand(child) for child in node.inputs),
        )
        for node in group.members
    )
    return reads, members, numbers[group.root], group.row, region


@cache
def _strided(relaxed: bool) -> Strided:
    from .codegen.strided import Strided  # which a page without eager code does not need

    return Strided(relaxed)


def _quick(
    order: Sequence[Node],
    inputs: Mapping[str, Node],
    outputs: Mapping[str, Node],
    limits: Limits,
) -> Quick | None:
    from .strided import strided_plan

    features = features_of(limits)
    if features.blas and any(map(by_blas, order)):
        return None
    if any(node.op is attention for node in order):  # which has no kernel that takes sizes
        new: dict[Node, Node] = {}
        for node in order:
            made = with_scores if node.op is attention else rebuild
            new[node] = made(node, tuple(new[child] for child in node.inputs))
        outputs = {name: new[node] for name, node in outputs.items()}
        order = topological(outputs.values())
    return strided_plan(order, inputs, outputs, limits, _strided(features.relaxed))


def _alone(limits: Limits) -> Callable[[Node], bool]:
    return by_blas if features_of(limits).blas else lambda node: False


def _specialize(limits: Limits) -> Sequence[GraphPass]:
    alone = _alone(limits)
    return use_dots, partial(use_winograd4, apart=alone), partial(use_panels, apart=alone)


def _use_blocks(graph: Graph) -> Graph:
    if not any(node.is_constant and is_large(node) for node in graph.nodes()):
        return graph
    from ...compile.passes.blocks import use_blocks  # which most pages do not need

    return use_blocks(graph)


# Why: docs/decisions/webassembly.md, "On WebAssembly nothing but a region is computed in place"
TARGET = Target(
    name="wasm",
    computes_64_bits=True,
    in_place=False,
    joins=True,
    on_codes=lambda limits: (_use_blocks,),
    fit_types=(compose_recurrences, pack_dynamic, widen),
    specialize=_specialize,
    alone=_alone,
    packed_nodes=panel_views,
    any_order=False,
    kernels=WasmKernels,
    quick=_quick,
    traits=Features,
    functions=lambda modules: disassemble(b64decode(modules[0])) if modules else {},
)
