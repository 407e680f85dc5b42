"""`Module`: layers with parameters, which hold other layers; the interface is PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Self

from ..core import context
from ..core.hooks import RemovableHandle, WithKeywords, hooked
from ..errors import (
    ArgumentError,
    DTypeError,
    MissingError,
    ModuleNameError,
    OptionError,
    ShapeError,
    TallowError,
    TracingError,
    UnreadyError,
    line_of_user,
)
from ..facts import MISSING, Fact, Same, Table, reads, wrote
from ..functions import zeros_like
from ..grad_mode import is_grad_enabled
from ..runtime.variable import Variable
from ..tensor import asarray
from .conversions import HasConversions
from .hooks import WatchedCall
from .parameter import Buffer, Parameter
from .state import HasState, StateHooks


@reads.watch
class Module(HasState, HasConversions):
    """The base of all layers and networks.

    A subclass calls `super().__init__()`, assigns parameters (`Parameter`) and modules to
    attributes, and defines `forward`. Calling the module calls `forward` and its hooks.

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 2)

            def forward(self, x):
                return self.linear(x).relu()
    """

    training = Fact[bool]()
    _parameters: Table[str, Parameter | None]
    _buffers: Table[str, Variable | None]
    _modules: Table[str, Module | None]

    def __init__(self) -> None:
        own, kind = self.__dict__, type(self).__name__
        own["training"] = True
        for name in _TABLES:
            own[name] = Table(kind, name)
        own["_non_persistent"] = set()
        own["_state_hooks"] = StateHooks({}, {}, {}, {})

    def fact_identity(self) -> Hashable:
        """A module is compared by which one it is; what is read of it is noted by itself."""
        return Same(self)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass defines it."""
        raise MissingError(f"{type(self).__name__} does not define forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if reads.installed and context.trace.get() is None:
            reads.called()
        own = self.__dict__
        before, after = own["_forward_pre_hooks"], own["_forward_hooks"]
        for hook in list(before.values()) if before else ():
            if isinstance(hook, WithKeywords):
                changed = hook.hook(self, args, kwargs)
                args, kwargs = (args, kwargs) if changed is None else changed
                continue
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        watched = None
        if (self._backward_hooks or self._backward_pre_hooks) and is_grad_enabled():
            watched = WatchedCall(self, self._backward_pre_hooks, self._backward_hooks)
            args = watched.inputs(args)
        try:
            result = self.forward(*args, **kwargs)
        except (ShapeError, DTypeError) as error:
            self._name_layer(error)
            raise
        for hook in list(after.values()) if after else ():
            if isinstance(hook, WithKeywords):
                changed = hook.hook(self, args, kwargs, result)
            else:
                changed = hook(self, args, result)
            result = result if changed is None else changed
        return result if watched is None else watched.outputs(result)

    def _name_layer(self, error: ShapeError | DTypeError) -> None:
        """The message of an error begins with the layer that raised it, whose path grows on the way
        out to the network: "encoder.layers.0.linear1 (Linear): ..."."""
        if "raised_by" not in error.__dict__:
            error.add_note(f"in {type(self).__name__}({self.extra_repr()})")
        layer, said = error.__dict__.setdefault("raised_by", (self, str(error)))
        for path, module in self.named_modules():
            if module is layer:
                kind = type(layer).__name__
                error.args = (f"{path} ({kind}): {said}" if path else f"{kind}: {said}",)
                return

    # ---- attributes ----------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> None:
        tables = self.__dict__
        if "_modules" not in tables:
            if isinstance(value, (Parameter, Buffer, Module)):
                raise UnreadyError(f"{type(self).__name__}: call super().__init__() first")
            object.__setattr__(self, name, value)
            return
        parameters, buffers, modules = self._parameters, self._buffers, self._modules
        has = dict.__contains__  # a look that is not noted: what is set is no condition
        if isinstance(value, Parameter):
            _forget(name, tables, buffers, modules)
            parameters[name] = value
        elif isinstance(value, Module):
            _forget(name, tables, parameters, buffers)
            modules[name] = value
        elif has(buffers, name) and dict.get(buffers, name) is value:
            pass  # changed in place: m.count += 1
        elif isinstance(value, Buffer):
            _forget(name, tables, parameters, modules)
            buffers[name] = value
            persistent = getattr(value, "persistent", True)
            (self._non_persistent.discard if persistent else self._non_persistent.add)(name)
        elif has(parameters, name):
            if value is not None:
                raise TallowError(
                    f"{type(self).__name__}.{name} is a parameter; assign a Parameter or None, or "
                    "change its value with .assign(...)"
                )
            parameters[name] = None
        elif has(modules, name):
            if value is not None:
                raise TallowError(f"{type(self).__name__}.{name} is a module; assign another one")
            modules[name] = None
        elif has(buffers, name):
            if not (value is None or isinstance(value, Variable)):
                value = self._another_buffer(name, value)
            buffers[name] = value
        else:
            before = tables.get(name, MISSING)
            object.__setattr__(self, name, value)
            if before is not value:
                wrote(self, name)

    def _another_buffer(self, name: str, value: object) -> Buffer:
        """A buffer of a value that is assigned to an attribute; gradients pass it. Raises
        TracingError under `@tl.jit`, where what is a state must stay the same one."""
        if context.trace.get():
            raise TracingError(
                f"{line_of_user()}: {type(self).__name__}.{name} is a buffer; under @tl.jit change "
                f"it in place, {name}.copy_(value)"
            )
        made = Buffer(value)
        made.track(asarray(value))
        return made

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table)
            if found is not None and dict.__contains__(found, name):
                return found[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)
        wrote(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter under a name; None reserves the name, as for a layer without a bias.
        Raises ArgumentError for what is no parameter."""
        _check_name(self, name)
        if param is not None and not isinstance(param, Variable):
            raise ArgumentError(
                f"register_parameter: {name!r} is {type(param).__name__}, not an nn.Parameter"
            )
        self.__dict__.pop(name, None)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: object, persistent: bool = True) -> None:
        """Adds a buffer: a tensor that is saved with the module and not trained. persistent:
        whether it belongs to the `state_dict`."""
        _check_name(self, name)
        if not (tensor is None or isinstance(tensor, Variable)):
            tensor = Buffer(tensor)
        self._buffers[name] = tensor
        (self._non_persistent.discard if persistent else self._non_persistent.add)(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Adds a module within this one under a name: another name of `add_module`."""
        _check_name(self, name)
        self._modules[name] = module

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a module under a name."""
        self.register_module(name, module)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """hook(module, args) is called before `forward`, and may give other arguments. with_kwargs:
        hook(module, args, kwargs), which may give both. prepend: before the existing hooks."""
        given = WithKeywords(hook) if with_kwargs else hook
        return hooked(self._forward_pre_hooks, given, prepend=prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """hook(module, args, output) is called after `forward`, and may give another output.
        with_kwargs: hook(module, args, kwargs, output). prepend: before the existing hooks."""
        given = WithKeywords(hook) if with_kwargs else hook
        return hooked(self._forward_hooks, given, prepend=prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """hook(module, grad_output) is called when the gradients of the result are known, a tuple,
        and may give others. prepend: before the existing hooks."""
        return hooked(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """hook(module, grad_input, grad_output) is called when the gradients of the positional
        arguments are known, and may give others. Both are tuples, with None for what is no floating
        tensor; if no argument requires a gradient, grad_input has only None. prepend: before the
        existing hooks."""
        return hooked(self._backward_hooks, hook, prepend=prepend)

    # ---- what it holds -------------------------------------------------------------------------

    def named_modules(
        self, memo: set[int] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """The module and all within it, each with its path."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """The module and all within it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly within it, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly within it."""
        for _, module in self.named_children():
            yield module

    def _named(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules if recurse else [(prefix, self)]:
            for name, value in getattr(module, table).items():
                if value is None or (remove_duplicate and id(value) in seen):
                    continue
                seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with their paths, such as "0.weight"; tied ones once."""
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters; tied ones once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Variable]]:
        """All buffers with their paths."""
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Variable]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as "layers.0.norm". Raises AttributeError if there is none."""
        found: Module = self
        for name in target.split(".") if target else ():
            module = found._modules.get(name)
            if module is None:
                raise AttributeError(f"{type(self).__name__} has no module {target!r}")
            found = module
        return found

    def set_submodule(self, target: str, module: Module) -> None:
        """Puts a module at a path such as "layers.0.norm". Raises AttributeError if what is to hold
        it is not there."""
        path, _, name = target.rpartition(".")
        if not name:
            raise AttributeError(f"set_submodule: {target!r} names no module within this one")
        setattr(self.get_submodule(path), name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._parameters.get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no parameter {target!r}")
        return found

    def get_buffer(self, target: str) -> Variable:
        """The buffer at a path. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._buffers.get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no buffer {target!r}")
        return found

    # ---- modes and changes ---------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Sets the mode of the module and all within it: dropout and batch norm act differently
        while training."""
        if not isinstance(mode, bool):
            raise OptionError(f"train: the mode must be True or False, not {mode!r}")
        object.__setattr__(self, "training", mode)
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Ends the training mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Whether its parameters are trained: False freezes them."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients of its parameters; with set_to_none False they become 0."""
        for parameter in self.parameters():
            forgotten = set_to_none or parameter.grad is None
            parameter.grad = None if forgotten else zeros_like(parameter)

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls a function with every module within it, and at last with itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- as text -------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The settings that stand in the module's text."""
        return ""

    def _get_name(self) -> str:
        """The name of its class."""
        return type(self).__name__

    def __repr__(self) -> str:
        inner = [f"({name}): {module!r}" for name, module in self._modules.items()]
        if not inner:
            return f"{type(self).__name__}({self.extra_repr()})"
        lines = ([self.extra_repr()] if self.extra_repr() else []) + inner
        indented = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {indented}\n)"


_TABLES = (
    "_parameters", "_buffers", "_modules", "_forward_pre_hooks", "_forward_hooks",
    "_backward_pre_hooks", "_backward_hooks",
)  # fmt: skip


def _forget(name: str, *tables: dict[str, Any]) -> None:
    for table in tables:
        table.pop(name, None)


def _check_name(module: Module, name: str) -> None:
    if not name or "." in name:
        raise ModuleNameError(f"a name in a module has no dots and is not empty: {name!r}")
    if hasattr(module, name) and name not in {
        **module._parameters,
        **module._buffers,
        **module._modules,
    }:
        raise ModuleNameError(f"{type(module).__name__} already has an attribute {name!r}")
