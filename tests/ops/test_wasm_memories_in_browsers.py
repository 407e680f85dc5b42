"""How many programs of WebAssembly a page keeps."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import Notebook


def test_chromium_keeps_no_more_programs_than_it_has_memories_for(
    browser_python: Callable[[str], Notebook],
) -> None:
    """Every program has a memory of its own, and a process has room for about a hundred."""
    code = """
import tallow as tl
kept = [tl.jit(lambda x: x + 1) for _ in range(40)]
for number, step in enumerate(kept):
    step(tl.ones(number + 1).realize())
sums = [float((tl.ones(number + 65) * 2).realize().sum()) for number in range(60)]
[step(tl.ones(3).realize()).numpy().tolist() for step in kept[:2]] + [sums]
"""
    expected = [[2.0] * 3] * 2 + [[2.0 * (number + 65) for number in range(60)]]
    assert browser_python("wasm").run(code) == expected
