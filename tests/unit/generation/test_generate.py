"""Texts: pieces, ends, prompts, slots, drafts, and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from tests.unit.generation.networks import Letters, model, network

import tallow as tl
from tallow.core.drivers import run_sync
from tallow.errors import OptionError
from tallow.generation import LanguageModel, Request, Sampling, Writer
from tallow.generation.lookup import continued
from tallow.generation.sampling import Kinds
from tallow.generation.stopping import Stops
from tallow.generation.stream import Pieces

PROMPT = "ABCDEFGHABCDEFG"
DRAWN: dict[str, Any] = {"temperature": 0.9, "top_k": 30, "top_p": 0.95, "min_p": 0.01, "seed": 7}


pytestmark = pytest.mark.usefixtures("on_numpy")


def expected(net: Any, tokens: list[int], count: int) -> list[int]:
    """The greedy text, computed from the start for each token."""
    found = list(tokens)
    with tl.no_grad():
        for _ in range(count):
            scores = net(tl.asarray(np.array([found], np.int32))).numpy()
            found.append(int(scores[0, -1].argmax()))
    return found[len(tokens) :]


def test_a_text_is_what_the_network_gives_from_the_start() -> None:
    m = model()
    tokens = m.tokens_of(PROMPT)
    text = m.generate(PROMPT, 12)
    assert [ord(each) - 48 for each in text] == expected(m.network, tokens, 12)
    assert text == m.generate(tokens, 12) == "".join(m.stream(PROMPT, 12))
    assert text == asyncio.run(m.generate_async(PROMPT, 12))


def test_a_stream_is_an_iterator_of_both_kinds() -> None:
    m = model()

    async def pieces() -> list[str]:
        return [piece async for piece in m.stream(PROMPT, 6)]

    assert asyncio.run(pieces()) == list(m.stream(PROMPT, 6))
    stream = m.stream(PROMPT, 6)
    assert len(next(stream)) == 1 and stream.written is not None
    stream.close()
    assert list(stream) == [] and stream.written.end == "stopped" and not m.writer.open


def test_messages_go_through_the_template() -> None:
    m = model()
    messages = [{"role": "user", "content": "AB"}]
    assert m.tokens_of(messages) == Letters().encode("U:AB;", add_special_tokens=False).ids
    assert m.generate(messages, 4) == m.generate(m.tokens_of(messages), 4)


def test_a_seed_repeats_a_text_and_another_does_not() -> None:
    m = model()
    text = m.generate(PROMPT, 24, **DRAWN)
    assert text == m.generate(PROMPT, 24, **DRAWN) != m.generate(PROMPT, 24, **DRAWN | {"seed": 8})
    assert text != m.generate(PROMPT, 24)


def test_plans_are_compiled_once_for_all_positions_and_numbers() -> None:
    m = model()
    m.generate(PROMPT, 4)
    m.generate(PROMPT, 4, **DRAWN)
    before = m.writer.plans.plans
    m.generate(PROMPT, 60)
    m.generate(PROMPT[:4], 30, **DRAWN | {"temperature": 0.3, "top_k": 5, "seed": 3})
    assert m.writer.plans.plans == before


def test_a_token_costs_one_call_and_few_bytes() -> None:
    writer = Writer(network())
    text = run_sync(writer.begin(Request([1, 2, 3], 50)))
    calls = []
    plan = writer.plans._plan
    writer.plans._plan = lambda name, *args: calls.append(name) or plan(name, *args)  # type: ignore[method-assign, func-returns-value]
    for _ in range(5):
        run_sync(writer.step())
    assert calls == ["decode"] * 5 and len(text.tokens) == 6
    (token,) = run_sync(writer.plans.decode(text.request.kinds))
    assert token.shape == (1,) and token.dtype == tl.int32


def test_a_cache_grows_and_the_text_goes_on() -> None:
    m = model()
    tokens = [1 + i % 60 for i in range(250)]
    text = m.generate(tokens, 20)
    assert [ord(each) - 48 for each in text] == expected(m.network, tokens, 20)
    assert m.writer.cache.capacity == 512


def test_windows_roll() -> None:
    m = model(sliding_window=20)
    tokens = [1 + i * i % 60 for i in range(900)]
    text = m.generate(tokens, 30)
    cache = m.writer.cache
    assert cache.rolls and cache.capacity == 1024 and cache.buffers[0][0].shape[2] == 256
    assert m.writer._bases[0] > 0
    assert [ord(each) - 48 for each in text] == expected(m.network, tokens, 30)
    text = m.generate(tokens[:800], 5)  # the window before it is gone
    assert [ord(each) - 48 for each in text] == expected(m.network, tokens[:800], 5)


def test_what_a_prompt_shares_with_the_text_before_is_not_computed_again() -> None:
    m = model()
    first = m.generate(PROMPT, 10)
    widths = []
    prefill = m.writer.plans.prefill

    def counted(slot: int, position: int, base: int, tokens: Any, *rest: Any) -> Any:
        widths.append((position, len(tokens)))
        return prefill(slot, position, base, tokens, *rest)

    m.writer.plans.prefill = counted  # type: ignore[assignment, method-assign]
    m.generate(PROMPT + first + "XYZ", 3)
    assert widths == [(len(PROMPT) + 1 + 9, 4)]  # the last token was written, not read
    again = m.generate(PROMPT, 10)
    assert again == first and widths[1] == (len(PROMPT), 1)


def test_several_texts_at_once_are_those_that_are_written_alone() -> None:
    alone, several = model(), model(slots=3)
    prompts = [PROMPT[: 3 + 2 * i] for i in range(5)]
    for options in ({}, DRAWN):
        texts = several.generate_all(prompts, 10, **options)
        assert texts == [alone.generate(each, 10, **options) for each in prompts]
    assert several.generate(PROMPT, 10) == alone.generate(PROMPT, 10)
    assert asyncio.run(several.generate_all_async(prompts, 4)) == [
        alone.generate(each, 4) for each in prompts
    ]


def test_slots_run_out() -> None:
    writer = Writer(network(), slots=2)
    texts = [run_sync(writer.begin(Request([1 + i], 9))) for i in range(2)]
    with pytest.raises(OptionError, match="all 2 slots"):
        run_sync(writer.begin(Request([5], 9)))
    writer.stop(texts[0])
    assert run_sync(writer.begin(Request([5], 9))).slot == texts[0].slot


@pytest.mark.parametrize("options", [{}, DRAWN], ids=["greedy", "drawn"])
def test_a_draft_changes_nothing(options: dict[str, Any]) -> None:
    m = model()
    steps = []
    decode, verify = m.writer.plans.decode, m.writer.plans.verify
    m.writer.plans.decode = lambda *a: steps.append("decode") or decode(*a)  # type: ignore
    m.writer.plans.verify = lambda *a: steps.append("verify") or verify(*a)  # type: ignore
    text = m.generate(PROMPT, 40, **options)
    taken = len(steps)
    assert m.generate(PROMPT, 40, lookup=4, **options) == text
    assert "verify" in steps and len(steps) - taken <= taken


def test_drafts_are_what_followed_before() -> None:
    assert continued([5, 1, 2, 3, 9, 8, 1, 2, 3], 3) == [9, 8, 1]
    assert continued([1, 7, 1, 8, 1], 2) == [8, 1]
    assert continued([1, 2, 1], 4) == [2, 1, 0, 0]
    assert continued([1, 2, 3], 2) == [] == continued([4], 2)


def test_texts_that_end_a_text() -> None:
    m = model()
    text = m.generate(PROMPT, 20)
    stop = text[7:9]
    at = text.index(stop)
    assert m.generate(PROMPT, 20, stop=stop) == text[:at]
    assert "".join(m.stream(PROMPT, 20, stop=["not there", stop])) == text[:at]
    assert not m.writer.open


def test_what_may_become_a_stop_waits() -> None:
    stops = Stops(["abc", "bd"])
    assert [stops.passed(each) for each in ["xa", "b", "ab", "x", "b"]] == [
        "x",
        "",
        "ab",
        "abx",
        "",
    ]
    assert stops.rest() == "b" and not stops.ended
    assert stops.passed("zabcd") == "z" and stops.ended and stops.rest() == "" == stops.passed("x")


def test_tokens_that_end_a_text() -> None:
    text = model().generate(PROMPT, 20)
    end = ord(text[5]) - 48
    at = text.index(text[5])
    m = model(ends=[end])
    stream = m.stream(PROMPT, 20)
    assert "".join(stream) == text[:at]
    assert stream.written is not None and stream.written.end == "end"


def test_one_of_given_answers() -> None:
    m = model(ends=[0])
    answers = ["YES", "NO", "NOBODY", "MAYBE"]
    assert m.generate(PROMPT, 20, choices=answers) in answers
    found = {m.generate(PROMPT, 20, choices=answers, **DRAWN | {"seed": i}) for i in range(12)}
    assert len(found) > 1 and found <= set(answers)
    assert m.generate(PROMPT, 20, choices=["ONLY"]) == "ONLY"
    assert m.generate(PROMPT, 8) == model().generate(PROMPT, 8)


def test_tokens_that_a_function_allows() -> None:
    m = model()
    even = m.generate(PROMPT, 12, allowed=lambda tokens: range(0, 64, 2))
    assert all((ord(each) - 48) % 2 == 0 for each in even) and len(even) == 12
    short = m.generate(PROMPT, 12, allowed=lambda tokens: None if len(tokens) < 3 else [])
    assert short == m.generate(PROMPT, 3)
    assert m.generate(PROMPT, 12, allowed=lambda tokens: []) == ""
    with pytest.raises(OptionError, match="the token 64 is none of the model's 64"):
        m.generate(PROMPT, 12, allowed=lambda tokens: [3, 64])


def test_a_penalty_avoids_what_the_text_has() -> None:
    m = model()
    text = m.generate(PROMPT, 30, repetition_penalty=1000.0)
    assert len(set(text)) == 30 and not set(text) & set(PROMPT)


def test_what_the_network_considered() -> None:
    m = model()
    stream = m.stream(PROMPT, 3, considered=True)
    text = "".join(stream)
    assert stream.written is not None
    considered = stream.written.considered
    scores = m.scores(PROMPT).numpy()[-1].astype(np.float64)
    parts = np.exp(scores - scores.max())
    parts /= parts.sum()
    assert [token for token, _ in considered[0]] == np.argsort(-parts)[:10].tolist()
    np.testing.assert_allclose([part for _, part in considered[0]], np.sort(parts)[:-11:-1], 1e-4)
    assert [each[0][0] for each in considered] == [ord(each) - 48 for each in text]


def test_scores_of_every_position() -> None:
    m = model()
    tokens = m.tokens_of(PROMPT)
    with tl.no_grad():
        whole = m.network(tl.asarray(np.array([tokens], np.int32))).numpy()[0]  # type: ignore[operator]
    np.testing.assert_allclose(m.scores(PROMPT).numpy(), whole, atol=1e-5)
    assert m.generate(PROMPT, 5) == model().generate(PROMPT, 5)


def test_a_text_ends_with_the_context() -> None:
    m = model(max_position_embeddings=20)
    stream = m.stream([1] * 15, 50)
    assert len("".join(stream)) == 5
    assert stream.written is not None and stream.written.end == "context"
    with pytest.raises(OptionError, match=r"has 20 tokens, and the model reads 19.*shorten it"):
        m.generate([1] * 20)


def test_pieces_never_end_within_a_character() -> None:
    raw = "aé\n日本🙂z".encode()
    pieces = Pieces(lambda tokens: bytes(tokens).decode("utf-8", "replace"))
    found = [pieces.step(each) for each in raw]
    assert "".join(each or "" for each in found) == "aé\n日本🙂z"
    assert not any("\ufffd" in (each or "") for each in found)
    pieces.step(raw[1])
    assert pieces.finish() == "\ufffd"


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 0}, {"max_tokens": 1.5}, {"temperature": -1}, {"temperature": float("nan")},
        {"temperature": float("inf")}, {"top_p": 0}, {"top_p": 1.1}, {"min_p": "a"},
        {"top_k": -1}, {"top_k": 1.5}, {"seed": -1}, {"repetition_penalty": 0}, {"stop": [""]},
        {"stop": [3]}, {"lookup": -1}, {"choices": []}, {"choices": ["a", ""]},
        {"choices": ["a"], "allowed": print}, {"choices": "ab"}, {"choices": ["a"], "regex": "a"},
        {"temprature": 1},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_do_not_fit(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError) as caught:
        model().generate(PROMPT, **options)
    assert len(str(caught.value).splitlines()) == 1


def test_prompts_that_do_not_fit() -> None:
    m = model()
    with pytest.raises(OptionError, match="the prompt is empty"):
        m.generate([])
    with pytest.raises(OptionError, match="token 64 is none of the model's 64"):
        m.generate([1, 64])
    with pytest.raises(OptionError, match="no tokenizer"):
        LanguageModel(network()).generate("text")
    with pytest.raises(OptionError, match="one slot or more"):
        Writer(network(), slots=0)
    assert not m.writer.open and m.generate(PROMPT, 2)


def test_an_error_frees_the_slot() -> None:
    m = model()

    def fails(tokens: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        m.generate(PROMPT, allowed=fails)
    assert not m.writer.open and m.generate(PROMPT, 2)


def test_sampling_says_what_it_needs() -> None:
    assert Sampling(top_k=5).kinds == Sampling().kinds == Kinds()
    assert Sampling(1.0, top_k=5).kinds == Kinds(draws=True, top_k=True)
    assert Sampling(1.0, top_p=0.9).kinds == Kinds(draws=True, top_p=True)
