"""torch.distributed for one process: sums over all processes are the tensors themselves."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..binding import imported
from ..errors import DeviceUnavailableError
from ..tensor import Tensor
from .rooms import missing

__path__: list[str] = []


class ReduceOp(Enum):
    """What sums over processes do; with one, nothing."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4


class group:  # noqa: N801 - PyTorch's name
    """The group of all processes."""

    WORLD = None


_started = False


def is_available() -> bool:
    """True: one process may be distributed."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return _started


def is_nccl_available() -> bool:
    """False: there is no NCCL, as there is no CUDA."""
    return False


is_mpi_available = is_gloo_available = is_torchelastic_launched = is_nccl_available


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: object = None,
    world_size: int = -1,
    rank: int = -1,
    **options: object,
) -> None:
    """Begins, with one process. Raises DeviceUnavailableError for more."""
    global _started
    if world_size > 1:
        raise DeviceUnavailableError(
            f"init_process_group: world_size {world_size}; there is one process here"
        )
    _started = True


def destroy_process_group(group: object = None) -> None:
    """Ends what `init_process_group` began."""
    global _started
    _started = False


def get_rank(group: object = None) -> int:
    """0: the number of this process, the only one."""
    return 0


def get_world_size(group: object = None) -> int:
    """1: the number of processes."""
    return 1


def get_backend(group: object = None) -> str:
    """ "gloo", which stands for the host."""
    return "gloo"


def barrier(*args: object, **options: object) -> None:
    """Waits for nobody."""


def _itself(tensor: object, *args: object, **options: object) -> None:
    """Changes nothing: there is one process."""


all_reduce = broadcast = reduce = broadcast_object_list = monitored_barrier = _itself


def all_gather(tensor_list: list[Tensor], tensor: Tensor, *args: object, **options: object) -> None:
    """Puts the tensor into the list, whose only element stands for this process."""
    tensor_list[0] = tensor.clone()


def all_gather_object(object_list: list[Any], obj: object, group: object = None) -> None:
    """Puts the object into the list, whose only element stands for this process."""
    object_list[0] = obj


def new_group(*args: object, **options: object) -> None:
    """The group of all processes."""


def __getattr__(name: str) -> Any:
    if name in ("nn", "rpc"):
        return imported(f"{__name__}.{name}")
    raise missing("torch.distributed", name)
