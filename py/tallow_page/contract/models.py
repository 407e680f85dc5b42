"""The visitor's own model: its files, what it takes and gives, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict


class ValueInfo(TypedDict):
    """What an input or output is declared to be (py/tallow/formats/onnx/records.py). element: of a
    sequence's members, or of an optional's value."""

    name: str
    shape: Sequence[int | str] | None
    dtype: str | None
    type: str
    kind: str
    element: ValueInfo | None


class ModelFile(TypedDict):
    """The contents of an ONNX file, and the given files that it does not need. left: unsupported
    features that are not listed."""

    name: str
    producer: str
    doc: str
    properties: Sequence[tuple[str, str]]
    opsets: Sequence[tuple[str, int]]
    ir: int
    bytes: int
    unneeded: Sequence[str]
    inputs: Sequence[ValueInfo]
    outputs: Sequence[ValueInfo]
    unsupported: Sequence[str]
    left: int


class MissingFiles(TypedDict):
    """Locations of external data that no given file has."""

    missing: Sequence[str]


class UnclearFiles(TypedDict):
    """Locations of external data, and given files whose names do not tell which is which."""

    unclear: Sequence[str]
    given: Sequence[str]


class Reason(TypedDict):
    """Why a node is not on the device (py/tallow/formats/onnx/reasons.py)."""

    code: str
    details: Sequence[str | int]


Place = Literal["device", "host", "nowhere"]


class OperatorUse(TypedDict):
    """How often an operator is used in one place."""

    operator: str
    place: Place
    count: int
    reason: Reason | None


class Survey(TypedDict):
    """Size, arithmetic and operators of a model for given lengths (formats/onnx/run/summary.py).
    whole: whether multiplyAdds counts all nodes."""

    parameters: int
    weightBytes: int
    nodes: int
    multiplyAdds: int | None
    whole: bool
    uses: Sequence[OperatorUse]
    unsupported: Sequence[str]


class Feed(TypedDict):
    """A value of an input, without the buffer of its elements. texts: the elements of strings,
    which have no buffer. members: of a sequence. wide: the elements are passed as float64, because
    JavaScript lacks their type."""

    name: str
    shape: Sequence[int]
    dtype: NotRequired[str]
    wide: NotRequired[bool]
    texts: NotRequired[Sequence[str]]
    members: NotRequired[Sequence[Feed]]


class Output(TypedDict):
    """A result, without the elements of an array. dtype: of a tensor. texts: of strings.
    members: of a sequence."""

    name: str
    kind: Literal["tensor", "texts", "sequence", "none"]
    shape: Sequence[int]
    dtype: NotRequired[str]
    texts: NotRequired[Sequence[str]]
    members: NotRequired[Sequence[Output]]


class RunReport(TypedDict):
    """What a run did: `Report` of py/tallow/formats/onnx/run/report.py. host: nodes computed by the
    host; bytes: that crossed; moved: why a part did not run on the device."""

    parts: int
    nodes: int
    dispatches: int
    moved: Sequence[str]
    host: int
    bytes: int


Device = Literal["webgpu", "wasm", "numpy", "remote"]


class RunAnswer(TypedDict):
    """A run. first: milliseconds. planId: of a new plan to store (plan_registry.py). refused: why
    the stored plan could not be used, or ""."""

    device: Device
    adapter: str
    first: float
    outputs: Sequence[Output]
    report: RunReport
    planId: int | None
    refused: str


class Series(TypedDict):
    """Statistics of runs, in milliseconds; low and high are the quartiles."""

    count: int
    median: float
    low: float
    high: float
    least: float
    most: float


class ModelTimes(TypedDict):
    """The runs after the first, null without any."""

    device: str
    adapter: str
    series: Series | None


class Times(TypedDict):
    """Milliseconds of a first run, and the further ones."""

    first: float | None
    series: Series | None


class Difference(TypedDict):
    """The largest difference of two elements, null if only one of them is a number; and the largest
    element, for scale."""

    name: str
    difference: float | None
    largest: float | None


class Compared(TypedDict):
    """A run on two devices."""

    devices: Mapping[Device, Times]
    outputs: Sequence[Difference]
