"""`summary`: what a network consists of, as a table, without computing anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..compile.count import multiply_adds_of
from ..core import context
from ..core.dtype import DType, as_dtype
from ..core.shape import check_shape, size_of
from ..errors import OptionError
from ..grad_mode import no_grad
from ..graph import Node, input_node
from ..runtime.device import backend
from ..runtime.jit.tracing import Trace
from ..tensor import Tensor
from .module import Module

Shape = tuple[int, ...]

_HEAD = ("layer", "output", "parameters", "multiply-adds")


@dataclass(frozen=True)
class Row:
    """A module: its path and kind, the shape of what it gives (of each output, if there are
    several; none if it is not called), and its parameters and the multiplications with additions
    that it does, both with those of the modules within it."""

    path: str
    kind: str
    outputs: tuple[Shape, ...]
    parameters: int
    multiply_adds: int


@dataclass(frozen=True)
class Summary:
    """A row for each module, the network itself first. Its text is a table.

    parameters: the number of elements of all parameters; tied ones count once.
    trainable: the number of those that receive gradients.
    multiply_adds: those of the whole network.
    """

    rows: tuple[Row, ...]
    parameters: int
    trainable: int
    multiply_adds: int

    def __str__(self) -> str:
        lines = [_HEAD]
        for row in self.rows:
            depth = row.path.count(".") + 1 if row.path else 0
            name = row.path.rpartition(".")[2]
            shapes = ", ".join(map(str, row.outputs)) or "-"
            label = f"{'  ' * depth}{name}: {row.kind}" if name else row.kind
            lines.append((label, shapes, f"{row.parameters:,}", f"{row.multiply_adds:,}"))
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        texts = []
        for a, b, c, d in lines:
            text = f"{a:{widths[0]}}  {b:{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}"
            texts.append(text.rstrip())
        rule = "-" * (sum(widths) + 6)
        total = (
            f"{self.parameters:,} parameters, {self.trainable:,} of them trainable; "
            f"{self.multiply_adds:,} multiply-adds"
        )
        return "\n".join([texts[0], rule, *texts[1:], rule, total])


def summary(
    model: Module,
    input_shape: Sequence[int] | Sequence[Sequence[int]],
    dtype: DType | str | Sequence[DType | str] = "float32",
) -> Summary:
    """A table of the modules within a network, for an input of this shape, in eval mode.

        print(nn.summary(net, (1, 3, 224, 224)))

    model: the network. Nothing of it is computed.
    input_shape: the shape of the input, or several shapes, one for each argument.
    dtype: the element type of the inputs, or one for each.
    Returns: the table: a row for each module, and the sums.
    Raises: OptionError for another number of types than of shapes, and what `forward` raises.
    """
    one = all(isinstance(length, int) for length in input_shape)
    shapes: list[Any] = [input_shape] if one else list(input_shape)
    types = [dtype] * len(shapes) if isinstance(dtype, (str, DType)) else list(dtype)
    if len(types) != len(shapes):
        raise OptionError(f"summary: {len(types)} element types for {len(shapes)} inputs")
    inputs = [
        Tensor(input_node(f"input {n}", check_shape(shape, "summary"), as_dtype(each)))
        for n, (shape, each) in enumerate(zip(shapes, types, strict=True))
    ]
    outputs: dict[int, tuple[Shape, ...]] = {}
    work: dict[int, int] = {}

    def note(module: Module, args: tuple[Any, ...], result: object) -> None:
        found = _tensors(result)
        outputs[id(module)] = tuple(x.shape for x in found)
        known = {x.node for x in _tensors(args)}
        work[id(module)] = work.get(id(module), 0) + multiply_adds_of(_between(known, found))

    modes = [(module, module.training) for module in model.modules()]
    hooks = [module.register_forward_hook(note) for module, _ in modes]
    # As in a trace, so that no parameter is computed: a new one is but a recipe of its numbers.
    try:
        model.eval()
        with context.trace.override(Trace("summary", backend().memory)), no_grad():
            result = model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for module, training in modes:
            module.training = training
    rows = tuple(
        Row(path, type(module).__name__, outputs.get(id(module), ()),
            sum(size_of(p.shape) for p in module.parameters()), work.get(id(module), 0))
        for path, module in model.named_modules()
    )  # fmt: skip
    parameters = list(model.parameters())
    return Summary(
        rows,
        sum(size_of(p.shape) for p in parameters),
        sum(size_of(p.shape) for p in parameters if p.requires_grad),
        multiply_adds_of(_between(set(), _tensors(result))),
    )


def _tensors(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [x for each in value for x in _tensors(each)]


def _between(known: Iterable[Node], results: Iterable[Tensor]) -> list[Node]:
    """The nodes that results are computed from, up to those that are known."""
    seen = set(known)
    stack = [x.node for x in results]
    found = []
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            found.append(node)
            stack.extend(node.inputs)
    return found
