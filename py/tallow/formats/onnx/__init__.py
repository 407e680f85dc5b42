"""ONNX files. tallow/onnx.py exports the public names.

records.py     plain data: the contents of a file, checked
read/          bytes -> records: proto.py has the schema of the `onnx` package; reader.py reads,
               with tensors.py, external.py and structure.py for the parts; expand.py inlines a
               model's own functions, gradients.py cuts out what Gradient differentiates
registry.py    the table of operators, filled by operators/, one folder per chapter of the standard,
               and by `register`; call.py is the view of its node that an operator's function gets
dimensions.py  makes symbolic dimensions concrete
values.py      the values that the host computes with: arrays, strings, sequences
run/           records -> runs: builder.py turns nodes into tensors, importer.py a whole model into
               one Graph where possible; stages.py splits it otherwise, execution.py runs one stage
               after the other and requests what may block (core/drivers.py), hosting.py runs the
               host's nodes, float64.py finds what NumPy must compute for precision; trace.py
               records what ran, report.py tells it; model_session.py runs a model for any shapes;
               summary.py describes it before it is compiled
model.py       Model, load
write/         graph -> bytes: export.py saves; forms.py, element_forms.py and window_forms.py
               express each op in ONNX, idioms.py shortens the result, weights.py makes weights
               smaller, symbolic_dims.py keeps dimensions symbolic, writer.py writes the file
re2/           regular expressions in RE2's syntax

Importing this package registers all operators.
"""

from . import operators

__all__ = ["operators"]
