"""A step for which WebAssembly has no kernel, computed by NumPy from copies."""

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
    """A step, bound to arrays of its own; call it to run it.

    known: which reads never change. offsets: of the reads and the result in the instance's memory.
    """

    def __init__(
        self, step: Step, known: Sequence[bool], instance: Instance, offsets: Sequence[int]
    ) -> None:
        self._np = np = numpy_module()
        self._instance = instance
        *reads, self._target = offsets
        self._region = step.region
        self._arrays = [np.empty(shape, dtype) for shape, dtype in step.reads]
        self._copied = list(zip(self._arrays, reads, strict=True))
        self._result = np.empty(*step.write)
        for array, offset in self._copied:
            self._fill(array, offset)
        self._compute = BoundStep(np, step, self._arrays, known, self._result, Workspace(np))
        pairs = zip(self._copied, known, strict=True)
        self._copied = [copied for copied, constant in pairs if not constant]

    def _fill(self, array: Array, offset: int) -> None:
        content = self._instance.read(offset, array.nbytes)
        array[...] = self._np.frombuffer(content, array.dtype).reshape(array.shape)

    def __call__(self) -> None:
        for array, offset in self._copied:
            self._fill(array, offset)
        with self._np.errstate(all="ignore"):
            self._compute()
        result = self._np.ascontiguousarray(self._result)
        if self._region is None:
            self._instance.write(self._target, result)
            return
        size, start = result.itemsize, self._region.start
        for run in result.reshape(-1, self._region.length):
            self._instance.write(self._target + start * size, run)
            start += self._region.stride
