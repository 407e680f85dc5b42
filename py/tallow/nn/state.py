"""`HasState`: the part of `Module` that gives its state by name and takes it back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..core.context import pytorch
from ..core.hooks import RemovableHandle, hooked
from ..errors import TallowError
from ..runtime.variable import Variable
from ..tensor import Tensor, asarray

_EXTRA = "_extra_state"
"""What the state that `get_extra_state` gives is named, behind the path of its module."""


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` found missing in what it was given, and what it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class StateHooks(NamedTuple):
    """What is called before and after a state is given or taken, by the handles' numbers."""

    before_saving: dict[int, Callable[..., Any]]
    after_saving: dict[int, Callable[..., Any]]
    before_loading: dict[int, Callable[..., Any]]
    after_loading: dict[int, Callable[..., Any]]


class HasState:
    """Methods of `Module`, which has the tables."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Variable | None]
    _modules: dict[str, Any]
    _non_persistent: set[str]
    _state_hooks: StateHooks

    def named_modules(self, *, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        """The module and all within it, each with its path; `Module` has it."""
        raise NotImplementedError

    def _own_state(self) -> Iterator[tuple[str, Variable]]:
        """Its own parameters and persistent buffers."""
        for table, left_out in ((self._parameters, ()), (self._buffers, self._non_persistent)):
            for name, value in table.items():
                if value is not None and name not in left_out:
                    yield name, value

    def _paths(self) -> list[tuple[str, Any]]:
        """The module and all within it, tied ones under each of their names: what the names of
        their states begin with, and the module."""
        found = self.named_modules(remove_duplicate=False)
        return [(f"{path}." if path else "", module) for path, module in found]

    def state_dict(
        self,
        prefix: str = "",
        *,
        keep_vars: bool = False,
        destination: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The values of all parameters and persistent buffers by path, as they are now: later
        changes of the module do not change them. With PyTorch's habits (`tallow.torch`) they do,
        and a value that is changed in place changes the module. keep_vars: the parameters and
        buffers themselves instead. destination: what they are added to."""
        state: dict[str, Any] = OrderedDict() if destination is None else destination
        shared = pytorch.get()
        paths = [(prefix + start, module) for start, module in self._paths()]
        for start, module in paths:
            for hook in list(module._state_hooks.before_saving.values()):
                hook(module, start, keep_vars)
            for name, value in module._own_state():
                if not keep_vars:  # to keep a variable does not compute its value
                    value = (value if shared else Tensor(value.node)).detach()
                state[start + name] = value
            if type(module).get_extra_state is not HasState.get_extra_state:
                state[start + _EXTRA] = module.get_extra_state()
        for start, module in reversed(paths):
            for hook in list(module._state_hooks.after_saving.values()):
                hook(module, state, start, {})
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Loads the values of a `state_dict`, tensors or arrays, into parameters and buffers.

        strict: every path must be there, and no other. Nothing is changed if something does not
        fit: TallowError then lists all that is missing, unexpected, or of another shape. assign:
        changes nothing.
        """
        state, paths = dict(state_dict), self._paths()
        missing: list[str] = []
        unexpected: list[str] = []
        problems: list[str] = []
        for start, module in paths:
            for hook in list(module._state_hooks.before_loading.values()):
                hook(module, state, start, {}, strict, missing, unexpected, problems)
            module._load_from_state_dict(state, start, {}, strict, missing, unexpected, problems)
        own = {start + name: v for start, module in paths for name, v in module._own_state()}
        extra = {
            start + _EXTRA: module
            for start, module in paths
            if type(module).set_extra_state is not HasState.set_extra_state
        }
        # Files from before PyTorch 1.0 lack these counts, and so do many converted ones.
        counts = [name for name in own if name.endswith("num_batches_tracked")]
        missing += [name for name in (*own, *extra) if name not in state and name not in counts]
        unexpected += [name for name in state if name not in own and name not in extra]
        given = {name: asarray(state[name]) for name in own if name in state}
        problems += [
            f"{name}: has the shape {own[name].shape}, given {value.shape}"
            for name, value in given.items()
            if value.shape != own[name].shape
        ]
        if strict:
            problems += [f"{name}: missing" for name in missing]
            problems += [f"{name}: unexpected" for name in unexpected]
        if problems:
            lines = "\n  ".join(problems)
            name = type(self).__name__
            raise TallowError(f"Error(s) in loading state_dict for {name}:\n  {lines}")
        for name, value in given.items():
            own[name].assign(value.astype(own[name].dtype).detach())
        for name in extra.keys() & state.keys():
            extra[name].set_extra_state(state[name])
        found = IncompatibleKeys(missing, unexpected)
        for _, module in reversed(paths):
            for hook in list(module._state_hooks.after_loading.values()):
                hook(module, found)
        return found

    def get_extra_state(self) -> Any:
        """What a subclass adds to its `state_dict`, under "_extra_state"; it defines
        `set_extra_state` too."""
        raise TallowError(f"{type(self).__name__} does not define get_extra_state()")

    def set_extra_state(self, state: object) -> None:
        """Takes back what `get_extra_state` gave."""
        raise TallowError(f"{type(self).__name__} does not define set_extra_state()")

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, prefix, keep_vars) is called before `state_dict` reads the module."""
        return hooked(self._state_hooks.before_saving, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, state_dict, prefix, local_metadata) is called when `state_dict` has read the
        module and those within it, and may change the state. local_metadata is empty."""
        return hooked(self._state_hooks.after_saving, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs) is called before `load_state_dict` looks at the state, a copy, and may change
        it: rename what older files name otherwise."""
        return hooked(self._state_hooks.before_loading, hook)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Is called before the module's values are read from a state, which may be changed. Modules
        of PyTorch's users override it; here it changes nothing."""

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """As `register_load_state_dict_pre_hook`, of a hook that is not given the module."""
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return self.register_load_state_dict_pre_hook(lambda module, *given: hook(*given))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The older name of `register_state_dict_post_hook`."""
        return self.register_state_dict_post_hook(hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """hook(module, incompatible_keys) is called when `load_state_dict` has given the values."""
        return hooked(self._state_hooks.after_loading, hook)
