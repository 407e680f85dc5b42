"""PyTorch's methods of tensors, which `Tensor` derives from.

What they call lies in packages above this one and is looked up by name when it is first called.
Methods that few need are imported when a name is first asked for that a tensor does not have.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base import Count, Made
from .common import Common
from .in_place import InPlace
from .more import More

if TYPE_CHECKING:
    from .facts import Facts
    from .forwarded import Forwarded

    class Methods(Common[Made], More[Made], InPlace[Made], Forwarded[Made], Facts[Made]):
        """All methods; Made is the tensor that they give."""

        __slots__ = ()

else:

    class Methods(Common[Made], More[Made], InPlace[Made]):
        """The methods that most programs need; Made is the tensor that they give."""

        __slots__ = ()

        def __getattr__(self, name: str) -> Any:
            """A method that few need, or AttributeError."""
            if name[0] != "_" and complete():
                return getattr(self, name)
            kind = type(self).__name__
            raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)


_LATE = {"forwarded": "Forwarded", "facts": "Facts"}
"""The files of the other methods, and their classes."""

_done: list[bool] = []


def complete() -> bool:
    """Gives tensors the methods that few need; False if they had them already."""
    if _done:
        return False
    _done.append(True)
    for file, name in _LATE.items():
        source = vars(getattr(import_module(f"{__name__}.{file}"), name))
        for each, method in source.items():
            if not each.startswith("__"):
                setattr(Methods, each, method)
    return True


__all__ = ["Count", "Methods", "complete"]
