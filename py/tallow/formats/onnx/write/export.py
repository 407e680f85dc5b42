"""`save`: writes a Tallow graph as an ONNX file."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from ....core.dtype import as_dtype
from ....core.hostarray import HostArray, from_buffer, from_python
from ....core.shape import check_shape
from ....errors import OptionError
from ....graph import Graph, Node, constant, input_node
from ....runtime.capture import host_data, replaced, with_values
from ....tensor import Tensor
from ....version import __version__
from ..dimensions import Shapes
from ..model import Model
from ..records import Dimension, Metadata, ValueInfo
from .element_forms import elements
from .idioms import idioms
from .symbolic_dims import merged, symbolic_dimensions
from .weights import folded, halved, quantised, stored_transposed
from .window_forms import tidy
from .writer import write

if TYPE_CHECKING:
    from ....nn.module import Module

Example = Any
"""A tensor or array, of which only the shape and type matter, or a pair (shape, dtype), in which a
name is the length of a dimension that stays symbolic."""


def save(
    what: Model | Graph | Module | Callable[..., Any],
    path: str | os.PathLike[str],
    *,
    inputs: Mapping[str, Example] | Sequence[Example] | None = None,
    shapes: Shapes | None = None,
    weights: str | None = None,
    fold: bool = False,
    external: bool | None = None,
) -> None:
    """Writes a model as ONNX, operator set 21, IR version 10.

    what: a loaded Model, a Graph, or a function of tensors that returns a tensor, a sequence or a
    dict of them. Realized tensors and variables that it reads are saved with their values. A
    module must be in eval mode; its parameters and buffers keep their names and shapes.
    shapes: for a Model, lengths of symbolic dimensions, as in Model.session; the others stay
    symbolic.
    inputs: for a function or module, its arguments, by name or in the order of its parameters; each
    an array, or a pair (shape, dtype) such as ((1, 3, 224, 224), "float32"). A name in place of a
    length, as in (("N", 3, 224, 224), "float32"), makes that dimension symbolic.
    weights: None keeps every weight in its type; "float16" rounds large float32 weights and adds a
    Cast; "int8" rounds the weights of Conv, Gemm and MatMul, with a scale per channel.
    fold: folds batch norm into convolutions and evaluates arithmetic on weights.
    external: whether to store large weights in a second file, PATH.data; None: only if necessary.

    Raises OptionError for arguments that do not fit `what`, OnnxUnsupportedError for features that
    ONNX or Tallow lacks and for dimensions that cannot stay symbolic, OnnxFormatError if the
    weights do not fit in one file.
    """
    if weights not in (None, "float16", "int8"):
        raise OptionError(f"save: weights={weights!r} is neither 'float16' nor 'int8'")
    _check_arguments(what, inputs, shapes)
    metadata = _metadata(what)
    infos = what.inputs if isinstance(what, Model) else _infos(inputs or ())
    dims = symbolic_dimensions(infos, shapes)
    named: dict[str, tuple[Dimension, ...]] = {}
    first, second = ({name: pair[i] for name, pair in dims.items()} for i in range(2))
    graph, state = _built(what, inputs, {**(shapes or {}), **first}, weights, fold)
    if dims:
        other, _ = _built(what, inputs, {**(shapes or {}), **second}, weights, fold)
        graph, named = merged(graph, other, dims)
    write(graph, path, metadata, external, named, state)


def _built(
    what: Model | Graph | Module | Callable[..., Any],
    inputs: Mapping[str, Example] | Sequence[Example] | None,
    lengths: Shapes,
    weights: str | None,
    fold: bool,
) -> tuple[Graph, dict[str, HostArray]]:
    """The graph of forms for these lengths of symbolic dimensions; a module's state by name."""
    if isinstance(what, Model):
        return _forms(what.graph(lengths), weights, fold, ()), {}
    graph = what if isinstance(what, Graph) else traced(what, _with_lengths(inputs or (), lengths))
    state: dict[str, HostArray] = {}
    if _is_module(what):
        graph, state = _with_state(graph, what)
    return _forms(with_values(graph), weights, fold, state.values()), state


def _infos(inputs: Mapping[str, Example] | Sequence[Example]) -> list[ValueInfo]:
    """The shapes, possibly with names, of the arguments that are given as pairs."""
    examples = inputs.values() if isinstance(inputs, Mapping) else inputs
    return [ValueInfo("", tuple(x[0]), None, "") for x in examples if _is_pair(x)]


def _with_lengths(
    inputs: Mapping[str, Example] | Sequence[Example], lengths: Shapes
) -> Mapping[str, Example] | Sequence[Example]:
    """The arguments with lengths in place of names."""

    def one(x: Example) -> Example:
        return (tuple(lengths.get(dim, dim) for dim in x[0]), x[1]) if _is_pair(x) else x

    if isinstance(inputs, Mapping):
        return {name: one(x) for name, x in inputs.items()}
    return [one(x) for x in inputs]


def _is_pair(example: Example) -> bool:
    """Whether it is (shape, dtype), not an array."""
    pair = isinstance(example, tuple) and len(example) == 2
    return pair and isinstance(example[0], (tuple, list))


def _is_module(what: object) -> TypeGuard[Module]:
    """Whether it is a module; there is none before `nn` is imported, which the page does not do."""
    nn = sys.modules.get("tallow.nn.module")
    return nn is not None and isinstance(what, nn.Module)


def _with_state(graph: Graph, module: Module) -> tuple[Graph, dict[str, HostArray]]:
    """The graph with a constant for each parameter and buffer of a module, and these by name."""
    variables = [*module.named_parameters(), *module.named_buffers()]
    names = {id(variable.buffer()): name for name, variable in variables}
    found: dict[str, HostArray] = {}
    new: dict[Node, Node] = {}
    for node in graph.nodes():
        name = names.get(id(node.attrs["buffer"])) if node.is_buffer else None
        if name is not None:
            data = found.setdefault(name, host_data(node.attrs["buffer"]))
            new[node] = constant(data)
    return replace(graph, outputs=replaced(graph.outputs, new)), found


def _forms(graph: Graph, weights: str | None, fold: bool, kept: Collection[HostArray]) -> Graph:
    """The graph expressed in ONNX operators. kept: constants that are not stored transposed."""
    graph = graph.check()
    if fold:
        graph = folded(graph)
    if weights == "float16":
        graph = halved(graph)
    graph = elements(stored_transposed(idioms(tidy(graph)), kept))
    return quantised(graph) if weights == "int8" else graph


def _check_arguments(what: object, inputs: object, shapes: object) -> None:
    if not isinstance(what, (Model, Graph)) and not callable(what):
        raise OptionError(
            f"save: {type(what).__name__} is not a loaded model, a graph, a module or a function"
        )
    if inputs is not None and isinstance(what, (Model, Graph)):
        raise OptionError("save: `inputs` is for functions; a model or graph has its own")
    if inputs is None and not isinstance(what, (Model, Graph)):
        raise OptionError(
            "save: a function needs `inputs`, as in inputs={'x': ((1, 3, 224, 224), 'float32')}"
        )
    if _is_module(what) and any(module.training for module in what.modules()):
        raise OptionError("save: the module is in training mode; call its eval() first")
    if shapes is not None and not isinstance(what, Model):
        raise OptionError("save: `shapes` is for loaded models")


def _metadata(what: object) -> Metadata:
    given = what.metadata if isinstance(what, Model) else Metadata()
    return Metadata("tallow", __version__, given.domain, given.version, 0, given.doc,
                    given.properties)  # fmt: skip


def traced(
    function: Callable[..., Any], inputs: Mapping[str, Example] | Sequence[Example]
) -> Graph:
    """The graph of a function, which is called once with input tensors; see `save`.

    Outputs are named by the dict that it returns, or else "output", or "output_0", "output_1" ...
    """
    if isinstance(inputs, Mapping):
        named = dict(inputs)
        nodes = {name: _input(str(name), example) for name, example in named.items()}
        result = function(**{name: Tensor(node) for name, node in nodes.items()})
    else:
        called = function.forward if _is_module(function) else function
        names = _parameters(called, len(inputs))
        nodes = {name: _input(name, x) for name, x in zip(names, inputs, strict=True)}
        result = function(*(Tensor(node) for node in nodes.values()))
    name = getattr(function, "__name__", type(function).__name__).strip("<>")
    return Graph(tuple(nodes.values()), _outputs(result), name)


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    """Names for the inputs: the parameter names, if the function has a signature."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        found = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in found if parameter.kind in kinds][:count]
    return names + [f"input_{i}" for i in range(len(names), count)]


def _input(name: str, example: Example) -> Node:
    if isinstance(example, Tensor):
        return input_node(name, example.shape, example.dtype)
    if _is_pair(example):
        shape, dtype = example
        return input_node(name, check_shape(shape, f"inputs[{name!r}]"), as_dtype(dtype))
    if isinstance(example, (bool, int, float, list, tuple)):
        data = from_python(example)
    else:
        data = from_buffer(example)
    return input_node(name, data.shape, data.dtype)


def _flat(result: object) -> list[object]:
    """What is in sequences of sequences, such as an LSTM's output and its pair of states."""
    if isinstance(result, (list, tuple)):
        return [x for each in result for x in _flat(each)]
    return [] if result is None else [result]


def _outputs(result: object) -> dict[str, Node]:
    if isinstance(result, Tensor):
        return {"output": result.node}
    if isinstance(result, Mapping):
        named = dict(result)
    elif isinstance(result, (list, tuple)):
        named = {f"output_{i}": tensor for i, tensor in enumerate(_flat(result))}
    else:
        named = {"output": result}
    for name, tensor in named.items():
        if not isinstance(tensor, Tensor):
            raise OptionError(
                f"save: the function's {name!r} is a {type(tensor).__name__}, not a tensor"
            )
    if not named:
        raise OptionError("save: the function returns no tensor")
    return {str(name): tensor.node for name, tensor in named.items()}
