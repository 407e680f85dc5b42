"""What the programs share: their table, and the numbers with which both libraries begin.

A program is a function of the library `t` (torch, or tallow, which has the same names), of the
Numbers that it begins with, and of `small`, for a test that it runs. It builds what it needs and
returns its step: a function that trains once and returns the loss, a Python number. The code is
what a tutorial of PyTorch would have: nothing is compiled, and each step reads its loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Step = Callable[[], float]
Build = Callable[[Any, "Numbers", bool], Step]


@dataclass(frozen=True)
class Program:
    """build: see above. draws: whether it draws random numbers of its own as it goes, so that the
    losses of two libraries differ."""

    name: str
    build: Build
    draws: bool = False

    def begin(self, t: Any, small: bool = False) -> Step:
        """Its step with the library `t`, ready to be called."""
        t.manual_seed(0)
        return self.build(t, Numbers(t), small)


PROGRAMS: dict[str, Program] = {}


def program(name: str, *, draws: bool = False) -> Callable[[Build], Build]:
    """Puts the function that follows into the table."""

    def put(build: Build) -> Build:
        assert name not in PROGRAMS, name
        PROGRAMS[name] = Program(name, build, draws)
        return build

    return put


class Numbers:
    """Numbers that are the same for every library: NumPy draws them."""

    def __init__(self, t: Any) -> None:
        self._t = t
        self.rng = np.random.default_rng(0)

    def normal(self, *shape: int, scale: float = 1.0) -> Any:
        """A tensor of float32 with a normal distribution."""
        return self._t.tensor((self.rng.normal(size=shape) * scale).astype(np.float32))

    def uniform(self, *shape: int) -> Any:
        """A tensor of float32 between 0 and 1."""
        return self._t.tensor(self.rng.random(shape).astype(np.float32))

    def below(self, count: int, *shape: int) -> Any:
        """A tensor of int64: labels, tokens, indices."""
        return self._t.tensor(self.rng.integers(0, count, shape))

    def filled(self, module: Any) -> Any:
        """The module with other weights: normal ones, for a variance that layers about keep; ones
        in layers that normalise, and small biases."""
        with self._t.no_grad():
            for name, parameter in module.named_parameters():
                shape = tuple(parameter.shape)
                if len(shape) > 1:
                    new = self.normal(*shape, scale=float(np.prod(shape[1:])) ** -0.5)
                elif name.endswith("weight"):
                    continue
                else:
                    new = self.normal(*shape, scale=0.01)
                parameter.copy_(new)
        return module
