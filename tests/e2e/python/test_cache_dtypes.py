"""A cache of int8 in a tab: texts are those of NumPy, and most tokens those of float32."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from bench import truth
from bench.hosting import IN_BROWSER
from tests.conftest import Notebook
from tests.e2e.python import counting

import tallow as tl

PROMPT, TOKENS, POSITIONS = "The cat is", 16, 24

CODE = f"""
async def made(cache_dtype):
    m = await tl.zoo.load_async(content, cache_dtype=cache_dtype)
    text = await m.generate_async({PROMPT!r}, {TOKENS})
    chosen = await run_async(written(m, tokens))
    return [m.writer.cache.dtype.name, text, chosen]
"""


@pytest.fixture(scope="module")
def content() -> bytes:
    return truth.model_file("F16", width=64, layers=1)


@pytest.mark.parametrize("device", ["wasm", "webgpu"])
def test_a_cache_of_int8(
    device: str, content: bytes, browser_python: Callable[[str], Notebook]
) -> None:
    expected = tl.zoo.load(content, device="numpy", cache_dtype="int8").generate(PROMPT, TOKENS)
    python = browser_python(device)
    python.run((IN_BROWSER / "chosen.py").read_text("utf-8"))
    counted = counting.DISPATCHES if device == "webgpu" else "gpu = None"
    found: dict[str, Any] = python.run(f"""
import base64
{counted}
{CODE}
content = base64.b64decode({base64.b64encode(content).decode()!r})
tokens = {truth.prompt()[:POSITIONS]}
found = {{each: await made(each) for each in ("float32", "int8")}}
found["dispatches"] = gpu.dispatches if gpu else None
found["device"] = tl.default_device()
found
""")
    assert found["device"] == device and (device == "wasm" or found["dispatches"] > 100)
    dtype, text, chosen = found["int8"]
    assert (dtype, text) == ("int8", expected)
    _, _, exact = found["float32"]
    assert len(chosen) == len(exact) == POSITIONS
    assert sum(a == b for a, b in zip(chosen, exact, strict=True)) >= 0.9 * POSITIONS
