"""A short search with a fixed seed: some cases of each family, on NumPy and on WebGPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .bench import Bench, started
from .rounds import Rounds
from .strategies import FAMILIES

SEED = 11
COUNTS = {"numpy": 40, "native": 8}
"""Cases of each family."""


@pytest.fixture(scope="module", params=COUNTS)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """The bench of a device; its `device` is "numpy" or "webgpu"."""
    if request.param == "native":
        request.getfixturevalue("native")
    with started(request.param) as bench:
        yield bench


@pytest.mark.parametrize("family", FAMILIES)
def test_no_answer_is_wrong(family: str, bench: Bench) -> None:
    count = COUNTS["numpy" if bench.device.device == "numpy" else "native"]
    rounds = Rounds(bench, {family: list(FAMILIES[family])}, SEED, count)
    rounds.one(family, SEED)
    assert [f"{found.case.about}: {found.why}" for found in rounds.findings] == []
    assert rounds.count("agreed") >= count // 2
