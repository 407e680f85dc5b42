"""What unit tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tallow as tl


@pytest.fixture(params=["numpy", "wasm", "webgpu"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each device in turn, as the default one; WebGPU is this machine's."""
    name: str = request.param
    if name == "webgpu":
        request.getfixturevalue("native")
    before = tl.default_device()
    tl.set_default_device(name)
    yield name
    tl.set_default_device(before)
