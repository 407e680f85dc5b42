"""`HasConversions`: the part of `Module` that moves it to a device or to another element type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from ..core.device_name import resolved
from ..core.dtype import DType
from ..methods.conversions import where_to


class HasConversions:
    """Methods of `Module`, which has the parameters and buffers."""

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """`Module` has it."""
        raise NotImplementedError

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """`Module` has it."""
        raise NotImplementedError

    def to(self, *args: object, **options: object) -> Self:
        """Moves its parameters and buffers to a device, or floating ones to another element type:
        to("webgpu"), to("float16"), to(device=..., dtype=...), or as a tensor has them.

        Raises OptionError for what is neither the name of a device nor an element type.
        """
        device, dtype = where_to(args, options)
        for variable in [*self.parameters(), *self.buffers()]:
            variable.move(device=device, dtype=dtype)
        return self

    def to_empty(self, *, device: str | None, recurse: bool = True) -> Self:
        """Moves its parameters and buffers to a device; recurse: those of the modules within it
        too. Unlike in PyTorch, they keep their values."""
        for variable in [*self.parameters(recurse), *self.buffers(recurse)]:
            variable.move(device=device)
        return self

    def type(self, dst_type: DType | str) -> Self:
        """Its floating parameters and buffers become of another type."""
        return self.to(dtype=dst_type)

    def cpu(self) -> Self:
        """The module as it is: `numpy()` reads from every device."""
        return self

    def cuda(self, device: int | str | None = None) -> Self:
        """The module as it is: it is on the best device of this machine already. Says so once.
        Raises DeviceUnavailableError for the index of a device that is not there."""
        resolved(f"cuda:{device}" if isinstance(device, int) else str(device or "cuda"))
        return self

    def compile(self, *args: object, **options: object) -> None:
        """Changes nothing: Tallow compiles whatever is computed, and finds its plans again."""

    def float(self) -> Self:
        """Its floating parameters and buffers become float32."""
        return self.to(dtype="float32")

    def half(self) -> Self:
        """Its floating parameters and buffers become float16."""
        return self.to(dtype="float16")

    def double(self) -> Self:
        """Its floating parameters and buffers become float64."""
        return self.to(dtype="float64")

    def bfloat16(self) -> Self:
        """Raises DTypeError: no parameter can be bfloat16."""
        return self.to(dtype="bfloat16")
