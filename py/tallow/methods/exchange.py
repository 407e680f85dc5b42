"""Methods by which other libraries read tensors: DLPack."""

from __future__ import annotations

from typing import Any

from ..errors import OptionError
from ..tensor import Tensor


def dlpack(
    input: Tensor,
    *,
    stream: object = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Hands a copy of the elements, in the processor's memory, to another library; blocks.

    input: a tensor of a type that NumPy has.
    stream: changes nothing, as on every processor.
    max_version: the newest version of DLPack that the caller understands.
    dl_device: (1, 0), the processor, or None.
    copy: whether the elements must be copied, which they always are; False is refused.
    Returns: a capsule of DLPack's.
    Raises: OptionError for another device and for copy=False.
    Source: Python array API standard 2024.12, `__dlpack__`.
    """
    if dl_device not in (None, _PROCESSOR) or copy is False:
        raise OptionError(f"__dlpack__: gives a copy on {_PROCESSOR}, the processor")
    given = {} if max_version is None else {"max_version": max_version}
    return input.numpy().copy().__dlpack__(**given)


def dlpack_device(input: Tensor) -> tuple[int, int]:
    """Says where `__dlpack__` gives the elements.

    input: any tensor, on any device.
    Returns: (1, 0), the processor.
    Source: Python array API standard 2024.12, `__dlpack_device__`.
    """
    return _PROCESSOR


_PROCESSOR = (1, 0)
"""kDLCPU of DLPack's header, and the number of the device."""
