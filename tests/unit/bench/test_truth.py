"""WebAssembly chooses the tokens that NumPy does, whatever type a model's weights have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from bench import truth
from bench.in_browser.chosen import chosen


@pytest.mark.parametrize("form", truth.FORMS)
def test_wasm_chooses_as_numpy_does(form: str, run_async: Callable[..., Any]) -> None:
    content, tokens = truth.model_file(form, layers=1), truth.prompt()
    wanted = truth.references(content, tokens)
    assert len(set(wanted)) > 50
    at_once, one_by_one = run_async(chosen(content, "wasm", tokens, 64))
    assert len(at_once) == truth.POSITIONS and truth.share(at_once, wanted) >= truth.LEAST
    assert len(one_by_one) == 64 and truth.share(one_by_one, wanted) == 1
