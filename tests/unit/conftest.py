"""What unit tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tallow as tl
from tallow.ops import numpy_kernels
from tallow.runtime import eager


def used(name: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A device as the default one; WebGPU is this machine's."""
    if name == "webgpu":
        request.getfixturevalue("native")
    before = tl.default_device()
    tl.set_default_device(name)
    yield name
    tl.set_default_device(before)


@pytest.fixture(params=["numpy", "wasm", "webgpu"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each device in turn."""
    yield from used(request.param, request)


@pytest.fixture
def on_numpy(request: pytest.FixtureRequest) -> Iterator[str]:
    """NumPy as the default device."""
    yield from used("numpy", request)


@pytest.fixture(params=["numpy", "numpy without BLAS", "wasm", "webgpu"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each device in turn, and NumPy as it is in a browser."""
    if request.param == "numpy without BLAS":
        monkeypatch.setattr(numpy_kernels, "HAS_BLAS", False)
    yield from used(request.param.split()[0], request)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by the number of nodes of each graph that is compiled, those under `@tl.jit` aside."""
    sizes: list[int] = []
    compile_eager = eager._compiled

    def counted(outputs: Any, structure: Any, used: Any) -> Any:
        sizes.append(len(eager.topological(outputs)))
        return compile_eager(outputs, structure, used)

    monkeypatch.setattr(eager, "_compiled", counted)
    return sizes
