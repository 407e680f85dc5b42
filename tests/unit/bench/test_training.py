"""`build.py bench --training`: its table, its comparison of losses, its networks for two libraries.

The peers themselves need a browser.
"""

from __future__ import annotations

import asyncio
import math
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from bench import training
from bench.hosting import IN_BROWSER

import tallow as tl
from tallow.core import context


class Toy:
    """A library whose steps take as many milliseconds as it is told, and lose a little each."""

    def __init__(self, name: str, ms: float, turns: list[str], *, loss: float = 2.0) -> None:
        self.name, self._ms, self._turns, self._loss = name, ms, turns, loss

    def steps(self, network: str, count: int) -> dict[str, Any]:
        self._turns.append(self.name)
        return {"ms": [self._ms] * count, "losses": [self._loss] * count}


def test_libraries_take_turns_and_the_first_step_is_apart() -> None:
    turns: list[str] = []
    libraries = [Toy("Tallow", 2.0, turns), Toy("jax-js", 8.0, turns), Toy("borch", 4.0, turns)]
    found = training.measured(libraries, "mlp", Namespace(rounds=2, steps=5))
    assert turns == ["Tallow", "jax-js", "borch"] * 3
    assert {name: (row["first"], row["ms"]) for name, row in found.items()} == {
        "Tallow": (2.0, [2.0] * 10),
        "jax-js": (8.0, [8.0] * 10),
        "borch": (4.0, [4.0] * 10),
    }


def test_the_table_has_tallows_share_of_each_peers_time() -> None:
    found = {
        name: {"first": 9.0, "ms": [ms] * 3, "losses": []}
        for name, ms in (("Tallow", 2.0), ("jax-js", 8.0), ("borch", 4.0))
    }
    found["Tallow"]["call_ms"] = [[0.25, 0.25]]
    peers = ["jax-js", "borch"]
    table = [*training.heading(peers), *training.lines("mlp", "webgpu", found, peers)]
    assert table == [
        "| network | device | library | first | step | quartiles | of jax-js | of borch | Python |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
        "| mlp | webgpu | Tallow | 9 ms | 2.0 ms | 2.0 to 2.0 ms | 0.250 | 0.500 | 0.25 ms |",
        "| mlp | webgpu | jax-js | 9 ms | 8.0 ms | 8.0 to 8.0 ms |  |  |  |",
        "| mlp | webgpu | borch | 9 ms | 4.0 ms | 4.0 to 4.0 ms |  |  |  |",
    ]


@pytest.mark.parametrize(
    ("last", "same"), [(2.0, True), (2.019, True), (2.021, False), (math.nan, False)]
)
def test_losses_of_every_peer_are_compared(last: float, same: bool) -> None:
    turns: list[str] = []
    libraries = [
        Toy("Tallow", 1, turns),
        Toy("jax-js", 1, turns),
        Toy("borch", 1, turns, loss=last),
    ]
    found = training.measured(libraries, "mlp", Namespace(rounds=1, steps=1))
    assert training.agree(found) is same


WHOLE, SMALL = "64, 4, 4, 128, 128, 256", "4, 4, 1, 32, 16, 256"
"""The sizes in batches.py, and those for CPython; a vocabulary has all of the bytes."""


def run(*parts: str) -> dict[str, Any]:
    """The names that these files of bench/in_browser/ leave, one after the other. In float64: in
    float32 the third loss of the ResNet depends on the order in which a BLAS adds up."""
    names: dict[str, Any] = {"clock": SimpleNamespace(runner=0.0)}
    for part in parts:
        code = (IN_BROWSER / part).read_text("utf-8")
        assert (WHOLE in code) == (part == "batches.py")
        code = code.replace(WHOLE, SMALL).replace("np.float32", "np.float64")
        exec(compile(code, part, "exec", dont_inherit=True), names)
    return names


def borch_of(torch: Any) -> ModuleType:
    """`borch_webgpu` for programs: PyTorch's names, and what borch adds for steps."""

    def lstm(x: Any, state: list[Any], weights: list[Any], *_: object) -> tuple[Any, Any, Any]:
        """PyTorch's function behind its layer, for one layer, batch first."""
        layer = torch.nn.LSTM(x.shape[-1], weights[1].shape[-1], batch_first=True)
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        given = dict(zip(names, weights, strict=True))
        outputs, (h, c) = torch.func.functional_call(layer, given, (x, tuple(state)))
        return outputs, h, c

    stand_in = ModuleType("borch_webgpu")
    vars(stand_in).update(
        {name: getattr(torch, name) for name in ("nn", "optim", "tensor", "zeros")},
        lstm=lstm,
        compiled=lambda step: step,
        scope=nullcontext,
    )
    return stand_in


@pytest.fixture
def borch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """That module, within PyTorch's habits, which other tests do not have."""
    with context.pytorch.override(True), context.floating.override(tl.float64):
        import tallow.torch

        monkeypatch.setitem(sys.modules, "borch_webgpu", borch_of(tallow.torch))
        yield


@pytest.mark.parametrize("network", list(training.NETWORKS))
def test_both_programs_train_the_same_network(borch: None, network: str) -> None:
    ours = asyncio.run(run("batches.py", "training.py")["steps"](network, 3))["losses"]
    theirs = run("batches.py", "borch.py")["steps"](network, 3)["losses"]
    assert ours == pytest.approx(theirs, rel=1e-9)
    assert len(set(ours)) == 3
