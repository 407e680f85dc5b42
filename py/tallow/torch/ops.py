"""torch.ops: operators by namespace and name, as programs name them in tables of their own.

`torch.ops.aten.add.Tensor` is a key that is equal to itself, and calls `torch.add`. Other
namespaces are those of PyTorch's extensions, which are written in C++ and absent here.
"""

from __future__ import annotations

from typing import Any

from ..binding import imported
from .rooms import missing


class OpOverload:
    """An operator for one kind of arguments, such as `torch.ops.aten.add.Tensor`."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket = packet
        self._overloadname = overload

    def name(self) -> str:
        """The name with its namespace and overload, as PyTorch writes it.

        Returns: "aten::add.Tensor", and "aten::add" for the default overload.
        """
        plain = f"aten::{self.overloadpacket.__name__}"
        return plain if self._overloadname == "default" else f"{plain}.{self._overloadname}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverload(op={self.name()!r})>"


class OpOverloadPacket:
    """All overloads of an operator, such as `torch.ops.aten.add`. A call is one of `torch.add`."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("_"):
            raise AttributeError(name)
        overload = OpOverload(self, name)
        setattr(self, name, overload)
        return overload

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        torch = imported("tallow.torch")
        for room in (torch, torch.nn.functional, torch.Tensor):
            found = getattr(room, self.__name__, None)
            if found is not None:
                return found(*args, **kwargs)
        raise missing("torch.ops.aten", self.__name__)

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class _Aten:
    """The namespace of PyTorch's own operators."""

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__"):
            raise AttributeError(name)
        packet = OpOverloadPacket(name)
        setattr(self, name, packet)
        return packet


class _Extension:
    """A namespace of an extension, which has no operators here."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        raise missing(f"torch.ops.{self._name}", name)


aten = _Aten()


def load_library(path: str) -> None:
    """Libraries of C++ operators can't be loaded.

    path: the file.
    Raises: MissingNameError, always.
    """
    raise missing("torch.ops", "load_library")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Extension(name)


__all__ = ["OpOverload", "OpOverloadPacket", "aten", "load_library"]
