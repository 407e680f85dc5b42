"""A tiny language model for the tests of the Write view, and pages that tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.conftest import watched_page
from tests.e2e.conftest import Visitor
from tests.e2e.write.talking import load, opened
from tests.unit.hub import tiny


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    return {"name": "tiny.gguf", "mimeType": "", "buffer": tiny.gguf_file()}


@pytest.fixture(scope="module")
def writer_page(browser: Browser, server: str, given: dict[str, Any]) -> Iterator[Visitor]:
    """A visitor on WebAssembly whose model is loaded."""
    for page, _ in watched_page(browser, server):
        visitor = Visitor(page)
        opened(visitor, given)
        yield visitor


@pytest.fixture
def writer(writer_page: Visitor, given: dict[str, Any]) -> Visitor:
    """That visitor, who has the tiny model and no conversations. What a test chose as options
    stays."""
    hook = writer_page.hook
    writer_page.wait()
    while hook("write-delete").is_visible():
        talks = hook("write-talks").locator("option")
        count = talks.count()
        hook("write-delete").click()
        if count > 1:
            expect(talks).to_have_count(count - 1)
        else:
            expect(hook("write-delete")).to_be_hidden()
    if hook("write-new").is_visible():
        hook("write-new").click()
    status = hook("write-model-info")
    is_loaded = status.get_attribute("data-state") == "loaded"
    if not is_loaded or given["name"] not in status.inner_text():
        load(hook, given)
    return writer_page
