"""`Metric`: a measure that adds up over batches, with torchmetrics' interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..core import context
from ..errors import MissingError, OptionError
from ..grad_mode import no_grad
from ..nn import Module
from ..runtime.variable import Variable, assign_together
from ..tensor import Tensor, asarray, realize_now


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
        with context.trace.override(None):  # a new buffer is nothing that a traced function reads
            self.register_buffer(name, self._defaults[name], persistent=False)

    def __setattr__(self, name: str, value: object) -> None:
        state = self.__dict__.get("_buffers", {}).get(name)
        if isinstance(state, Variable) and isinstance(value, Tensor):
            if value is not state:
                state.assign(value.astype(state.dtype))
                self._took_a_batch()
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
        own = self.__dict__
        own["_batches"] = own.get("_compiled", False)

    def _took_a_batch(self) -> None:
        """Notes that there is a value. A compiled function runs again without this, so that from
        then on a metric never counts as empty."""
        own = self.__dict__  # not an attribute that a traced function depends on
        own["_batches"] = True
        own["_compiled"] = own.get("_compiled", False) or bool(context.trace.get())

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


class Summed(Metric):
    """The base of metrics whose states are sums over batches, or collect what batches gave.

    A subclass adds its states, and defines `of_batch`, what a batch adds to each of them, and
    `of_states`, the value of them. So the value of one batch needs no state: `once`.
    """

    def of_batch(self, *args: Any, **kwargs: Any) -> Sequence[Tensor]:
        """What a batch adds to each state, in the order of `add_state`."""
        raise MissingError(f"{type(self).__name__} does not define of_batch()")

    def of_states(self, *states: Tensor) -> Any:
        """The value of states; of those that are lists, joined along the first axis."""
        raise MissingError(f"{type(self).__name__} does not define of_states()")

    def combine(self, states: Sequence[Tensor], parts: Sequence[Tensor]) -> Sequence[Tensor]:
        """States, with a batch's part of each: their sums."""
        return [state + part for state, part in zip(states, parts, strict=True)]

    def once(self, *args: Any, **kwargs: Any) -> Any:
        """The value of one batch alone, whose gradient can be taken where it has one."""
        return self.of_states(*self.of_batch(*args, **kwargs))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Takes a batch into account."""
        with no_grad():
            self._add(self.of_batch(*args, **kwargs))

    def compute(self) -> Any:
        """The value over all batches since `reset`. Raises OptionError if there was none."""
        if not self.__dict__.get("_batches"):
            raise OptionError(
                f"{type(self).__name__}.compute(): update() was given no batch since the metric "
                "was made or reset"
            )
        with no_grad():
            states = [self._now(name) for name in self._defaults]
            return self.of_states(*(f.concat(x) if isinstance(x, list) else x for x in states))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The value of one batch, which is also taken into account."""
        with no_grad():
            parts = self.of_batch(*args, **kwargs)
            self._add(parts)
            return self.of_states(*parts)

    def _add(self, parts: Sequence[Tensor]) -> None:
        if self.collects:
            realize_now(list(parts))  # or else a list would keep what they are computed from
        with context.trace.override(None):  # the first batch says how many outputs there are
            for name, part in zip(list(self._defaults), parts, strict=True):
                state = getattr(self, name)
                if part.shape and isinstance(state, Variable) and not state.shape:
                    self.add_state(name, f.zeros(part.shape, dtype=state.dtype))
        summed: list[tuple[Variable, Tensor]] = []
        for name, part in zip(self._defaults, parts, strict=True):
            state = getattr(self, name)
            if isinstance(state, list):
                state.append(part)
            else:
                summed.append((state, part))
        if summed:
            news = self.combine([Tensor(each.node) for each, _ in summed], [p for _, p in summed])
            assign_together(
                [(v, new.astype(v.dtype)) for (v, _), new in zip(summed, news, strict=True)]
            )
        self._took_a_batch()
