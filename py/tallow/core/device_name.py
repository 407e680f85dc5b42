"""`DeviceName`: the name of a device, which is a text with PyTorch's attributes."""

from __future__ import annotations

import warnings
from typing import Any, Self

from ..errors import DeviceUnavailableError
from .context import pytorch


class DeviceName(str):
    """The name of a device, `tl.device`: device("webgpu"), device("cuda", 0). It need not be one of
    this machine's; the error comes with its use."""

    __slots__ = ("place",)

    place: str  # the device of this library, of a tensor's "cpu"

    def __new__(cls, type: Any = "cpu", index: int | None = None) -> Self:
        if isinstance(type, int):  # the index of an accelerator, as in PyTorch
            type, index = "cuda", type
        return super().__new__(cls, type if index is None else f"{type}:{index}")

    def __repr__(self) -> str:
        if not pytorch.get():
            return super().__repr__()
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{number})"

    @property
    def type(self) -> str:
        """What stands before the colon: "cuda" of "cuda:0"."""
        return str(self).partition(":")[0]

    @property
    def index(self) -> int | None:  # type: ignore[override]
        """The number behind the colon, or None."""
        number = self.partition(":")[2]
        return int(number) if number.isdecimal() else None


def placed_on(place: str) -> DeviceName:
    """The device of a tensor. Where `tallow.torch` was imported, what computes on the processor is
    "cpu", which programs compare with, and still means the same device."""
    on_processor = pytorch.get() and place in ("numpy", "wasm")
    name = DeviceName("cpu" if on_processor else place)
    name.place = place
    return name


_told: set[str] = set()

ELSEWHERE = ("cuda", "mps", "xpu", "hip", "privateuseone")
"""PyTorch's accelerators, which stand for the best device of this machine."""


# Why: docs/decisions/devices.md, "The names cpu and cuda stand for the best device"
def resolved(name: str | None) -> str | None:
    """The device that a name means here. None, for "cpu" and for PyTorch's accelerators ("cuda"):
    where a tensor is, or the default device, the best there is; accelerators are told of once.

    Raises DeviceUnavailableError for an accelerator beyond the first, such as "cuda:1".
    """
    if name is None:
        return None
    given = str(getattr(name, "place", name))
    kind, _, number = given.partition(":")
    if kind == "cpu":
        return None
    if kind not in ELSEWHERE:
        return given
    if number not in ("", "0"):
        raise DeviceUnavailableError(
            f"the device {given!r} is unavailable: there is one device, {kind!r} or '{kind}:0'"
        )
    if kind not in _told:
        _told.add(kind)
        warnings.warn(
            f"the device {kind!r} stands for the best device here; tl.devices() lists them",
            stacklevel=4,
        )
    return None
