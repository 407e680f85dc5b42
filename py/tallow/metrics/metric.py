"""`Metric`: a measure that adds up over batches, with torchmetrics' interface."""

from __future__ import annotations

from typing import Any

from ..errors import MissingError, OptionError
from ..grad_mode import no_grad
from ..nn import Module
from ..runtime.variable import Variable
from ..tensor import Tensor, asarray


class Metric(Module):
    """The base of all metrics. A subclass adds its states with `add_state` and defines `update`,
    which changes them by a batch, and `compute`, which makes the value of them.

    States are buffers that stay on the device. So `update` may be part of a function under
    `@tl.jit`, and nothing is read until someone reads what `compute` returns. A state that begins
    as an empty list collects tensors instead; `update` then runs outside of such functions.

    Source: torchmetrics, `Metric`, for the interface.
    """

    higher_is_better: bool | None = None
    """Whether a larger value is a better one; None where neither is."""

    def __init__(self) -> None:
        super().__init__()
        self._defaults: dict[str, Tensor | None] = {}  # None: an empty list
        self.collects = False
        """Whether a state is a list, so that `update` cannot be part of a compiled function."""

    def add_state(self, name: str, default: Tensor | list[Any], dist_reduce_fx: Any = None) -> None:
        """Adds a state, an attribute that `reset` sets back.

        name: the attribute.
        default: what it begins as: a tensor, or an empty list.
        dist_reduce_fx: how several processes join theirs, "sum" or "cat"; not used in one process.
        Raises: OptionError for a list that is not empty.
        """
        if isinstance(default, list):
            if default:
                raise OptionError(f"add_state: {name!r} begins as an empty list, or as a tensor")
            self._defaults[name], self.collects = None, True
            setattr(self, name, [])
            return
        self._defaults[name] = asarray(default).detach()
        self.register_buffer(name, self._defaults[name], persistent=False)

    def __setattr__(self, name: str, value: object) -> None:
        state = self.__dict__.get("_buffers", {}).get(name)
        if isinstance(state, Variable) and isinstance(value, Tensor):
            if value is not state:
                state.assign(value.astype(state.dtype))
        else:
            super().__setattr__(name, value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Takes a batch into account; every subclass defines it."""
        raise MissingError(f"{type(self).__name__} does not define update()")

    def compute(self) -> Any:
        """The value over all batches since `reset`, a tensor; every subclass defines it."""
        raise MissingError(f"{type(self).__name__} does not define compute()")

    def reset(self) -> None:
        """Forgets all batches."""
        for name, default in self._defaults.items():
            setattr(self, name, [] if default is None else default)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The value of one batch, which is also taken into account.

        args, kwargs: what `update` takes.
        Returns: what `compute` would return for this batch alone.
        """
        with no_grad():
            states = {name: self._now(name) for name in self._defaults}
            self.reset()
            self.update(*args, **kwargs)
            value = self.compute()
            self.reset()
            for name, state in states.items():
                setattr(self, name, state)
            self.update(*args, **kwargs)
        return value

    def _now(self, name: str) -> Any:
        state = getattr(self, name)
        return list(state) if isinstance(state, list) else Tensor(state.node).detach()
