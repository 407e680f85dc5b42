"""Whisper: its cache, its windows, the rules of its timestamps, what is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import zoo
from tallow.errors import OptionError, ShapeError
from tallow.zoo.timestamps import Allowed, Cut, Vocabulary
from tallow.zoo.transcriber import _Decoded

END, START, EN, DE, TRANSLATE, TRANSCRIBE, SILENT, NONE, TIMES = range(20, 29)
FRAMES = 50
SIZE = TIMES + FRAMES + 1

GENERATION: dict[str, Any] = {
    "decoder_start_token_id": START, "eos_token_id": END, "no_timestamps_token_id": NONE,
    "is_multilingual": True, "lang_to_id": {"<|en|>": EN, "<|de|>": DE},
    "task_to_id": {"translate": TRANSLATE, "transcribe": TRANSCRIBE},
    "suppress_tokens": [3], "max_initial_timestamp_index": 2,
}  # fmt: skip
WORDS = Vocabulary.of(GENERATION, SIZE)


class Letters:
    """Decodes a token to a letter."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        return "".join(chr(97 + token) for token in ids)


def whisper(seed: int = 1) -> zoo.Whisper:
    """A small network, which hears windows of a second."""
    tl.manual_seed(seed)
    net = zoo.Whisper(SIZE, 16, 2, 2, 6, FRAMES, 24, decoder_layers=3)
    for name, parameter in net.named_parameters():
        if "norm" not in name:
            parameter.assign(tl.randn(*parameter.shape) * 0.4)
    return net.eval()


def transcriber(seed: int = 1, **changes: Any) -> zoo.Transcriber:
    """Of the small network."""
    return zoo.Transcriber(whisper(seed), Letters(), {**GENERATION, **changes})


BEST = (0.0,)
"""What a network with random weights says is never likely."""


def sound(seconds: float, rate: int = 16000) -> np.ndarray:
    """Three tones that come and go."""
    time = np.arange(round(seconds * rate)) / rate
    return (0.3 * np.sin(time * 1900) * np.sin(time * 5) + 0.2 * np.sin(time * 700)).astype("f4")


def packed(weight: tl.Tensor) -> tl.Tensor:
    """A weight in 8 bits, with one scale and a zero point."""
    values = weight.numpy()
    scale = float(np.abs(values).max() / 127)
    codes = tl.asarray((values / scale + 128).round().astype(np.uint8))
    return (codes.astype(tl.float32) - 128) * scale


def test_packed_weights_are_multiplied_as_they_lie_in_a_step() -> None:
    tl.set_default_device("wasm")
    try:
        tl.manual_seed(1)
        net = zoo.Whisper(200, 64, 2, 1, 6, FRAMES, 24).eval()
        narrow = {
            name: packed(weight)
            for name, weight in net.named_parameters()
            if name.startswith("model.decoder.") and weight.ndim == 2 and weight.size >= 4096
        }
        zoo.set_weights(net, narrow)
        wide = zoo.Whisper(200, 64, 2, 1, 6, FRAMES, 24).eval()
        with tl.no_grad():
            for name, weight in wide.named_parameters():
                weight.assign(dict(net.named_parameters()).get(name, narrow.get(name)))
            found = []
            for each in (net, wide):
                cache = each.cache()
                cache.hear(each.listen(tl.ones((1, 6, 2 * FRAMES))))
                step = tl.jit(lambda x, at, each=each, cache=cache: each.step(x, at, cache))
                found.append(step(tl.asarray([[5]]), tl.asarray(0)).numpy())
                ((entry,),) = step._entries.values()  # type: ignore[attr-defined]
                names = [one.name for one in entry.program._plan.run]
                products = sum("block_matmul" in name for name in names)
                assert products == (9 if each is net else 0), names
    finally:
        tl.set_default_device(None)
    np.testing.assert_allclose(found[0], found[1], atol=2e-4 * np.abs(found[1]).max())


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
def test_steps_with_a_cache_give_what_the_whole_text_gives(device: str, request: Any) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    tl.set_default_device(device)
    try:
        net = whisper()
        features = tl.randn(1, 6, 2 * FRAMES).realize()
        tokens = [START, EN, TRANSCRIBE, TIMES, 5, 7, 2]
        with tl.no_grad():
            whole = net(features, tl.asarray([tokens])).numpy()[0]
            cache = net.cache()
            cache.hear(net.listen(features))
            step = tl.jit(lambda token, position: net.step(token, position, cache))
            for position, token in enumerate(tokens):
                ids = np.array([[token]], np.int32)
                found = step(ids, np.array(position, np.int32)).numpy()[0]
                np.testing.assert_allclose(found, whole[position], atol=2e-4)
        assert step.plans == 1
    finally:
        tl.set_default_device(None)


def test_names_are_those_of_published_weights() -> None:
    state = zoo.Whisper(SIZE, 16, 2, 1, 6, FRAMES, 24).state_dict()
    attention = [*(f"{name}_proj.weight" for name in ("q", "k", "v", "out")),
                 *(f"{name}_proj.bias" for name in ("q", "v", "out"))]  # fmt: skip
    both = [f"{name}.{part}" for part in ("weight", "bias") for name in
            ("self_attn_layer_norm", "fc1", "fc2", "final_layer_norm")]  # fmt: skip
    both += [f"self_attn.{name}" for name in attention]
    crossed = [f"encoder_attn.{name}" for name in attention]
    crossed += [f"encoder_attn_layer_norm.{part}" for part in ("weight", "bias")]
    convolutions = [f"conv{n}.{part}" for n in (1, 2) for part in ("weight", "bias")]
    assert set(state) == {
        *(f"model.{part}.{name}" for part in ("encoder", "decoder")
          for name in ("embed_positions.weight", "layer_norm.weight", "layer_norm.bias")),
        "model.decoder.embed_tokens.weight",
        *(f"model.encoder.{name}" for name in convolutions),
        *(f"model.encoder.layers.0.{name}" for name in both),
        *(f"model.decoder.layers.0.{name}" for name in [*both, *crossed]),
    }  # fmt: skip


def test_a_config_gives_all_sizes() -> None:
    config = {
        "vocab_size": 40, "d_model": 8, "encoder_layers": 1, "decoder_layers": 2,
        "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 12,
        "decoder_ffn_dim": 12, "num_mel_bins": 5, "max_source_positions": 10,
        "max_target_positions": 7,
    }  # fmt: skip
    net = zoo.Whisper.from_config(config)
    assert net(tl.zeros((1, 5, 20)), tl.zeros((1, 7), "int32")).shape == (1, 7, 40)
    assert net.state_dict()["model.decoder.layers.1.fc1.weight"].shape == (12, 8)
    with pytest.raises(OptionError, match="relu"):
        zoo.Whisper.from_config({**config, "activation_function": "relu"})
    with pytest.raises(OptionError, match="differ"):
        zoo.Whisper.from_config({**config, "decoder_ffn_dim": 16})
    with pytest.raises(OptionError, match="3 heads"):
        zoo.Whisper(width=16, heads=3)
    with pytest.raises(ShapeError, match=r"\(n, 5, 20\)"):
        net(tl.zeros((1, 5, 18)), tl.zeros((1, 3), "int32"))
    with pytest.raises(ShapeError, match="up to 7"):
        net(tl.zeros((1, 5, 20)), tl.zeros((1, 8), "int32"))


# ---- the rules of timestamps -------------------------------------------------------------------


def test_what_may_follow() -> None:
    last = SIZE - 1
    assert WORDS.allowed([]) == Allowed(TIMES, TIMES, TIMES + 2)  # a time, near the start
    assert WORDS.allowed([TIMES]) == Allowed(0, SIZE, last)  # a text
    assert WORDS.allowed([TIMES, 4]) == Allowed(0, TIMES + 1, last)  # a text, or a later time
    assert WORDS.allowed([TIMES, 4, TIMES + 9]) == Allowed(END, TIMES + 9, last)  # the next's start
    assert WORDS.allowed([TIMES, 4, TIMES + 9, TIMES + 9]) == Allowed(0, SIZE, last)
    # A piece that began is heard where the sound ends, if more than a second of it is left.
    pair = [TIMES, 4, TIMES + 9, TIMES + 9]
    assert WORDS.allowed(pair, 1.17) == Allowed(0, SIZE, last)
    assert WORDS.allowed(pair, 1.19) == Allowed(0, SIZE, last, False)
    assert WORDS.allowed([TIMES], 5.0) == Allowed(0, SIZE, last)


def test_a_text_that_may_not_end_goes_on() -> None:
    one = transcriber()
    scores = np.zeros((1, SIZE), np.float32)
    scores[0, [END, 7]] = 5, 4
    one.net.step = lambda *given: tl.asarray(scores)  # type: ignore[method-assign]
    for may_end, wanted in ((1, END), (0, 7)):
        given = np.array([TIMES, 4, 0, SIZE, SIZE, may_end], np.int32)
        assert int(one._step(tl.asarray(given)).numpy()[0]) == wanted


def test_where_a_text_is_cut() -> None:
    a, b, c = TIMES, TIMES + 20, TIMES + 40
    assert WORDS.cuts([a, 4, 5, b], 1.0) == ([Cut(0.0, 0.4, [4, 5])], 1.0)
    two = [Cut(0.0, 0.4, [4]), Cut(0.4, 0.8, [5])]
    assert WORDS.cuts([a, 4, b, b, 5, c], 1.0) == (two, 1.0)
    # What has no end is heard again.
    assert WORDS.cuts([a, 4, b, b, 5], 1.0) == (two[:1], 0.4)
    assert WORDS.cuts([a, 4, b, b, 5], 1.0, True) == ([two[0], Cut(0.4, 1.0, [5])], 1.0)
    assert WORDS.cuts([a, 4, b, b], 1.0, True) == (two[:1], 0.4)  # more is to come
    assert WORDS.cuts([a, 4, 5], 1.0) == ([Cut(0.0, 1.0, [4, 5])], 1.0)
    assert WORDS.cuts([a, a, 4], 1.0)[1] == 1.0  # never the same window again
    assert WORDS.cuts([a, 4, c], 0.5) == ([Cut(0.0, 0.5, [4])], 0.5)


def test_loops_end() -> None:
    assert WORDS.without_loop([TIMES, 4, 5, 6]) is None
    assert WORDS.without_loop([TIMES, *[4, 5] * 5]) is None
    assert WORDS.without_loop([TIMES, 9, *[4, 5] * 6]) == [TIMES, 9, 4, 5]
    assert WORDS.without_loop([TIMES, 9, *[7] * 12]) == [TIMES, 9, 7]
    assert WORDS.without_loop([9, *range(12), *[4, 5, 6, 7] * 5]) == [9, *range(12), 4, 5, 6, 7]


def test_a_config_that_lacks_something_is_refused() -> None:
    for lacking in ("no_timestamps_token_id", "lang_to_id", "eos_token_id"):
        config = {name: value for name, value in GENERATION.items() if name != lacking}
        with pytest.raises(OptionError, match=lacking):
            Vocabulary.of(config, SIZE)
    with pytest.raises(OptionError, match="vocabulary of 20"):
        Vocabulary.of(GENERATION, 20)


# ---- transcripts -------------------------------------------------------------------------------


def by_hand(net: zoo.Whisper, wave: np.ndarray) -> list[int]:
    """The tokens of one window, without cache, plan or device's rules."""
    whole = np.zeros(FRAMES * 320, np.float32)
    whole[: len(wave)] = wave
    features = tl.audio.log_mel_spectrogram(tl.asarray(whole), 6)[None]
    tokens: list[int] = []
    start = [START]
    while len(tokens) < net.max_len // 2:
        scores = net(features, tl.asarray([start + tokens])).numpy()[0, -1]
        if len(start) == 1:
            start += [EN + int(scores[EN : DE + 1].argmax()), TRANSCRIBE]
            continue
        low, first, last, _ = WORDS.allowed(tokens)
        ids = np.arange(SIZE)
        fits = np.where(ids < TIMES, ids >= low, (ids >= first) & (ids <= last))
        fits[[3, *range(END + 1, TIMES)]] = False
        scores = np.where(fits, scores, -np.inf)
        shares = np.exp(scores)
        if shares[TIMES:].sum() > shares[:TIMES].max():
            scores[:TIMES] = -np.inf
        tokens.append(int(scores.argmax()))
        if tokens[-1] == END:
            break
        shorter = WORDS.without_loop(tokens)
        if shorter:
            return shorter
    return [token for token in tokens if token != END]


@pytest.mark.parametrize("seed", range(4))
def test_the_plan_decodes_as_by_hand(seed: int) -> None:
    one = transcriber(seed)
    wave = sound(0.9)
    cuts, _ = WORDS.cuts(by_hand(one.net, wave), 0.9, True)
    wanted = [Letters().decode(cut.tokens) for cut in cuts]
    found = one.transcribe(wave, temperatures=BEST)
    assert [segment.text for segment in found.segments] == [text for text in wanted if text]


def test_long_sounds_are_heard_in_windows(run_async: Any) -> None:
    one = transcriber()
    found = one.transcribe(sound(5.5), temperatures=BEST)
    starts = [segment.start for segment in found.segments]
    assert starts == sorted(starts)
    assert starts[-1] > 4
    assert all(each.start <= each.end <= 5.5 for each in found.segments)
    assert (one._hear.plans, one._step.plans, one._draw.plans) == (1, 1, 0)
    assert run_async(one.transcribe_async(sound(5.5), temperatures=BEST)) == found


def test_segments_come_one_by_one(run_async: Any) -> None:
    one = transcriber()
    wanted = one.transcribe(sound(5.5), temperatures=BEST).segments
    assert list(one.stream(sound(5.5), temperatures=BEST)) == wanted
    items = list(one.stream(sound(5.5), temperatures=BEST, partial=True))
    assert [each for each in items if each.final] == wanted
    first = [each for each in items[: items.index(wanted[0])] if not each.final]
    assert len(first) > 2 and first[0].text
    for before, after in pairwise(first):
        assert after.text.startswith(before.text) and len(after.text) > len(before.text)

    async def awaited() -> list[zoo.Segment]:
        return [each async for each in one.stream(sound(5.5), temperatures=BEST)]

    assert run_async(awaited()) == wanted
    with pytest.raises(OptionError, match="NaN"):
        next(one.stream([math.nan, 0.0]))


def said(one: zoo.Transcriber, *each: tuple[list[int], float]) -> list[float]:
    """Makes a transcriber decode these tokens, with these mean logarithms, at one temperature after
    the other; returns those that it was asked for."""
    asked: list[float] = []

    def decode(first: Any, language: Any, task: Any, until: Any, warmth: float, *_: Any) -> Any:
        tokens, mean = each[len(asked)]
        asked.append(warmth)
        return _Decoded(tokens, mean, 0.1, False)
        yield

    one._decode = decode  # type: ignore[method-assign, assignment]
    return asked


def test_unlikely_and_repetitive_texts_are_decoded_again() -> None:
    good = [TIMES, 4, 5, 6, TIMES + 20]
    loop = [TIMES, *[4, 5, 6, 7] * 20, TIMES + 20]
    one = transcriber()
    asked = said(one, (loop, -0.1), (good, -1.1), (good, -0.9))
    assert one.transcribe(sound(0.9)).text == "efg" and asked == [0.0, 0.2, 0.4]
    said(one, ([TIMES + 47, 4, TIMES + 49], -0.1))  # times after the sound's end
    assert [each[:2] for each in one.transcribe(sound(0.9)).segments] == [(0.9, 0.9)]
    asked = said(one, (good, -2.0), (loop, -2.0))
    assert one.transcribe(sound(0.9), temperatures=(0.0, 1.0)).text == "efgh" * 20
    assert asked == [0.0, 1.0]  # the last one's counts, whatever it is


def test_a_text_that_is_drawn_repeats_itself_from_run_to_run() -> None:
    one = transcriber()
    drawn = one.transcribe(sound(0.9), temperatures=(1.0,))
    assert drawn.text and drawn == one.transcribe(sound(0.9), temperatures=(1.0,))
    assert drawn != one.transcribe(sound(0.9), temperatures=BEST)
    assert one._draw.plans == 1
    english = transcriber(is_multilingual=False)
    assert english.transcribe(sound(0.9), temperatures=(1.0,)).text


def test_tokens_are_drawn_by_their_shares() -> None:
    one = transcriber()
    scores = np.full((1, SIZE), -math.inf, np.float32)
    scores[0, [2, 3, 5, 9]] = np.log([0.1, 0.5, 0.3, 0.1])  # 3 is never said
    one.net.step = lambda *given: tl.asarray(scores)  # type: ignore[method-assign]
    given = np.array([TIMES, 4, 0, SIZE, SIZE, 1], np.int32)
    for share, wanted in ((0.0, 2), (0.19, 2), (0.21, 5), (0.79, 5), (0.81, 9), (0.9999, 9)):
        chance = np.array([1.0, share], np.float32)
        found = one._draw(tl.asarray(given), tl.asarray(chance)).numpy()
        assert int(found[0]) == wanted
        assert found[1] == pytest.approx(math.log({2: 0.2, 5: 0.6, 9: 0.2}[wanted]), abs=1e-5)
    cold = np.array([0.05, 0.99], np.float32)
    assert int(one._draw(tl.asarray(given), tl.asarray(cold)).numpy()[0]) == 5


def test_silence_is_no_work() -> None:
    one = transcriber()
    found = one.transcribe(np.zeros(600 * 16000, np.float32))
    assert found == ("", [])
    assert one._step.plans == 0
    assert one.transcribe([]) == ("", [])
    assert one.transcribe(np.zeros(0, np.float32), 44100) == ("", [])


def test_windows_with_likely_silence_have_no_text() -> None:
    one = transcriber()
    assert one.transcribe(sound(0.9), temperatures=BEST).text
    plain = one._next

    def unlikely(*given: Any) -> Any:
        token, chance, _, tongue = yield from plain(*given)
        return [token, chance, 0.9, tongue]

    one._next = unlikely  # type: ignore[method-assign, assignment]
    assert one.transcribe(sound(0.9), temperatures=BEST).text == ""


@pytest.mark.parametrize("rate", [8000, 22050, 44100])
def test_other_rates_are_resampled_piece_by_piece(rate: int) -> None:
    one = transcriber()
    pieces: list[np.ndarray] = []
    one._hear = lambda wave: pieces.append(wave.numpy())  # type: ignore[assignment]

    def nothing(*_: Any) -> Any:
        return [], None
        yield

    one._likely = nothing  # type: ignore[method-assign, assignment]
    one.transcribe(sound(3.3, rate), rate)
    wanted = tl.audio.resample(tl.asarray(sound(3.3, rate)), rate, 16000).numpy()
    found = np.concatenate(pieces)[: len(wanted)]
    assert len(pieces) == 4
    np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_a_language_may_be_given_and_tasks() -> None:
    one = transcriber()
    found = one.transcribe(sound(0.9), language="de", temperatures=BEST)
    assert {segment.language for segment in found.segments} == {"de"}
    one.transcribe(sound(0.9), task="translate")
    english = transcriber(is_multilingual=False)
    found = english.transcribe(sound(0.9), temperatures=BEST)
    assert {segment.language for segment in found.segments} == {"en"}


def test_what_is_no_sound_is_refused() -> None:
    one = transcriber()
    bad = sound(0.5)
    for value in (math.nan, math.inf):
        bad[77] = value
        with pytest.raises(OptionError, match="NaN or infinite"):
            one.transcribe(bad)
    with pytest.raises(ShapeError, match="one channel"):
        one.transcribe(np.zeros((2, 16000), np.float32))
    with pytest.raises(OptionError, match="int16 divided by 32768"):
        one.transcribe(np.zeros(16000, np.int16))
    for rate in (0, -1, 1.5):
        with pytest.raises(OptionError, match="samples a second"):
            one.transcribe(sound(0.5), rate)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="common factor"):
        one.transcribe(sound(0.5), 44099)
    with pytest.raises(OptionError, match="language='xx' is none of en, de"):
        one.transcribe(sound(0.5), language="xx")
    with pytest.raises(OptionError, match="task='sing' is none of"):
        one.transcribe(sound(0.5), task="sing")
    for wrong in ((), (0.2, 0.0), (-0.1,), (0.0, 0.0)):
        with pytest.raises(OptionError, match="do not rise"):
            one.transcribe(sound(0.5), temperatures=wrong)
    with pytest.raises(OptionError, match="English alone"):
        transcriber(is_multilingual=False).transcribe(sound(0.5), language="en")
