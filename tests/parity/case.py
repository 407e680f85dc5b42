"""Cases that PyTorch and Tallow run alike: the same code, given one library or the other.

A case computes with the library `t` that it is given (torch, or tallow under the same names). The
kinds of cases are Call, of a module or a function, which is here, and those of training.py.
Parameters and inputs get values that follow from names, so that both libraries compute with equal
numbers; what they draw themselves is tested elsewhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Build = Callable[[Any], Any]


class Case(Protocol):
    """What the recorder runs."""

    @property
    def name(self) -> str:
        """A name that no other case has."""
        ...

    def answers(self, t: Any) -> dict[str, np.ndarray]:
        """What a library gives: arrays by name. PyTorch's are recorded."""
        ...


@dataclass(frozen=True)
class Call:
    """A module or a function, and what it is called with.

    build(t): a module, or a function of tensors. inputs: arrays; those that are floating get
    gradients too. mode: of a module, "train" or "eval". rtol, atol: as in numpy.allclose, relative
    to the largest value. gradients: whether derivatives are compared. constant: the inputs by which
    they are not.
    """

    name: str
    build: Build
    inputs: tuple[np.ndarray, ...]
    mode: str = "train"
    rtol: float = 2e-5
    atol: float = 2e-5
    gradients: bool = True
    constant: tuple[int, ...] = ()

    def answers(self, t: Any) -> dict[str, np.ndarray]:
        """Outputs, gradients of inputs and parameters, and the state afterwards."""
        t.manual_seed(0)
        built = self.build(t)
        inputs = [t.tensor(x) for x in self.inputs]
        found: dict[str, np.ndarray] = {}
        is_module = isinstance(built, t.nn.Module)
        if is_module:
            built.train(self.mode == "train")
            state = {k: v.numpy() for k, v in built.state_dict().items()}
            built.load_state_dict({k: t.tensor(value_of(k, v)) for k, v in state.items()})
        if self.gradients:
            for number, x in enumerate(inputs):
                x.requires_grad_(x.is_floating_point() and number not in self.constant)
        outputs = flat(built(*inputs))
        for number, output in enumerate(outputs):
            found[f"output {number}"] = output.detach().numpy()
        floating = [x for x in outputs if x.is_floating_point()]
        if self.gradients and floating:
            total = sum(
                (x * t.tensor(weights(number, tuple(x.shape)))).sum()
                for number, x in enumerate(floating)
            )
            total.backward()
            for number, x in enumerate(inputs):
                if x.grad is not None:
                    found[f"input {number} grad"] = x.grad.numpy()
            if is_module:
                for name, p in built.named_parameters():
                    if p.grad is not None:
                        found[f"grad {name}"] = p.grad.numpy()
        if is_module:
            for name, value in built.state_dict().items():
                found[f"state {name}"] = value.numpy()
        return found


CASES: dict[str, Case] = {}


def register(case: Case) -> None:
    """Adds a case to the family that its file is."""
    assert case.name not in CASES, case.name
    CASES[case.name] = case


def case(name: str, build: Build, *inputs: Any, **options: Any) -> None:
    """Registers a Call. An input is an array, or a shape, of which the numbers are drawn."""
    arrays = tuple(
        drawn(f"{name} input {n}", x) if isinstance(x, tuple) else x for n, x in enumerate(inputs)
    )
    register(Call(name, build, arrays, **options))


def drawn(name: str, shape: tuple[int, ...], scale: float = 1.0) -> np.ndarray:
    """float32 numbers that follow from a name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return (rng.normal(size=shape) * scale).astype(np.float32)


def classes(name: str, shape: tuple[int, ...], count: int) -> np.ndarray:
    """int64 labels below `count` that follow from a name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.integers(0, count, shape)


def value_of(name: str, array: np.ndarray) -> np.ndarray:
    """The value that a parameter or a buffer gets: of variances and the like, positive numbers."""
    if array.dtype.kind != "f":
        return array
    found = drawn(name, array.shape, 0.5)
    return np.abs(found) + 0.5 if "var" in name.rpartition(".")[2] else found


def flat(result: Any) -> list[Any]:
    """The tensors of a result, in order."""
    if isinstance(result, dict):
        return [x for name in sorted(result) for x in flat(result[name])]
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in flat(each)]
    return [] if result is None else [result]


def weights(number: int, shape: tuple[int, ...]) -> np.ndarray:
    """What the elements of an output count in the loss."""
    rng = np.random.default_rng(number + 1)
    return rng.normal(size=shape).astype(np.float32)
