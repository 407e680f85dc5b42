"""A step for which WebAssembly has no kernel, computed by NumPy.

It works in the module's memory where Python can address it, else on copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...compile.plan import Step
from ...ops.numpy_kernels import numpy_module
from ..numpy.specialized import Workspace
from ..numpy.step import BoundStep
from .engine import Instance

if TYPE_CHECKING:
    from ...arrays import Array


class NumpyStep:
    """A step, bound to arrays; call it to run it.

    known: which reads never change. offsets: of the reads and the result in the instance's memory.
    workspace: scratch memory, which steps share.
    """

    def __init__(
        self,
        step: Step,
        known: Sequence[bool],
        instance: Instance,
        offsets: Sequence[int],
        workspace: Workspace,
    ) -> None:
        self._np = np = numpy_module()
        self._instance = instance
        *reads, self._target = offsets
        self._region = step.region
        specs = [*step.reads, step.write]
        views = [self._shown(*spec, offset) for spec, offset in zip(specs, offsets, strict=True)]
        *arrays, result = (
            np.empty(*spec) if view is None else view
            for spec, view in zip(specs, views, strict=True)
        )
        self._copied = [
            (array, offset, constant)
            for array, view, offset, constant in zip(arrays, views, reads, known, strict=False)
            if view is None
        ]
        for array, offset, _ in self._copied:
            self._fill(array, offset)
        self._in_place = views[-1] is not None and step.region is None
        self._result = result if self._in_place else np.empty(*step.write)
        self._compute = BoundStep(np, step, arrays, known, self._result, workspace)
        self._copied = [each for each in self._copied if not each[2]]

    def _shown(self, shape: Sequence[int], dtype: str, offset: int) -> Array | None:
        """The array at an offset of the memory, if Python can address it."""
        wanted = self._np.dtype(dtype)
        size = wanted.itemsize
        for dim in shape:
            size *= dim
        content = self._instance.view(offset, size)
        if content is None:
            return None
        array: Array = self._np.frombuffer(content, wanted).reshape(shape)
        return array

    def _fill(self, array: Array, offset: int) -> None:
        content = self._instance.read(offset, array.nbytes)
        array[...] = self._np.frombuffer(content, array.dtype).reshape(array.shape)

    def __call__(self) -> None:
        for array, offset, _ in self._copied:
            self._fill(array, offset)
        with self._np.errstate(all="ignore"):
            self._compute()
        if self._in_place:
            return
        result = self._np.ascontiguousarray(self._result)
        if self._region is None:
            self._instance.write(self._target, result)
            return
        size, start = result.itemsize, self._region.start
        for run in result.reshape(-1, self._region.length):
            self._instance.write(self._target + start * size, run)
            start += self._region.stride
