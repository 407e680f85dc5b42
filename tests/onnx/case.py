"""One case of an ONNX operator: a model of one node, its inputs, and the expected outputs.

The expected answer comes from onnxruntime, or, if that lacks the operator, the opset or the type,
from the onnx package's reference evaluator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .oracle import runtime, saturates

OLDEST, NEWEST = 7, 28
OTHER = 21  # the standard set in models that use another domain


@dataclass(frozen=True, eq=False)
class Known:
    """An input that is part of the model (an initializer)."""

    value: np.ndarray


@dataclass(frozen=True, eq=False)
class Case:
    """inputs: arrays are fed, Known ones are initializers, None is absent. opsets: the first and
    last operator set that the case holds for. oracle: "reference" where onnxruntime is wrong.
    judged_as: the operator set whose definition, which says the same, the oracle knows."""

    op: str
    inputs: Sequence[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    opsets: tuple[int, int] = (OLDEST, NEWEST)
    outputs: int = 1
    note: str = ""
    oracle: str = "onnxruntime"
    judged_as: int | None = None
    rtol: float = 1e-4
    atol: float = 1e-5
    domain: str = ""

    @property
    def versions(self) -> list[int]:
        """An operator set for each definition of the operator that the case covers."""
        first, last = self.opsets
        since = [v for v in definitions(self.domain)[self.op] if v <= last and self._allowed(v)]
        return sorted({max(v, first, 1 if self.domain else OLDEST) for v in since})

    def _allowed(self, version: int) -> bool:
        """Whether a definition allows the types of the inputs that are fed."""
        schema = defs.get_schema(self.op, version, self.domain)
        types = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        for place, x in enumerate(self.inputs):
            if not isinstance(x, np.ndarray) or not schema.inputs:
                continue
            formal = schema.inputs[min(place, len(schema.inputs) - 1)].type_str
            name = TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(x.dtype)).lower()
            if f"tensor({name})" not in types.get(formal, [formal]):
                return False
        return True

    @property
    def id(self) -> str:
        shapes = "_".join("x".join(map(str, a.shape)) or "0d" for a in self.feeds.values())
        types = {a.dtype.name for a in self.feeds.values()} - {"float32"}
        words = [f"{k}={v}" for k, v in self.attributes.items() if isinstance(v, (int, str))]
        parts = [self.op, shapes, *sorted(types), self.note, *words]
        return "-".join(filter(None, parts)).replace("::", "")

    @property
    def feeds(self) -> dict[str, np.ndarray]:
        return {f"x{i}": x for i, x in enumerate(self.inputs) if isinstance(x, np.ndarray)}


@cache
def definitions(domain: str = "") -> dict[str, list[int]]:
    """The operator sets that define or redefine each standard operator."""
    found: dict[str, list[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == domain and not schema.deprecated:
            found.setdefault(schema.name, []).append(schema.since_version)
    return {name: sorted(versions) for name, versions in found.items()}


def model_of(case: Case, opset: int) -> onnx.ModelProto:
    """The case as a checked model; its inputs are x0, x1 ..., its outputs y0, y1 ..."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(case.inputs)]
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(
        case.op, names, outputs, name="node", domain=case.domain, **case.attributes
    )
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in case.feeds.items()
    ]
    known = [
        numpy_helper.from_array(x.value, f"x{i}")
        for i, x in enumerate(case.inputs)
        if isinstance(x, Known)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
    graph = helper.make_graph([node], case.op, infos, ends, known)
    sets = [helper.make_opsetid(case.domain, opset)]
    if case.domain:
        sets.append(helper.make_opsetid("", OTHER))
    model = helper.make_model(graph, opset_imports=sets, ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    if case.domain:  # not inferred for another domain's operators
        for info in model.graph.output:
            kind = info.type.tensor_type
            kind.elem_type = kind.elem_type or (
                infos[0].type.tensor_type.elem_type if case.op == "Imputer" else TensorProto.FLOAT
            )
            if not kind.HasField("shape"):
                kind.shape.dim.extend([onnx.TensorShapeProto.Dimension()] * case.inputs[0].ndim)
    if not all(info.type.tensor_type.HasField("shape") for info in model.graph.output):
        del model.graph.output[:]  # where inference fails, the reference evaluator knows
        values = _reference(onnx.shape_inference.infer_shapes(model), outputs, case)
        model.graph.output.extend(
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(y.dtype), y.shape)
            for name, y in zip(outputs, values, strict=True)
        )
    onnx.checker.check_model(model)
    return model


def _reference(model: onnx.ModelProto, outputs: list[str], case: Case) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in ReferenceEvaluator(model).run(outputs, case.feeds)]


def expected(case: Case, model: onnx.ModelProto) -> list[np.ndarray]:
    """The outputs of onnxruntime, or else of the reference evaluator."""
    if case.judged_as is not None:
        model = model_of(case, case.judged_as)
    types = [x.dtype.name for x in case.feeds.values()]
    if case.oracle == "onnxruntime" and not saturates([case.op], types):
        try:
            return runtime(model.SerializeToString()).run(None, case.feeds)
        except Exception as error:
            # Its exceptions have no common base class; in any case the reference decides.
            assert "onnxruntime" in type(error).__module__, error
    return _reference(model, [f"y{i}" for i in range(case.outputs)], case)


def assert_agrees(case: Case, got: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    """Asserts the same types and shapes, and values within the case's tolerance."""
    for mine, other in zip(got, wanted, strict=True):
        assert mine.shape == other.shape
        if mine.dtype == object:  # strings
            assert other.dtype.kind in "OU"
            assert mine.tolist() == other.tolist()
            continue
        assert mine.dtype == other.dtype
        if mine.dtype.isbuiltin == 2:  # a type of ml_dtypes
            mine, other = mine.astype(np.float32), other.astype(np.float32)
        np.testing.assert_allclose(mine, other, case.rtol, case.atol)


def floats(*shape: int, low: float = -3, high: float = 3, dtype: Any = np.float32) -> np.ndarray:
    """Random numbers, the same in every run."""
    random = np.random.default_rng(len(shape) * 1000 + sum(shape))
    return random.uniform(low, high, shape).astype(dtype)


def integers(*shape: int, low: int = -9, high: int = 10, dtype: Any = np.int64) -> np.ndarray:
    """Random integers from low up to but excluding high; the same in every run."""
    random = np.random.default_rng(len(shape) * 1000 + sum(shape) + 1)
    return random.integers(low, high, shape).astype(dtype)


def bools(*shape: int) -> np.ndarray:
    """Random booleans, the same in every run."""
    return integers(*shape, low=0, high=2).astype(bool)


def known(*values: Any, dtype: Any = np.int64) -> Known:
    """A list of numbers that is part of the model."""
    return Known(np.array(values, dtype))


def scalar(value: Any, dtype: Any = np.float32) -> Known:
    """A number that is part of the model."""
    return Known(np.array(value, dtype))
