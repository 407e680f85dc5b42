"""Profiles: how long each kernel of a session takes, and what it does in that time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

from ..compile import TARGETS
from ..compile.count import anchor, count
from ..compile.plan import Plan, Step
from .base import DeviceInfo, Timing

_SOURCES = {
    "timestamp": "measured by the GPU's own clock",
    "clock": "measured by the clock of this machine, kernel by kernel",
    "counted": "counted, not measured: the time of a whole run, shared out by arithmetic and bytes",
}


@dataclass(frozen=True)
class KernelTime:
    """One kernel of a run.

    number: its position in the run, from 1. anchor: the op that it is about. ops: the ops fused in
    it. milliseconds: of one run; share: of all kernels' time, 0 to 1. flops: see compile/count.py.
    read, written: bytes. reads, writes: slots. module: of the plan, -1 if a GPU does not run it.
    code: the text of that module, or of the function of WebAssembly; "" on NumPy.
    """

    number: int
    name: str
    anchor: str
    ops: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    milliseconds: float
    share: float
    flops: int
    read: int
    written: int
    reads: tuple[int, ...]
    writes: int
    constants: dict[str, Any]
    workgroups: tuple[int, int, int]
    module: int
    code: str

    @property
    def gflops(self) -> float:
        """Billions of operations a second; 0 if it took no time that could be measured."""
        return self.flops / self.milliseconds / 1e6 if self.milliseconds else 0.0


class Profile(Sequence[KernelTime]):
    """The kernels of a run, in its order. Prints as a table.

    source: how the times were measured: "timestamp" (the GPU's clock), "clock" (this machine's,
    around each kernel) or "counted" (not measured: only the whole run was, and it is shared out).
    resolution: a tick of that clock in milliseconds, 0 if it is finer than matters.
    repeats: runs that the times are the mean or median of.
    """

    def __init__(self, plan: Plan, timing: Timing, info: DeviceInfo) -> None:
        self.plan = plan
        self.device, self.adapter = info.device, info.adapter
        self.source = timing.source
        self.resolution = timing.resolution * 1e3
        self.repeats = timing.repeats
        self._kernels = _kernels(plan, timing)

    @property
    def milliseconds(self) -> float:
        """Of all kernels together."""
        return sum(kernel.milliseconds for kernel in self._kernels)

    @property
    def explanation(self) -> str:
        """How the times were measured, in words."""
        words = _SOURCES[self.source]
        if self.source != "counted":
            figure = "mean" if self.resolution else "median"
            words += ", one run" if self.repeats == 1 else f", the {figure} of {self.repeats} runs"
            if self.resolution:
                words += (
                    f"; that clock ticks every {self.resolution:.3g} ms, so short ones are rough"
                )
        return words

    def __len__(self) -> int:
        return len(self._kernels)

    @overload
    def __getitem__(self, index: int) -> KernelTime: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[KernelTime]: ...
    def __getitem__(self, index: int | slice) -> KernelTime | Sequence[KernelTime]:
        return self._kernels[index]

    def __iter__(self) -> Iterator[KernelTime]:
        return iter(self._kernels)

    def __str__(self) -> str:
        head = ("", "kernel", "result", "ms", "share", "GFLOP/s", "read", "written", "slots")
        rows = [head] + [
            (
                str(kernel.number),
                kernel.name,
                f"{kernel.dtype}{list(kernel.shape)}",
                f"{kernel.milliseconds:.3f}",
                f"{kernel.share:.1%}",
                f"{kernel.gflops:.2f}" if kernel.gflops else "",
                f"{kernel.read:,}",
                f"{kernel.written:,}",
                f"{', '.join(map(str, kernel.reads))} -> {kernel.writes}",
            )
            for kernel in self._kernels
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        left = {1, 2, 8}
        lines = [
            "  ".join(
                cell.ljust(width) if column in left else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        title = f"{self.plan.name} on {self.adapter}: {self.milliseconds:.3f} ms"
        return "\n".join([title, f"({self.explanation})", *lines])

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON, but the text of modules that the plan has as text."""
        kernels = []
        for kernel in self._kernels:
            record = asdict(kernel) | {"gflops": kernel.gflops}
            if kernel.module >= 0:
                del record["code"]
            kernels.append(record)
        return {
            "name": self.plan.name,
            "device": self.device,
            "adapter": self.adapter,
            "source": self.source,
            "explanation": self.explanation,
            "resolution": self.resolution,
            "repeats": self.repeats,
            "milliseconds": self.milliseconds,
            "kernels": kernels,
        }

    def to_trace(self) -> str:
        """JSON in the Trace Event Format, which Perfetto and chrome://tracing open.

        The kernels stand one after the other, as in a run, without the gaps between them.
        """
        names = {"process_name": f"{self.plan.name} on {self.adapter}", "thread_name": "kernels"}
        events: list[dict[str, Any]] = [
            {"name": name, "ph": "M", "pid": 1, "tid": 1, "args": {"name": text}}
            for name, text in names.items()
        ]
        at = 0.0
        for kernel in self._kernels:
            duration = kernel.milliseconds * 1e3
            args = {
                "result": f"{kernel.dtype}{list(kernel.shape)}",
                "GFLOP/s": round(kernel.gflops, 3),
                "flops": kernel.flops,
                "bytes read": kernel.read,
                "bytes written": kernel.written,
                "slots read": list(kernel.reads),
                "slot written": kernel.writes,
                "workgroups": list(kernel.workgroups),
            }
            span = {"ph": "X", "pid": 1, "tid": 1, "ts": at, "dur": duration}
            events.append({"name": kernel.name, "cat": kernel.anchor, **span, "args": args})
            at += duration
        about = {"adapter": self.adapter, "times": self.explanation}
        return json.dumps({"traceEvents": events, "displayTimeUnit": "ms", "otherData": about})


def _kernels(plan: Plan, timing: Timing) -> list[KernelTime]:
    counts = [count(step) for step in plan.run]
    seconds = timing.seconds
    if seconds is None:
        efforts = [counted.effort for counted in counts]
        seconds = [timing.total * effort / sum(efforts) for effort in efforts]
    whole = sum(seconds)
    functions = TARGETS[plan.device].functions(plan.modules)
    return [
        KernelTime(
            number=number,
            name=step.name,
            anchor=anchor(step),
            ops=tuple(step.name.split("+")),
            shape=step.write[0],
            dtype=step.write[1],
            milliseconds=time * 1e3,
            share=time / whole if whole else 0.0,
            flops=counted.flops,
            read=counted.read,
            written=counted.written,
            reads=tuple(step.bindings[:-1]),
            writes=step.bindings[-1],
            **_code(plan, step, functions),
        )
        for number, (step, counted, time) in enumerate(
            zip(plan.run, counts, seconds, strict=True), 1
        )
    ]


def _code(plan: Plan, step: Step, functions: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a KernelTime that say what runs."""
    kernel = step.kernel
    if "module" not in kernel:
        code = functions.get(kernel.get("function", ""), "")
        return {"constants": {}, "workgroups": (0, 0, 0), "module": -1, "code": code}
    return {
        "constants": dict(kernel["constants"]),
        "workgroups": tuple(kernel["workgroups"]),
        "module": kernel["module"],
        "code": plan.modules[kernel["module"]],
    }
