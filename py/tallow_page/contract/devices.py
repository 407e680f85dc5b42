"""Devices, the site's models, tuning and profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict


class Chosen(TypedDict):
    """A device, and the name of its adapter."""

    device: str
    adapter: str


WarningKind = Literal["leftOut", "unread", "damaged", "unkept"]


class Warned(TypedDict):
    """A TuningWarning (py/tallow/devices/webgpu/tuning.py)."""

    kind: WarningKind
    kernel: str
    why: str


class LoadedModel(TypedDict):
    """Facts about a model that can answer.

    nodes: of the file's network. kept: whether its plan was stored on an earlier visit; otherwise
    planId is the number of the new one (plan_registry.py), and compiling the milliseconds spent on
    the graph, the passes and kernels. seconds: from the graph, or the stored plan, to the session.
    The others: `Session.stats`.
    """

    name: str
    nodes: int
    kept: bool
    planId: NotRequired[int]
    compiling: NotRequired[float]
    seconds: float
    warnings: Sequence[Warned]
    kernels: int
    dispatches: int
    slots: int
    bytes: int
    weights: int
    runs: int
    adapter: str


class OneDevice(TypedDict):
    """An answer on one device: its probabilities; milliseconds of the first run, from the graph on,
    null where the model was loaded; the median of the further ones, null without any."""

    probabilities: Sequence[float]
    first: float | None
    warm: float | None


class Runs(TypedDict):
    """Progress: runs that are done, of so many at most."""

    stage: Literal["runs"]
    done: int
    total: int


class Replaced(TypedDict):
    """An op whose fastest kernel is not the rule's, and how many times as fast that is."""

    op: str
    shape: Sequence[int]
    kernel: str
    gain: float


Clock = Literal["timestamp", "clock", "counted"]


class Tuned(TypedDict):
    """What tuning has measured, at its end or so far: ops that have a choice, and those measured;
    the largest gain first; whose clock was used, null before the first op; new warnings."""

    stage: Literal["tuning"]
    ops: int
    measured: int
    replaced: Sequence[Replaced]
    clock: Clock | None
    warnings: Sequence[Warned]


class Kernel(TypedDict):
    """A KernelTime of py/tallow/runtime/profile.py. code: WebAssembly's; a GPU's is in the plan."""

    number: int
    name: str
    anchor: str
    ops: Sequence[str]
    shape: Sequence[int]
    dtype: str
    milliseconds: float
    share: float
    flops: int
    gflops: float
    read: int
    written: int
    reads: Sequence[int]
    writes: int
    constants: Mapping[str, float | bool]
    workgroups: Sequence[int]
    module: int
    code: NotRequired[str]


class Profile(TypedDict):
    """`Profile.to_dict` of py/tallow/runtime/profile.py."""

    name: str
    device: str
    adapter: str
    source: Clock
    explanation: str
    resolution: float
    repeats: int
    milliseconds: float
    kernels: Sequence[Kernel]


class Modules(TypedDict):
    """A plan, of which the page reads the text of its kernels."""

    modules: Sequence[str]


class Profiled(TypedDict):
    """A profile, its plan, and a trace for Perfetto."""

    profile: Profile
    plan: Modules
    trace: Mapping[str, Any]
