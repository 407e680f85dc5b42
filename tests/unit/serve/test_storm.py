"""A short storm of bad requests among good ones, and how it judges an answer.

`build.py bench --serving --faults` has the long one, which kills the process, too.
"""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest
from bench.service import memory, storm
from bench.service.faults import KINDS, LostError, judged, same

REQUESTS = 300


def test_each_request_of_a_storm_is_answered_refused_or_hung_up() -> None:
    found = asyncio.run(storm.Storm("numpy", REQUESTS, 16, kill=False, seed=1).run())
    assert found.lost == [] and found.again == 0
    assert found.ends.total() == REQUESTS
    assert {end for _, end in found.ends} == {"answered", "refused", "hung up"}
    assert len({name for name, _ in found.ends}) > len(KINDS) - 3
    assert len(found.memory) == 1 and found.memory[0][-1][1] > 1 << 20
    text = storm.lines(found)
    assert "| all |" in "".join(text) and "bytes per request" in text[-2]


@pytest.mark.parametrize(
    ("status", "text", "good"),
    [(500, b'{"error": "failed"}', True), (200, b"{}", False), (400, b'{"error": ""}', True),
     (400, b'{"error": "two\\nlines"}', True), (404, b'{"error": "x"}', True)],
)  # fmt: skip
def test_what_is_lost(status: int, text: bytes, good: bool) -> None:
    with pytest.raises(LostError):
        judged(status, text, (400,), good)


def test_an_answer_of_other_values_is_lost() -> None:
    row = np.ones((1, 2), np.float32)
    assert same(row, row) == "answered"
    for other in (None, row[:, :1], row + 1):
        with pytest.raises(LostError):
            same(other, row)


def test_memory_is_a_line_without_the_beginning() -> None:
    grows = [(x, (10_000 if x < 25 else 20_000) + 7 * x) for x in range(100)]
    assert memory.slope(grows) == pytest.approx(7)
    assert math.isnan(memory.slope([(1, 1)]))
