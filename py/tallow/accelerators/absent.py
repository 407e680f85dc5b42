"""A kind of device that is not here, CUDA for one: `is_available` is False, so that programs go on
with "cpu", which stands for the best device here. `tl.cuda`, `tl.mps` and the like in tallow.torch
have its names."""

from __future__ import annotations

from contextlib import nullcontext
from typing import NoReturn

from .. import random
from ..errors import DeviceUnavailableError


class OutOfMemoryError(RuntimeError):
    """Is not raised: Tallow raises DeviceMemoryError."""


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def init() -> None:
    """Changes nothing."""


def _none(what: str) -> DeviceUnavailableError:
    return DeviceUnavailableError(
        f"cuda.{what}: there is no CUDA here, cuda.is_available() is False; "
        "tallow.devices() lists the devices"
    )


def current_device() -> int:
    """Raises DeviceUnavailableError."""
    raise _none("current_device")


def get_device_name(device: object = None) -> str:
    """Raises DeviceUnavailableError."""
    raise _none("get_device_name")


def get_device_capability(device: object = None) -> tuple[int, int]:
    """Raises DeviceUnavailableError."""
    raise _none("get_device_capability")


def get_device_properties(device: object = None) -> NoReturn:
    """Raises DeviceUnavailableError."""
    raise _none("get_device_properties")


def set_device(device: object) -> None:
    """Changes nothing."""


def synchronize(device: object = None) -> None:
    """Changes nothing: reading a tensor waits for it."""


def empty_cache() -> None:
    """Changes nothing: memory is freed with the tensors."""


def ipc_collect() -> None:
    """Changes nothing."""


def manual_seed(seed: int) -> None:
    """Changes nothing; see `tl.manual_seed`."""


def manual_seed_all(seed: int) -> None:
    """Changes nothing; see `tl.manual_seed`."""


def memory_allocated(device: object = None) -> int:
    """0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
memory_cached = max_memory_cached = memory_allocated


def reset_peak_memory_stats(device: object = None) -> None:
    """Changes nothing."""


reset_max_memory_allocated = reset_peak_memory_stats


def memory_summary(device: object = None, abbreviated: bool = False) -> str:
    """An empty text."""
    return ""


def get_rng_state(device: object = None) -> random.State:
    """The state of random numbers."""
    return random.state()


def get_rng_state_all() -> list[random.State]:
    """No state: there is no such device."""
    return []


def set_rng_state(new_state: random.State, device: object = None) -> None:
    """Continues random numbers from a state."""
    random.set_state(new_state)


def set_rng_state_all(new_states: object) -> None:
    """Changes nothing."""


class device(nullcontext[None]):  # noqa: N801 - PyTorch's name
    """Changes nothing within it."""

    def __init__(self, device: object = None) -> None:
        super().__init__()


class Stream:
    """Work in an order of its own: there is one order."""

    def __init__(self, device: object = None, priority: int = 0, **options: object) -> None:
        pass

    def synchronize(self) -> None:
        """Changes nothing."""

    wait_stream = wait_event = record_event = lambda self, *args: None


class Event(Stream):
    """A moment of that order."""

    def __init__(self, enable_timing: bool = False, **options: object) -> None:
        import time

        self._clock, self._at = time.perf_counter, 0.0

    def record(self, stream: object = None) -> None:
        """Notes the time."""
        self._at = self._clock()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds to another moment."""
        return 1000.0 * (end_event._at - self._at)


def stream(stream: object) -> nullcontext[None]:
    """Changes nothing within it."""
    return nullcontext()


def current_stream(device: object = None) -> Stream:
    """The one order."""
    return Stream()


default_stream = current_stream
