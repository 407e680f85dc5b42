"""torch.func's names: transforms of functions, and modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import functions as f
from .autodiff.everything import grad, jvp, value_and_grad, vjp
from .autodiff.trees import Structure, flatten, unflatten
from .errors import OptionError, ShapeError
from .facts import Table
from .nn.module import Module
from .tensor import Tensor

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

State = Mapping[str, Any]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: State | Sequence[State],
    args: object = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What a module gives with these tensors instead of its parameters and buffers; gradients go to
    them.

    module: the module, which stays as it is.
    parameter_and_buffer_dicts: tensors by path, in one dict or several.
    args: one argument, or a tuple of them.
    kwargs: arguments by name.
    tie_weights: what is given for a parameter also stands for its other names.
    strict: there must be a tensor for each parameter and buffer.
    Returns: what the module returns.
    Raises: OptionError for a name that the module does not have, and for those that strict misses.
    Source: PyTorch, `torch.func.functional_call`.
    """
    dicts = parameter_and_buffer_dicts
    given: dict[str, Any] = {}
    for state in [dicts] if isinstance(dicts, Mapping) else dicts:
        given |= state
    entries = list(_entries(module))
    own = {path: table[name] for path, table, name in entries}
    unknown, missing = given.keys() - own.keys(), own.keys() - given.keys()
    if unknown or (strict and missing):
        words = [f"has no {', '.join(sorted(unknown))}"] if unknown else []
        words += [f"also has {', '.join(sorted(missing))}"] if strict and missing else []
        raise OptionError(f"functional_call: {type(module).__name__} {' and '.join(words)}")
    tied = {id(own[path]): value for path, value in given.items()} if tie_weights else {}
    arguments = args if isinstance(args, tuple) else (args,)
    try:
        for path, table, name in entries:
            table.lend(name, given.get(path, tied.get(id(own[path]), own[path])))
        return module(*arguments, **(kwargs or {}))
    finally:
        for path, table, name in entries:
            table.lend(name, own[path])


def _entries(module: Module) -> Iterator[tuple[str, Table[str, Any], str]]:
    """The parameters and buffers of a module and all within it: path, table, name in it."""
    for path, each in module.named_modules(remove_duplicate=False):
        for table in (each._parameters, each._buffers):
            for name, value in list(table.items()):
                if value is not None:
                    yield f"{path}.{name}" if path else name, table, name


def grad_and_value(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that gives (gradient, value): as `tl.value_and_grad`, the other way round.

    func: gives a single floating number, a tensor without axes.
    argnums: the positional arguments by which it is differentiated, one or several.
    has_aux: func returns (value, something else), and the result is (gradient, (value, something
      else)).
    Returns: a function of the same arguments.
    Source: PyTorch, `torch.func.grad_and_value`.
    """
    both = value_and_grad(func, argnums, has_aux=has_aux)

    def turned(*args: object, **kwargs: object) -> tuple[Any, Any]:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    return turned


# ---- maps and matrices of derivatives ------------------------------------------------------------

Function = Callable[..., Any]

Dims = int | None | Mapping[str, "Dims"] | Sequence["Dims"]
"""The axis of an argument, or of each tensor in it."""


# Why: docs/decisions/derivatives.md, "`vmap` computes slices one after another"
def vmap(
    func: Function,
    in_dims: Dims = 0,
    out_dims: int | Sequence[int] = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """A function of tensors with one more axis: func of each slice along it, the results stacked.

    The slices are computed one after the other in one graph, which grows with their number.

    func: the function of a slice of each argument.
    in_dims: the axis of each argument; None for one that all slices share; one number for all, or a
      tuple with one for each argument, which may be a container of tensors.
    out_dims: where the axis is in the results, a number or one for each.
    randomness, chunk_size: change nothing: draws differ from slice to slice.
    Returns: the function of whole tensors. A call of it raises ShapeError for axes of different
      lengths or of length 0, OptionError if no argument has an axis.
    Source: PyTorch, `torch.func.vmap`.
    """

    def mapped(*args: object, **kwargs: object) -> Any:
        dims = in_dims if isinstance(in_dims, (tuple, list)) else [in_dims for _ in args]
        parts = [_spread(each, dim) for each, dim in zip(args, dims, strict=True)]
        lengths = {
            x.shape[dim] for leaves, along, _ in parts for x, dim in zip(leaves, along, strict=True)
            if dim is not None
        }  # fmt: skip
        if not lengths:
            raise OptionError("vmap: no argument has an axis to map over; in_dims has only None")
        if len(lengths) > 1:
            raise ShapeError(f"vmap: the mapped axes have {sorted(lengths)} elements")
        results = []
        for index in range(lengths.pop()):
            given = [
                unflatten(tree, [
                    x if dim is None else x[(*[slice(None)] * (dim % x.ndim), index)]
                    for x, dim in zip(leaves, along, strict=True)
                ])
                for leaves, along, tree in parts
            ]  # fmt: skip
            found, structure = flatten(func(*given, **kwargs))
            results.append(found)
        if not results:
            raise ShapeError("vmap: the mapped axis is empty")
        ends = [out_dims] * len(found) if isinstance(out_dims, int) else list(out_dims)
        stacked = [
            f.stack(list(each), axis=end) for each, end in zip(zip(*results, strict=True), ends,
                                                               strict=True)
        ]  # fmt: skip
        return unflatten(structure, stacked)

    return mapped


def _spread(value: object, dim: Dims) -> tuple[list[Tensor], list[int | None], Structure]:
    """The tensors of an argument, the axis of each, and their structure."""
    leaves, structure = flatten(value)
    return leaves, list(_along(value, dim)), structure


def _along(value: Any, dim: Dims) -> Iterator[int | None]:
    """The axis of each tensor of an argument, in the order of `flatten`."""
    if dim is None or isinstance(dim, int):
        yield from [dim] * len(flatten(value)[0])
    elif isinstance(dim, Mapping):
        for name in sorted(value):
            yield from _along(value[name], dim[name])
    else:
        for each, own in zip(value, dim, strict=True):
            yield from _along(each, own)


def _by(func: Function, args: Sequence[Any], argnums: int) -> Function:
    """The function of one of its arguments."""
    return lambda x: func(*args[:argnums], x, *args[argnums + 1 :])


def jacrev(func: Function, argnums: int = 0) -> Function:
    """A function that gives the derivatives of each element of func's result by each element of one
    argument, in reverse mode: an element of the result at a time.

    func: gives a tensor.
    argnums: the positional argument by which it is differentiated.
    Returns: a function of the same arguments, which gives a tensor in the shape of the result and
      then of the argument.
    Source: PyTorch, `torch.func.jacrev`.
    """

    def matrix(*args: Any) -> Tensor:
        result, pull = vjp(_by(func, args, argnums), args[argnums])
        rows = []
        for index in range(int(result.size)):
            unit = (f.arange(int(result.size)) == index).astype(result.dtype)
            (row,) = pull(f.reshape(unit, result.shape))
            rows.append(row)
        return f.reshape(f.stack(rows), (*result.shape, *args[argnums].shape))

    return matrix


def jacfwd(func: Function, argnums: int = 0) -> Function:
    """A function that gives the same derivatives as that of `jacrev`, in forward mode: an element
    of the argument at a time.

    func: gives a tensor.
    argnums: the positional argument by which it is differentiated.
    Returns: a function of the same arguments, which gives a tensor in the shape of the result and
      then of the argument.
    Source: PyTorch, `torch.func.jacfwd`.
    """

    def matrix(*args: Any) -> Tensor:
        x = args[argnums]
        columns = []
        for index in range(int(x.size)):
            unit = f.reshape((f.arange(int(x.size)) == index).astype(x.dtype), x.shape)
            result, column = jvp(_by(func, args, argnums), [x], [unit])
            columns.append(column)
        return f.reshape(f.stack(columns, axis=-1), (*result.shape, *x.shape))

    return matrix


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of a function, and its derivative there, a linear function.

    func: gives tensors, of the primals.
    primals: the arguments at which it is differentiated.
    Returns: (value, derivative); the derivative takes a tangent for each primal and gives that of
      the value, as `jvp`.
    Source: PyTorch, `torch.func.linearize`.
    """
    return func(*primals), lambda *tangents: jvp(func, primals, tangents)[1]


def hessian(func: Function, argnums: int = 0) -> Function:
    """A function that gives the second derivatives of a single number by one argument.

    func: gives a tensor without axes.
    argnums: the positional argument by which it is differentiated.
    Returns: a function of the same arguments, which gives a tensor with the shape of the argument
      twice.
    Source: PyTorch, `torch.func.hessian`.
    """
    return jacrev(jacrev(func, argnums), argnums)


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters of modules of one kind, and their buffers, each stacked along a new first
    axis, for `vmap` of `functional_call`.

    models: the modules, one or more.
    Returns: (parameters, buffers), both dicts by path.
    Raises: OptionError for no modules.
    Source: PyTorch, `torch.func.stack_module_state`.
    """
    if not models:
        raise OptionError("stack_module_state: no modules")

    def stacked(tables: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        return {
            name: f.stack([table[name] for table in tables]).detach().requires_grad_(
                tables[0][name].requires_grad
            )
            for name in tables[0]
        }  # fmt: skip

    return (
        stacked([dict(each.named_parameters()) for each in models]),
        stacked([dict(each.named_buffers()) for each in models]),
    )
