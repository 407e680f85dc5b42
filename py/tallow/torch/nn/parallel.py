"""torch.nn.parallel, for one process and one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tallow.nn as _nn

__path__: list[str] = []  # its rooms are in names.py


class DataParallel(_nn.Module):
    """A module on several devices: on the one there is. Its `state_dict` has PyTorch's names,
    "module.weight"."""

    def __init__(
        self,
        module: _nn.Module,
        device_ids: object = None,
        output_device: object = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: object, **kwargs: object) -> Any:
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(DataParallel):
    """A module whose gradients all processes share: there is one process."""

    def __init__(self, module: _nn.Module, device_ids: object = None, **options: object) -> None:
        super().__init__(module, device_ids)

    def no_sync(self) -> Any:
        """Changes nothing within it."""
        from contextlib import nullcontext

        return nullcontext()


def data_parallel(
    module: _nn.Module,
    inputs: object,
    device_ids: object = None,
    output_device: object = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """What the module gives."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


def replicate(network: _nn.Module, devices: Sequence[Any], detach: bool = False) -> list[Any]:
    """The module, once for each device: the same one."""
    return [network for _ in devices]


__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "replicate"]
