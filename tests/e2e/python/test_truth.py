"""WebGPU in a browser chooses the tokens that NumPy does; tests/unit/bench/test_truth.py has
WebAssembly, and all types of weights."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from bench import truth
from bench.hosting import IN_BROWSER
from tests.conftest import Notebook
from tests.e2e.python import counting

ONE_BY_ONE = 8


@pytest.fixture(scope="module")
def python(browser_python: Callable[[str], Notebook]) -> Notebook:
    found = browser_python("webgpu")
    found.run((IN_BROWSER / "chosen.py").read_text("utf-8"))
    found.run(f"import base64\n{counting.DISPATCHES}")
    return found


@pytest.mark.parametrize("form", ["Q4_1", "Q6_K", "BF16"])
def test_it_chooses_as_numpy_does(form: str, python: Notebook) -> None:
    content, tokens = truth.model_file(form, layers=1), truth.prompt()
    wanted = truth.references(content, tokens)
    encoded = base64.b64encode(content).decode()
    dispatches, at_once, one_by_one = python.run(f"""
before = gpu.dispatches
found = await chosen(base64.b64decode({encoded!r}), "webgpu", {tokens}, {ONE_BY_ONE})
[gpu.dispatches - before, *found]
""")
    assert dispatches > 100
    assert len(at_once) == truth.POSITIONS and truth.share(at_once, wanted) >= truth.LEAST
    assert len(one_by_one) == ONE_BY_ONE and truth.share(one_by_one, wanted) == 1
