"""Hooks of optimisers: functions that users register, called around steps and around saving."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..core.hooks import RemovableHandle, hooked
from ..errors import OptionError
from ..facts import Table

Hook = Callable[..., Any]


class Hooked:
    """What an optimiser has of hooks. A step under `@tl.jit` calls them while it is traced; it is
    traced again when there are others."""

    _stepping = False

    def __init__(self) -> None:
        self._step_pre_hooks: Table[int, Hook] = Table(type(self).__name__, "hooks before steps")
        self._step_post_hooks: Table[int, Hook] = Table(type(self).__name__, "hooks after steps")
        self._state_dict_pre_hooks: dict[int, Hook] = {}
        self._state_dict_post_hooks: dict[int, Hook] = {}
        self._load_state_dict_pre_hooks: dict[int, Hook] = {}
        self._load_state_dict_post_hooks: dict[int, Hook] = {}

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            cls.step = _with_hooks(vars(cls)["step"])  # type: ignore[attr-defined]

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """hook(optimizer, args, kwargs) is called before each step with all its arguments, the
        optimiser among them, and may give others, (args, kwargs)."""
        return hooked(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """hook(optimizer, args, kwargs) is called after each step."""
        return hooked(self._step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """hook(optimizer) is called before `state_dict`. prepend: before those that there are."""
        return hooked(self._state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """hook(optimizer, state_dict) is called after `state_dict`, and may give another one.
        prepend: before those that there are."""
        return hooked(self._state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """hook(optimizer, state_dict) is called before `load_state_dict` with a shallow copy of
        what is given, and may give another one. prepend: before those that there are."""
        return hooked(self._load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """hook(optimizer) is called after `load_state_dict`. prepend: before those that there
        are."""
        return hooked(self._load_state_dict_post_hooks, hook, prepend=prepend)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A method `step` that calls the hooks around it; one that calls that of its base calls them
    once. OptionError if a hook before it gives something else than (args, kwargs)."""

    @wraps(step)
    def hooked_step(self: Hooked, *args: object, **kwargs: object) -> Any:
        hooked_around = bool(self._step_pre_hooks) | bool(self._step_post_hooks)
        if self._stepping or not hooked_around:
            return step(self, *args, **kwargs)
        args = (self, *args)
        for hook in list(self._step_pre_hooks.values()):
            given = hook(self, args, kwargs)
            if given is None:
                continue
            if not isinstance(given, tuple) or len(given) != 2:
                raise OptionError(
                    f"{type(self).__name__}: a hook before steps gives None or (args, kwargs), "
                    f"not {given!r:.80}"
                )
            args, kwargs = given
        self._stepping = True
        try:
            result = step(*args, **kwargs)
        finally:
            self._stepping = False
        for hook in list(self._step_post_hooks.values()):
            hook(self, args, kwargs)
        return result

    return hooked_step
