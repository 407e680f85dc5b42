"""The op suite on a device made of the records of ops alone: see toy.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from op_cases import CASES
from run_case import graph_of, run_case
from tests.ops.toy import TOY, ToyDevice

from tallow.compile import TARGETS
from tallow.dtype import float64
from tallow.graph import Node
from tallow.op import Elementwise, Movement, Reduce, Source
from tallow.ops.arrange import argsort, scatter
from tallow.ops.contract import matmul
from tallow.runtime.device import DEVICES

KINDS = (Elementwise, Movement, Reduce, Source)
LARGEST = 2500
"""Lists are slow."""


def is_for_lists(node: Node) -> bool:
    computed = isinstance(node.op, KINDS) or node.op in (matmul, argsort, scatter)
    return computed and node.size <= LARGEST and node.dtype != float64


NAMES = [name for name in CASES if all(map(is_for_lists, graph_of(name).nodes()))]


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str, run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "toy", TOY)
    monkeypatch.setitem(DEVICES, "toy", ToyDevice())
    outcome = run_async(run_case(name, "toy"))
    assert outcome["wrong"] is None, outcome["wrong"]
    assert outcome["device"] == "toy"
