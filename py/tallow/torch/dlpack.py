"""torch.utils.dlpack: arrays of other libraries, by the protocol DLPack."""

from __future__ import annotations

from typing import Any

import tallow as tl

from ..tensor import Tensor


class _Holder:
    """What has a capsule of DLPack's in the processor's memory."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: object) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(ext_tensor: Any) -> Tensor:
    """Makes a tensor of the elements of another library's array.

    ext_tensor: an array with the method `__dlpack__`, or a capsule that it gave.
    Returns: the tensor; unlike in PyTorch, it shares no memory.
    Raises: what `tallow.from_dlpack` raises.
    """
    whole = hasattr(ext_tensor, "__dlpack__")
    return tl.from_dlpack(ext_tensor if whole else _Holder(ext_tensor))


def to_dlpack(tensor: Tensor) -> Any:
    """Hands a copy of the elements to another library; blocks.

    tensor: a tensor of a type that NumPy has.
    Returns: a capsule of DLPack's.
    """
    return tensor.__dlpack__()


__all__ = ["from_dlpack", "to_dlpack"]
