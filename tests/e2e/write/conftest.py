"""A tiny language model for the tests of the Write view."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.hub import tiny


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    return {"name": "tiny.gguf", "mimeType": "", "buffer": tiny.gguf_file()}
