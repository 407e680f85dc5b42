"""Settings of `torch`: seeds, default types and devices, and switches that change nothing here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .. import random
from ..core import context
from ..core.device_name import DeviceName, placed_on
from ..core.dtype import DType, as_dtype, default_floating
from ..errors import DTypeError
from ..random import Generator
from ..runtime import device as devices

F = TypeVar("F", bound=Callable[..., Any])


class _Default(Generator):
    """The generator that `manual_seed` begins: the process's."""

    def manual_seed(self, seed: int) -> _Default:
        """Starts the random numbers again."""
        random.manual_seed(int(seed))
        self._seed = int(seed)
        return self

    def seed(self) -> int:
        """A seed from the system; the state it begins with."""
        self._seed = 0
        return 0


default_generator = _Default()


def manual_seed(seed: int) -> Generator:
    """Starts the random numbers again, equal for equal seeds. They are not PyTorch's numbers."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Begins again with a seed from the system, and gives that."""
    return manual_seed(Generator().initial_seed()).initial_seed()


def initial_seed() -> int:
    """What random numbers began with."""
    return default_generator.initial_seed()


def get_rng_state() -> random.State:
    """The state of random numbers, for `set_rng_state`."""
    return random.state()


def set_rng_state(new_state: random.State) -> None:
    """Sets the state from which random numbers go on."""
    random.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: object = None, enabled: bool = True, **options: object) -> Iterator[None]:
    """Within it, random numbers are drawn that do not count outside."""
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)


def set_default_dtype(d: DType) -> None:
    """The type of floating numbers that are given none. Raises DTypeError for another kind."""
    kind = as_dtype(d)
    if not kind.is_floating:
        raise DTypeError(f"set_default_dtype: {kind.name} is not a floating type")
    context.floating.set(kind)


def get_default_dtype() -> DType:
    """The type of floating numbers that are given none."""
    return default_floating()


def set_default_tensor_type(t: object) -> None:
    """The type of new floating tensors, by a type of tensors or its name: torch.FloatTensor.
    Raises DTypeError for a type that is not floating."""
    set_default_dtype(as_dtype(t))


def set_default_device(device: str | None) -> None:
    """The device of new tensors; None leaves the choice to Tallow."""
    devices.set_default_device(device)


def get_default_device() -> DeviceName:
    """The device of new tensors."""
    return placed_on(devices.default_device())


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Changes nothing: results are the same each time."""


def are_deterministic_algorithms_enabled() -> bool:
    """True: results are the same each time."""
    return True


def set_flush_denormal(mode: bool) -> bool:
    """False: this is not supported."""
    return False


def set_num_interop_threads(num: int) -> None:
    """Changes nothing."""


def get_num_interop_threads() -> int:
    """1."""
    return 1


def set_warn_always(b: bool) -> None:
    """Changes nothing."""


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Changes nothing; `tallow.debug_nans(True)` names the op that made a NaN."""


def is_anomaly_enabled() -> bool:
    """False."""
    return False


def is_inference_mode_enabled() -> bool:
    """Whether gradients are not followed."""
    return not context.gradients.get()


def compile(
    model: object = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: object = "inductor",
    mode: str | None = None,
    options: object = None,
    disable: bool = False,
) -> Any:
    """The model or function itself: Tallow compiles whatever is computed, and finds its plans
    again. Also a decorator, with or without arguments. `tallow.jit` compiles a whole step."""
    return (lambda function: function) if model is None else model


def get_device_states(*args: object) -> tuple[list[int], list[Any]]:
    """No devices of their own: random numbers have one state, `get_rng_state()`."""
    return [], []


def set_device_states(devices: object, states: object, **options: object) -> None:
    """Changes nothing; `set_rng_state` does."""


__all__ = [
    "are_deterministic_algorithms_enabled", "compile", "default_generator", "fork_rng",
    "get_default_device", "get_default_dtype", "get_num_interop_threads", "get_rng_state",
    "initial_seed", "is_anomaly_enabled", "is_inference_mode_enabled", "manual_seed", "seed",
    "set_anomaly_enabled", "set_default_device", "set_default_dtype", "set_default_tensor_type",
    "set_flush_denormal", "set_num_interop_threads", "set_rng_state", "set_warn_always",
    "use_deterministic_algorithms",
]  # fmt: skip
