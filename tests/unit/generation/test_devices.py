"""The same texts on every device; what a step costs there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.generation.networks import model, network
from tests.unit.generation.test_generate import DRAWN, PROMPT

import tallow as tl
from tallow.core.drivers import run_sync
from tallow.devices.webgpu.native.memory import NativeMemory
from tallow.devices.webgpu.native.program import NativeProgram
from tallow.generation import Request, Writer
from tallow.generation.sampling import Kinds, Sampling, allowed_bits, chosen, packed_bits


def test_a_seed_gives_the_same_text(device: str) -> None:
    m = model(slots=2, sliding_window=8)
    tl.set_default_device("numpy")
    try:
        expected = model(sliding_window=8).generate(PROMPT, 12, **DRAWN)
    finally:
        tl.set_default_device(device)
    assert m.generate(PROMPT, 12, **DRAWN) == expected
    texts = m.generate_all([PROMPT, PROMPT[:5]], 12, lookup=3, **DRAWN)
    assert texts[0] == expected
    assert m.generate(PROMPT, 12, lookup=3, **DRAWN) == expected


def test_on_webassembly_every_step_of_a_token_has_a_kernel() -> None:
    writer = Writer(network(), device="wasm")
    run_sync(writer.begin(Request([5, 6, 7], 8)))
    run_sync(writer.step())
    ((entry,),) = writer.plans._made["decode"]._entries.values()
    steps = entry.program._plan.run  # type: ignore[attr-defined]
    assert steps and [step.name for step in steps if not step.kernel] == []


def test_on_a_gpu_a_token_is_one_submit(native: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run brings the token along: a read of its own would be a submit more."""
    writer = Writer(network(), device="webgpu")
    text = run_sync(writer.begin(Request([5, 6, 7], 8)))
    run_sync(writer.step())
    submitted = []
    submit = NativeProgram._submit

    def counted(program: NativeProgram, *args: Any) -> Any:
        submitted.append(program)
        return submit(program, *args)

    monkeypatch.setattr(NativeProgram, "_submit", counted)
    monkeypatch.setattr(NativeMemory, "read", lambda *_: pytest.fail("a read of its own"))
    for _ in range(3):
        run_sync(writer.step())
    assert len(submitted) == 3 and len(text.tokens) == 5


def _probabilities(scores: np.ndarray, sampling: Sampling) -> np.ndarray:
    """Of each token, by the definitions."""
    weights = np.exp((scores - scores.max()) / sampling.temperature)
    order = np.argsort(-weights, kind="stable")
    if sampling.top_k:
        weights[order[sampling.top_k :]] = 0
    before = np.cumsum(weights[order]) - weights[order]
    weights[order[before >= sampling.top_p * weights.sum()]] = 0
    weights[weights < sampling.min_p * weights.max()] = 0
    found: np.ndarray = weights / weights.sum()
    return found


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(1.0), Sampling(0.5), Sampling(1.3, top_k=4), Sampling(1.0, top_p=0.6),
        Sampling(1.0, min_p=0.2), Sampling(1.5, top_k=9, top_p=0.8, min_p=0.1),
    ],
    ids=str,
)  # fmt: skip
def test_tokens_are_drawn_as_often_as_they_should(sampling: Sampling) -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=12).astype(np.float32) * 1.5
    count = 4000
    numbers = tl.asarray([sampling.numbers] * count, "float32")
    words = tl.asarray(np.tile(np.array([[7, 0]], np.uint32), (count, 1)))
    found = []
    step = tl.jit(
        lambda x, numbers, words, at: chosen(x, sampling.kinds, numbers, words, at), device="numpy"
    )
    for start in range(0, count, 100):
        part = step(
            np.tile(scores, (100, 1)), numbers[:100], words[:100],
            np.arange(start, start + 100, dtype=np.int32),
        )  # fmt: skip
        found += part.numpy().tolist()
    often = np.bincount(found, minlength=12) / count
    expected = _probabilities(scores.astype(np.float64), sampling)
    assert set(np.flatnonzero(often)) <= set(np.flatnonzero(expected))
    spread = np.sqrt(expected * (1 - expected) / count)
    assert (np.abs(often - expected) <= 4.5 * spread + 1 / count).all()


def test_tokens_that_are_allowed(device: str) -> None:
    tokens = [0, 5, 31, 32, 70]
    words = tl.asarray(np.array([packed_bits(tokens, 71)], np.uint32))
    found = allowed_bits(words, 71).numpy()
    assert np.flatnonzero(found[0]).tolist() == tokens
    scores = tl.asarray(np.arange(71, dtype=np.float32)[None, ::-1].copy())
    none = tl.zeros((1, 2), "uint32")
    kinds = Kinds(masked=True)
    numbers, at = tl.asarray([Sampling().numbers], "float32"), tl.asarray([0], "int32")
    words = tl.asarray(np.array([packed_bits(tokens[1:], 71)], np.uint32))
    assert chosen(scores, kinds, numbers, none, at, allowed=words).numpy().tolist() == [5]
