"""Texts of a given form, written in a tab by a small model."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from tests.conftest import Notebook
from tests.e2e.python import counting
from tests.unit.hub import tiny

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 6},
        "price": {"type": "number", "multipleOf": 0.25, "minimum": 0.5, "maximum": 99},
        "tags": {
            "type": "array", "items": {"enum": ["new", "old", 3]}, "uniqueItems": True,
            "minItems": 2,
        },
        "next": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
    },
    "required": ["name", "price", "tags", "next"],
}  # fmt: skip


@pytest.fixture(scope="module", params=["wasm", "webgpu"])
def python(request: pytest.FixtureRequest, browser_python: Callable[[str], Notebook]) -> Notebook:
    """A notebook with the model; `ran()` says whether the GPU did something since it was asked."""
    found = browser_python(request.param)
    counted = counting.DISPATCHES if request.param == "webgpu" else "gpu = None"
    found.run(f"""
import base64, json
import tallow as tl
{counted}
before = 0
def ran():
    global before
    last, before = before, gpu.dispatches if gpu else 1
    return before > last or gpu is None
m = await tl.zoo.load_async(base64.b64decode({base64.b64encode(tiny.gguf_file()).decode()!r}))
drawn = dict(temperature=1.5, seed=4)
""")
    return found


def test_a_schema_is_kept(python: Notebook) -> None:
    texts = python.run(f"""
schema = json.loads({json.dumps(SCHEMA)!r})
texts = [m.generate("abc", 120, schema=schema, **drawn)]
texts.append(await m.generate_async("abc", 120, schema=schema))
texts.append("".join([piece async for piece in m.stream("abc", 120, schema=schema, **drawn)]))
assert ran()
texts
""")
    for text in texts:
        jsonschema.validate(json.loads(text), SCHEMA)
    assert texts[0] == texts[2]


def test_patterns_and_choices_are_kept(python: Notebook) -> None:
    text, choice, said = python.run(r"""
text = await m.generate_async("abc", 30, regex=r"[A-Z][a-z]{2,5}: \d{1,4}\.", **drawn)
choice = await m.generate_async("abc", 20, choices=["🙂", "yes", "日本語"], **drawn)
try:
    await m.generate_async("abc", 20, schema={"contains": {}})
except tl.TallowError as error:
    said = str(error)
assert ran()
[text, choice, said]
""")
    assert re.fullmatch(r"[A-Z][a-z]{2,5}: \d{1,4}\.", text)
    assert choice in ("🙂", "yes", "日本語")
    assert "uses 'contains'" in said and len(said.splitlines()) == 1
