"""ONNX files: `load(path_or_bytes)` gives a Model, `Model.session()` runs it, `save` writes one.

`register` adds operators of your own domains. The implementation is in formats/onnx/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .formats.onnx.call import Call
from .formats.onnx.model import Model, load
from .formats.onnx.records import Metadata, ValueInfo
from .formats.onnx.registry import register
from .formats.onnx.run.summary import Summary

if TYPE_CHECKING:
    from .formats.onnx.write.export import save

__all__ = ["Call", "Metadata", "Model", "Summary", "ValueInfo", "load", "register", "save"]


def __getattr__(name: str) -> Any:
    """Imports `save` on first use: the page starts without it."""
    if name == "save":
        from .formats.onnx.write.export import save

        return save
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
