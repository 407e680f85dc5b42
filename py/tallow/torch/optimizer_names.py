"""What torch.optim.optimizer has for optimisers of one's own."""

from __future__ import annotations


class _Required:
    """The default of an option that must be given."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()

__all__ = ["required"]
