"""torch.func's names: transforms of functions, and modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .autodiff.everything import grad, jvp, value_and_grad, vjp
from .errors import OptionError
from .facts import Table
from .nn.module import Module

__all__ = ["functional_call", "grad", "grad_and_value", "jvp", "vjp"]

State = Mapping[str, Any]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: State | Sequence[State],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What a module gives with these tensors in place of its parameters and buffers, by path;
    gradients go to them. args: one argument, or a tuple of them.

    tie_weights: what is given for a parameter also stands for its other names. strict: a tensor for
    each of its parameters and buffers. Raises OptionError for a name that the module does not have,
    and for those that strict misses.
    """
    dicts = parameter_and_buffer_dicts
    given: dict[str, Any] = {}
    for state in [dicts] if isinstance(dicts, Mapping) else dicts:
        given |= state
    places = list(_places(module))
    own = {path: table[name] for path, table, name in places}
    unknown, missing = given.keys() - own.keys(), own.keys() - given.keys()
    if unknown or (strict and missing):
        words = [f"has no {', '.join(sorted(unknown))}"] if unknown else []
        words += [f"also has {', '.join(sorted(missing))}"] if strict and missing else []
        raise OptionError(f"functional_call: {type(module).__name__} {' and '.join(words)}")
    tied = {id(own[path]): value for path, value in given.items()} if tie_weights else {}
    arguments = args if isinstance(args, tuple) else (args,)
    try:
        for path, table, name in places:
            table.lend(name, given.get(path, tied.get(id(own[path]), own[path])))
        return module(*arguments, **(kwargs or {}))
    finally:
        for path, table, name in places:
            table.lend(name, own[path])


def _places(module: Module) -> Iterator[tuple[str, Table[str, Any], str]]:
    """The parameters and buffers of a module and all within it: path, table, name in it."""
    for path, each in module.named_modules(remove_duplicate=False):
        for table in (each._parameters, each._buffers):
            for name, value in list(table.items()):
                if value is not None:
                    yield f"{path}.{name}" if path else name, table, name


def grad_and_value(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """As `tl.value_and_grad`, with the gradient first."""
    both = value_and_grad(func, argnums, has_aux=has_aux)

    def turned(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    return turned
