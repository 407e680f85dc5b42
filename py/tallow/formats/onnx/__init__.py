"""ONNX files. The public names are those of tallow/onnx.py.

records.py     plain data: what a file says, checked
read/          bytes -> records: proto.py has the schema of the `onnx` package; reader.py reads, and
               tensors.py, external.py and structure.py do the parts; expand.py replaces a model's
               own functions by their nodes
registry.py    the table of operators, filled by operators/, a folder per chapter of the standard,
               and by `register`; call.py is what an operator's function sees of its node
dimensions.py  symbolic dimensions made concrete
values.py      what the host computes with: arrays, texts, sequences
run/           records -> runs: builder.py makes tensors of nodes, importer.py a whole model one
               Graph, where it can be one; stages.py says what is computed in one go, execution.py
               runs one stage after the other, hosting.py the host's nodes, float64.py what NumPy
               computes for the sake of exactness; report.py says what ran where; model_session.py
               runs a model for any shapes; summary.py says what it is before it is compiled
model.py       Model, load
write/         graph -> bytes: export.py saves; forms.py, element_forms.py and window_forms.py have
               each op in ONNX's terms, idioms.py shortens, weights.py makes weights smaller,
               symbolic_dims.py keeps dimensions free, writer.py writes the file
re2/           regular expressions in RE2's syntax

Importing this package enters all operators.
"""

from . import operators

__all__ = ["operators"]
