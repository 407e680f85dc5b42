"""torch._tensor_str: the settings of printing, and elements as text, for programs that write files
of text."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from ..tensor.printing import elements_of, options, set_printoptions


class _Options:
    """The settings of `torch.set_printoptions`, as attributes that may be set."""

    def __getattr__(self, name: str) -> Any:
        if name not in options:
            raise AttributeError(name)
        return options[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in options:
            raise AttributeError(name)
        options[name] = value


PRINT_OPTS = _Options()


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements as text, without "tensor("; blocks.

    self: any tensor.
    indent: how many letters stand before the text, for the lines that follow.
    Returns: the text.
    """
    return elements_of(self, self.detach().numpy(), indent)


__all__ = ["PRINT_OPTS", "set_printoptions"]
