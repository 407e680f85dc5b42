"""`DeviceName`: the name of a device, which is a text with PyTorch's attributes."""

from __future__ import annotations

from typing import Self


class DeviceName(str):
    """The name of a device, `tl.device`: device("webgpu"), device("cuda", 0). It need not be one of
    this machine's; the error comes with its use."""

    __slots__ = ()

    def __new__(cls, type: str, index: int | None = None) -> Self:
        return super().__new__(cls, type if index is None else f"{type}:{index}")

    @property
    def type(self) -> str:
        """What stands before the colon: "cuda" of "cuda:0"."""
        return self.partition(":")[0]

    @property
    def index(self) -> int | None:  # type: ignore[override]
        """The number behind the colon, or None."""
        number = self.partition(":")[2]
        return int(number) if number else None
