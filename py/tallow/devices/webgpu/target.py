"""WebGPU, in a browser and on the desktop: kernels are WGSL, types are those of WGSL."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...codegen.layout import Region
from ...compile.fuse import Group
from ...compile.limits import Limits
from ...compile.passes.compose import compose
from ...compile.passes.exact import exact_products
from ...compile.passes.packed import is_large, keep_packed, packed_nodes
from ...compile.target import Begin, GraphPass, Target
from ...core import dtype as dt
from ...core.dtype import DType
from ...graph import Graph, Node
from ...ops.kinds import Apart
from .codegen.choice import FEW_ROWS, Traits, traits_of
from .codegen.group import kernel_for
from .codegen.module import Result
from .codegen.whole import NAME, checked_kernel
from .passes.attention import keep_scores
from .passes.dynamic import single_steps, words_dynamic
from .passes.narrow import narrow
from .passes.split import split_long
from .passes.winograd import use_winograd
from .tuning import limits_of


class WgslKernels:
    """The kernels of one plan.

    A step carries `module`, the number of its WGSL module, `constants`, the values of that module's
    override constants, `params`, the 32-bit words of the uniform that is bound after all slots, and
    `workgroups`, the size of its dispatch; and `op`, if the module is the text of a user's op, its
    name, for errors.
    """

    def __init__(self, limits: Limits, begin: Begin | None = None) -> None:
        self._traits = traits_of(limits)
        self._begin = begin
        self._numbers: dict[str, int] = {}

    @property
    def modules(self) -> list[str]:
        return list(self._numbers)

    def kernel(self, group: Group, region: Region | None, over: Collection[Node]) -> dict[str, Any]:
        if not group.root.size:
            return {}
        result = Result(group.root, region, over)
        kernel = kernel_for(result, group.members, group.reads, group.row, self._traits)
        named = {"op": kernel.op} if kernel.op else {}
        new = kernel.text not in self._numbers or kernel.constants
        if self._begin and new and not kernel.op:  # a user's: the loader explains its errors
            self._begin(kernel.text, kernel.constants)
        return {
            **named,
            "module": self._numbers.setdefault(kernel.text, len(self._numbers)),
            "constants": kernel.constants,
            "params": kernel.params,
            "workgroups": list(kernel.workgroups),
        }


def _reads_packed(dtype: DType) -> bool:
    return dtype == dt.bfloat16 or (dtype.is_integer and bool(dtype.narrow_bits))


def _specialize(limits: Limits) -> tuple[GraphPass, ...]:
    traits = traits_of(limits)
    return (
        lambda graph: keep_scores(graph, traits),
        lambda graph: single_steps(graph, traits),
        keep_packed,
        lambda graph: use_winograd(graph, traits, limits.binding_bytes),
        lambda graph: split_long(graph, traits),
    )


def _on_codes(limits: Limits) -> tuple[GraphPass, ...]:
    # Kernels in the workgroup memory of a real GPU decode a weight once for 64 rows.
    rows = None if traits_of(limits).software else FEW_ROWS

    def use_blocks(graph: Graph) -> Graph:
        if not any(node.is_constant and is_large(node) for node in graph.nodes()):
            return graph
        from ...compile.passes.blocks import use_blocks_in_words  # which most pages do not need

        return use_blocks_in_words(graph, rows)

    return (use_blocks,)


TARGET = Target(
    name=NAME,
    computes_64_bits=False,
    bools_as_words=True,
    in_place=True,
    joins=True,
    chooses_kernels=True,
    reads_packed=_reads_packed,
    on_codes=_on_codes,
    fit_types=(compose, words_dynamic, exact_products, narrow),
    specialize=_specialize,
    packed_nodes=packed_nodes,
    any_order=True,
    kernels=WgslKernels,
    computes=lambda op: not isinstance(op, Apart) or NAME in op.kernels,
    traits=Traits,
    declared=checked_kernel,
    settled=limits_of,
    computes_float16=lambda limits: traits_of(limits).float16,
)
