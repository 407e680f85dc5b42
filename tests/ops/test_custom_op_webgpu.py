"""Ops of a user's in Chromium, on WebGPU; and how their WGSL fails there."""

from __future__ import annotations

from typing import Any

import pytest
from custom_cases import CASES, SCALE

from tallow_build.paths import ROOT

WRONG = SCALE.replace("* factor[", "* factr[")
LINE = next(n for n, line in enumerate(WRONG.splitlines(), 1) if "factr[" in line)

BREAKING = f"""
import numpy as np
import custom_cases
import tallow as tl

op = custom_cases.scaled({WRONG!r})
x, factor = np.ones((2, 3), np.float32), np.ones(2, np.float32)
said = []

async def failing(awaitable):
    try:
        await awaitable
    except tl.KernelError as error:
        said.append([error.op, error.line, str(error)])
"""


@pytest.fixture(scope="module")
def page_python(python: Any) -> Any:
    """The browser's Python, with the example."""
    python.write("fused_attention.py", (ROOT / "examples/fused_attention.py").read_bytes())
    return python


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, page_python: Any) -> None:
    outcome = page_python.run(
        "import sys; sys.path.insert(0, '.')\n"
        f"import custom_cases; await custom_cases.run_case({name!r}, 'webgpu')"
    )
    assert outcome["device"] == "webgpu"
    assert outcome["adapter"]


def check(said: list[list[Any]], times: int) -> None:
    assert len(said) == times
    for op, line, message in said:
        assert (op, line) == ("scaled_rows", LINE)
        assert f"the WGSL of scaled_rows, line {LINE}: " in message
        assert "factr" in message


def test_a_mistake_is_an_error_with_the_line(python: Any) -> None:
    """When the program is loaded, each time."""
    code = "await failing(op(x, factor).numpy_async())\n"
    check(python.run(BREAKING + 2 * code + "said"), 2)


def test_a_mistake_in_what_is_realized_is_an_error_when_it_is_read(python: Any) -> None:
    """Nothing waits for the compiler before that; what comes later works again."""
    code = "await failing((op(x, factor) + 1.0).realize().numpy_async())\n"
    check(python.run(BREAKING + code + "said"), 1)
    after = "[(await (tl.asarray(x) + 1.0).realize().numpy_async()).tolist()]"
    assert python.run(BREAKING + code + after) == [[[2.0] * 3] * 2]


def test_a_step_with_a_mistake_fails_again(python: Any) -> None:
    """Its program is kept, and so is the reason why it cannot run."""
    step = """
y = tl.asarray(x).realize()
@tl.jit
def step(x):
    return op(x, factor)
async def call():
    return await step(y).numpy_async()
"""
    code = "await failing(call())\n"
    check(python.run(BREAKING + step + 2 * code + "said"), 2)
