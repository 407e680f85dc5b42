"""torch._utils: what programs take from there."""

from __future__ import annotations

from collections.abc import Sequence

import tallow as tl

from ..tensor import Tensor


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The elements of tensors as one vector."""
    return tl.concat([tl.reshape(x, (-1,)) for x in tensors], 0)


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """A vector as tensors of the shapes of others."""
    found, start = [], 0
    for x in tensors:
        found.append(tl.reshape(flat[start : start + int(x.size)], x.shape))
        start += int(x.size)
    return tuple(found)


def _get_all_device_indices() -> list[int]:
    """No index: there is no CUDA device."""
    return []


def _get_device_index(device: object, *args: object, **options: object) -> int:
    """The index of a device, or 0."""
    return getattr(device, "index", None) or 0
