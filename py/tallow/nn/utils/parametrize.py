"""torch.nn.utils.parametrize: parameters that are computed from others, by modules.

The module becomes one of a class of its own, in which the parameter's name is a property that
computes it: in every call again, under `@tl.jit` too. What it is computed from stands in
`module.parametrizations`, so that names in a `state_dict` are those of PyTorch, such as
"parametrizations.weight.original".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...errors import OptionError, ShapeError
from ...grad_mode import no_grad
from ...tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Buffer, Parameter


class ParametrizationList(ModuleList):
    """The modules that compute one parameter, one after the other, and what they begin with:
    `original`, or `original0`, `original1` and so on if the first begins with several."""

    def __init__(self, modules: list[Module], original: Tensor | Sequence[Tensor]) -> None:
        super().__init__(modules)
        self.originals = ["original"]
        values = [original] if isinstance(original, Tensor) else list(original)
        if not isinstance(original, Tensor):
            self.originals = [f"original{n}" for n in range(len(original))]
        for name, value in zip(self.originals, values, strict=True):
            kept = isinstance(value, (Parameter, Buffer))
            setattr(self, name, value if kept else Parameter(value.detach()))

    def forward(self) -> Tensor:
        """The parameter, computed."""
        value: Tensor = self[0](*(getattr(self, name) for name in self.originals))
        for module in list(self)[1:]:
            value = module(value)
        return value

    def right_inverse(self, value: Tensor) -> None:
        """Assigns what the value would be computed from."""
        with no_grad():
            found: object = value
            for module in reversed(list(self)):
                found = _backwards(module, found)
            parts = found if isinstance(found, (tuple, list)) else [found]
            for name, part in zip(self.originals, parts, strict=True):
                getattr(self, name).assign(part)


def _backwards(module: Module, value: object) -> Any:
    """What a module computes a value from: the value itself, unless it says otherwise."""
    inverse = getattr(module, "right_inverse", None)
    return value if inverse is None else inverse(value)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Computes a parameter or a buffer of a module from now on by another module, a
    parametrization.

    It begins with what the parametrization's `right_inverse`, if it has one, gives of the present
    value. A second parametrization computes from the result of the first.

    module: the module that has the parameter or buffer.
    tensor_name: the name of the parameter or buffer.
    parametrization: the module that computes it.
    unsafe: allows another shape or element type.
    Returns: the module itself.
    Raises: OptionError if there is no such tensor, ShapeError for another shape or type.
    Source: PyTorch, `torch.nn.utils.parametrize.register_parametrization`.
    """
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        with no_grad():
            before = getattr(module, tensor_name).detach()
            held.append(parametrization)
            held.right_inverse(before)
        _check(module, tensor_name, before, unsafe)
        return module
    table = module._parameters if tensor_name in module._parameters else module._buffers
    value = table.get(tensor_name)
    if value is None:
        raise OptionError(
            f"register_parametrization: {type(module).__name__} has no parameter or buffer "
            f"{tensor_name!r}"
        )
    with no_grad():
        try:
            original = _backwards(parametrization, value)
        except NotImplementedError:  # as in PyTorch: what there was is computed with
            original = value
        if original is not value and isinstance(original, Tensor):
            value.assign(original)
            original = value
    made = ParametrizationList([parametrization], original)
    if not is_parametrized(module):
        module.parametrizations = ModuleDict()
    before = value.detach()
    delattr(module, tensor_name)
    module.parametrizations[tensor_name] = made
    give_property(module, tensor_name, _computed(tensor_name), _assigned(tensor_name))
    _check(module, tensor_name, before, unsafe)
    return module


def _computed(name: str) -> Callable[[Any], Tensor]:
    return lambda module: module.parametrizations[name]()


def _assigned(name: str) -> Callable[[Any, Tensor], None]:
    return lambda module, value: module.parametrizations[name].right_inverse(value)


def _check(module: Module, name: str, before: Tensor, unsafe: bool) -> None:
    with no_grad():
        after = getattr(module, name)
    if not unsafe and (after.shape, after.dtype) != (before.shape, before.dtype):
        remove_parametrizations(module, name, leave_parametrized=False)
        raise ShapeError(
            f"register_parametrization: {name} {before.dtype.name} {before.shape} would become "
            f"{after.dtype.name} {after.shape}; unsafe=True allows that"
        )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether some parameter of a module, or the one of a name, is computed from others.

    module: the module.
    tensor_name: the name of the parameter; None asks for any.
    Returns: True or False.
    Source: PyTorch, `torch.nn.utils.parametrize.is_parametrized`.
    """
    held = module._modules.get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Ends what `register_parametrization` began: the tensor is a parameter or buffer again.

    module: the module that has the parameter or buffer.
    tensor_name: the name of the parameter or buffer.
    leave_parametrized: it keeps its present value; otherwise it gets the one that it is computed
      from.
    Returns: the module itself.
    Raises: OptionError if it is not computed, or is computed from several and would be left as it
      was.
    Source: PyTorch, `torch.nn.utils.parametrize.remove_parametrizations`.
    """
    if not is_parametrized(module, tensor_name):
        raise OptionError(
            f"remove_parametrizations: {tensor_name!r} of {type(module).__name__} is not "
            "parametrized"
        )
    held = module.parametrizations[tensor_name]
    if not leave_parametrized and len(held.originals) > 1:
        raise OptionError(
            f"remove_parametrizations: {tensor_name!r} is computed from {held.originals}; there is "
            "no value to leave but the present one"
        )
    original = getattr(held, held.originals[0])
    with no_grad():
        value = getattr(module, tensor_name) if leave_parametrized else original
        if len(held.originals) > 1:
            original = Parameter(value.detach())
        elif leave_parametrized:
            original.assign(value)
    take_property(module, tensor_name)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module.parametrizations
    setattr(module, tensor_name, original)
    return module


@contextmanager
def cached() -> Iterator[None]:
    """Changes nothing: within it, PyTorch computes a parameter once."""
    yield


def type_before_parametrizations(module: Module) -> type:
    """The class of a module, without the properties that it has been given."""
    kind = type(module)
    return kind.__bases__[0] if "_computed_names" in kind.__dict__ else kind


def give_property(
    module: Module,
    name: str,
    get: Callable[[Any], Tensor],
    put: Callable[[Any, Tensor], None] | None = None,
) -> None:
    """Gives one module an attribute that is computed whenever it is asked for."""
    kind = type(module)
    if "_computed_names" not in kind.__dict__:
        kind = type(f"Parametrized{kind.__name__}", (kind,), {"_computed_names": set()})
        module.__class__ = kind
    setattr(kind, name, property(get, put))
    kind._computed_names.add(name)  # type: ignore[attr-defined]


def take_property(module: Module, name: str) -> None:
    """Ends what `give_property` began."""
    kind = type(module)
    delattr(kind, name)
    names: set[str] = kind.__dict__["_computed_names"]
    names.discard(name)
    if not names:
        module.__class__ = kind.__bases__[0]
