"""ONNX files: `load(path_or_bytes)` gives a Model, `Model.session()` runs it, `save` writes one.

proto.py       bytes <-> ModelProto, with the schema of the `onnx` package
reading.py     ModelProto -> records.py: plain data, checked; tensors.py, external.py,
               structure.py do the parts
registry.py    the table of operators, filled by operators/, a file per family, and by `register`
expand.py      a model's own functions, replaced by their nodes
builder.py     nodes -> tensors; call.py is what an operator's function sees of its node
importer.py    a whole model as one Graph, where it can be one
dimensions.py  symbolic dimensions made concrete
model.py       Model, load; summary.py says what a model is before it is compiled
model_session.py  what runs a model, for any shapes: stages.py says what is computed in one go,
               execution.py runs one stage after the other, hosting.py the host's nodes on
               values (values.py), report.py says what ran where
export.py      save: forms.py, element_forms.py and window_forms.py have each op in ONNX's terms,
               idioms.py shortens, weights.py makes weights smaller, free.py keeps dimensions
               free, writing.py writes the file
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import Call
from .model import Model, load
from .records import Metadata, ValueInfo
from .registry import register
from .summary import Summary

if TYPE_CHECKING:
    from .export import save

__all__ = ["Call", "Metadata", "Model", "Summary", "ValueInfo", "load", "register", "save"]


def __getattr__(name: str) -> Any:
    """`save` is imported when it is first asked for: the page starts without it."""
    if name == "save":
        from .export import save

        return save
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
