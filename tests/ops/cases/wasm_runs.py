"""Runs a node on WebAssembly, through wasmtime, with and without threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.core.dtype import as_dtype
from tallow.devices.wasm import target as wasm
from tallow.devices.wasm.codegen.kernels import Features
from tallow.devices.wasm.runner import WasmBackend
from tallow.graph import Graph, Node, input_node
from tallow.runtime.device import DEVICES

RNG = np.random.default_rng(22)
_FIRST = RNG.bit_generator.state


def draw_again() -> None:
    """Begins the random numbers anew, so that a test's do not depend on the tests before it."""
    RNG.bit_generator.state = _FIRST


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def drawn(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Integers over the whole range, its ends among them."""
    ends = np.iinfo(dtype)
    values = RNG.integers(ends.min, ends.max, shape, dtype, endpoint=True)
    edge = RNG.random(shape)
    return np.where(edge < 0.1, ends.min, np.where(edge > 0.9, ends.max, values)).astype(dtype)


def fed(name: str, array: np.ndarray) -> Node:
    return input_node(name, array.shape, tl.float32)


def given(name: str, array: np.ndarray) -> Node:
    return input_node(name, array.shape, as_dtype(array.dtype))


def run(result: Node, feeds: Mapping[Node, np.ndarray], relaxed: bool) -> tuple[Any, list[str]]:
    """The result in WebAssembly, and the names of the steps that it left to NumPy."""
    backend = DEVICES["wasm"].backend()
    assert isinstance(backend, WasmBackend)
    features = Features(relaxed and backend.limits.traits.relaxed)
    limits = replace(backend.limits, traits=features)
    before = backend.threads
    answers = []
    # Kernels that no threads share, and kernels that one thread or several ones have.
    for effort, threads in ((float("inf"), 1), (0, 1), (0, 3)):
        backend.use_threads(threads)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wasm, "_WORTH_SHARING", effort)
            compiled = compile_graph(Graph(tuple(feeds), {"y": result}, "kernels"), "wasm", limits)
        program = run_sync(backend.load(compiled))
        (found,) = run_sync(program.run([memoryview(array.tobytes()) for array in feeds.values()]))
        answers.append(bytes(found.data))
    backend.use_threads(before)
    assert len(set(answers)) == 1
    steps = (*compiled.plan.prepare, *compiled.plan.run)
    left = [step.name for step in steps if not step.kernel and step.write[0]]
    return found.numpy(), left
