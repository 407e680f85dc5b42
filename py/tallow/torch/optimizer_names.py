"""What torch.optim.optimizer has for optimisers of one's own."""

from __future__ import annotations

from typing import Any


class _Required:
    """The default of an option that must be given."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
_params_t = ParamsT = Any  # for annotations

__all__ = ["required"]
