"""torch.types: names for annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO

from ..core.device_name import DeviceName
from ..core.dtype import DType
from ..core.shape import Size
from ..tensor import Tensor

Number = bool | int | float
Device = DeviceName | str | int | None
FileLike = str | os.PathLike[str] | BinaryIO
_TensorOrTensors = Tensor | Sequence[Tensor]
_size = Size | list[int] | tuple[int, ...]
_int, _float, _bool, _dtype, _device = int, float, bool, DType, DeviceName
Storage = object

__all__ = ["Device", "FileLike", "Number"]
