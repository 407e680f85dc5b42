"""What the compiler asks of the device of lists: it computes what the steps' operations say."""

from __future__ import annotations

from dataclasses import replace

from tallow.compile.passes.compose import compose
from tallow.compile.passes.widen import widen
from tallow.devices.numpy.target import TARGET as NUMPY

TARGET = replace(NUMPY, name="toy", fit_types=(compose, widen), quick=None)
