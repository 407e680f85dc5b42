"""The steps of a plan on a desktop GPU: their pipelines, and their dispatches with bind groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from ....compile.plan import Plan, Step
from ....errors import DeviceError, DeviceLostError, DeviceMemoryError, KernelError
from .device import NativeDevice, words

# The compiler in `wgpu` has subgroups, but refuses the directive that WGSL asks for.
_SUBGROUPS = ("enable subgroups;", "")

# Bind groups that a step keeps: buffers that stay on the device come round again.
_GROUPS = 8

_LINE = re.compile(r"┌─ .*:(\d+):\d+$", re.M)  # where naga shows the text
_FRAME = re.compile(r"^\s*In wgpu\w+.*\n")

Key = tuple[int, tuple[tuple[str, Any], ...]]  # module and constants


class Dispatch:
    """A step, ready to encode with whatever buffers its slots have in a run.

    outside: those of its slots whose buffers may be others in every run.
    """

    def __init__(
        self, gpu: NativeDevice, step: Step, pipeline: Any, params: Any, outside: set[int]
    ) -> None:
        self.name = step.name
        self.pipeline = pipeline
        self.workgroups = step.kernel["workgroups"]
        self._gpu = gpu
        self._layout = pipeline.get_bind_group_layout(0)
        self._slots = step.bound
        self._outside = [slot for slot in self._slots if slot in outside]
        self._params = params
        self._groups: dict[tuple[Any, ...], Any] = {}

    def group(self, buffer: Callable[[int], Any]) -> Any:
        """The bind group of these buffers, which `buffer` gives by slot."""
        key = tuple(buffer(slot) for slot in self._outside)
        found = self._groups.get(key)
        if found is None:
            resources = [{"buffer": buffer(slot)} for slot in self._slots]
            resources += [self._params] if self._params else []
            entries = [{"binding": n, "resource": resource} for n, resource in enumerate(resources)]
            found = self._gpu.handle.create_bind_group(
                label=self.name, layout=self._layout, entries=entries
            )
            while len(self._groups) >= _GROUPS:
                self._groups.pop(next(iter(self._groups)))
            self._groups[key] = found
        return found

    def forget(self) -> None:
        """Lets go of all bind groups."""
        self._groups.clear()


def key_of(step: Step) -> Key:
    """Steps of one key share a pipeline."""
    return step.kernel["module"], tuple(sorted(step.kernel["constants"].items()))


def named(plan: Plan, step: str) -> str:
    """A step as errors name it."""
    return f"{plan.name}: the step {step}"


@contextmanager
def _compiling(gpu: NativeDevice, plan: Plan, step: Step) -> Iterator[None]:
    """Raises what `wgpu` raises inside; KernelError for the text of a user's op."""
    op = step.kernel.get("op")
    try:
        with gpu.checked(named(plan, step.name)):
            yield
    except (DeviceLostError, DeviceMemoryError):
        raise
    except DeviceError as error:
        if op is None:
            raise
        said = _FRAME.sub("", words(error.__cause__ or error))
        found = _LINE.search(said)
        line = int(found[1]) if found else None
        where = f", line {line}" if found else ""
        raise KernelError(f"the WGSL of {op}{where}: {said}", op, line) from error


def pipelines_of(gpu: NativeDevice, plan: Plan, steps: Sequence[Step]) -> dict[Key, Any]:
    """Every pipeline of the plan, by module and constants."""
    device = gpu.handle
    computing = [step for step in reversed(steps) if step.kernel]
    users = {step.kernel["module"]: step for step in computing}
    wanted = {key_of(step): step for step in computing}

    def module(step: Step) -> Any:
        number = step.kernel["module"]
        with _compiling(gpu, plan, step):
            label = f"{plan.name} module {number}"
            code = plan.modules[number].replace(*_SUBGROUPS)
            return device.create_shader_module(code=code, label=label)

    def pipeline(step: Step) -> Any:
        kernel = step.kernel
        stage = {
            "module": modules[kernel["module"]],
            "entry_point": "main",
            "constants": kernel["constants"],
        }
        with _compiling(gpu, plan, step):
            return device.create_compute_pipeline(
                label=step.name,
                layout="auto",
                compute=stage | {"constants": kernel["constants"]},
            )

    with ThreadPoolExecutor() as threads:  # the compiler works outside Python's lock
        modules = dict(zip(users, threads.map(module, users.values()), strict=True))
        return dict(zip(wanted, threads.map(pipeline, wanted.values()), strict=True))


def encode(
    gpu: NativeDevice, label: str, dispatches: Sequence[Dispatch], buffer: Callable[[int], Any]
) -> Any:
    """A command encoder with these dispatches; `buffer` gives what a slot has in this run."""
    encoder = gpu.handle.create_command_encoder(label=label)
    compute = encoder.begin_compute_pass()
    pipeline = None
    for dispatch in dispatches:
        if dispatch.pipeline is not pipeline:
            pipeline = dispatch.pipeline
            compute.set_pipeline(pipeline)
        compute.set_bind_group(0, dispatch.group(buffer))
        compute.dispatch_workgroups(*dispatch.workgroups)
    compute.end()
    return encoder
