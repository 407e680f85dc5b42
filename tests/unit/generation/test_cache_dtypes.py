"""Caches of fewer bits: how close their scores are, what they take, that they work as others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.generation.networks import Letters, network
from tests.unit.generation.test_generate import DRAWN, PROMPT
from tests.unit.zoo.test_decoders import network as family

import tallow as tl
from tallow.core.drivers import run_sync
from tallow.errors import DTypeError, OptionError, ShapeError
from tallow.functional.words import packed, unpacked
from tallow.generation import LanguageModel, Request, Writer
from tallow.generation.cache import Cache
from tallow.generation.memory import Whole
from tallow.generation.plans import Plans
from tallow.generation.precision import quantized
from tallow.tensor import Tensor

TOKENS = [1 + i * i % 60 for i in range(40)]
WIDE: dict[str, Any] = {"hidden_size": 128, "head_dim": 64, "num_attention_heads": 4}
"""Heads of 64 elements, as those of published networks have or more."""


def scores_of(name: str, net: Any) -> np.ndarray:
    """Of 40 tokens: 32 at once, as a prompt is read, then one at a time, as a text is written."""
    plans = Plans(net, Cache(net.layout, dtype=getattr(tl, name)))
    parts = [(0, TOKENS[:32]), *((at, TOKENS[at : at + 1]) for at in range(32, 40))]
    found = []
    for at, tokens in parts:
        control = tl.asarray(np.array([0, at, 0, *tokens], np.int32))
        (scores,) = plans._run("every", plans._every, control)
        found.append(scores.numpy())
    return np.concatenate(found)


class Rounded(Whole):
    """A whole text at once, with keys and values as 8 bits hold them."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, *more: Any) -> Tensor:
        pairs = (quantized(each) for each in (key, value))
        return super().attend(layer, query, *(a.astype("float32") * b for a, b in pairs), *more)


def test_scores_are_those_of_rounded_keys_and_values(device: str) -> None:
    """As close as a tie lets them that is rounded otherwise: by one of 127 steps of a number among
    many. Those of float32 are further off: a number of 8 bits is off by 0.3 % of its row's largest
    one in the mean, about 1 % of the row's deviation. So is a score, or a mean of values, and each
    of the two layers adds its own; with 11 bits it is a sixteenth of that."""
    net = network(**WIDE)
    with tl.no_grad():
        hidden = net.hidden(tl.asarray(np.array([TOKENS], np.int32)), Rounded(net.layout, 40))
        rounded = net.scores(hidden).numpy()[0]
    float32, int8 = (scores_of(name, net) for name in ("float32", "int8"))
    np.testing.assert_allclose(int8, rounded, atol=0.01)
    assert 0.001 < off(int8, float32) < 0.03
    if device != "webgpu":
        assert 0 < off(scores_of("float16", net), float32) < 0.03 / 16


def off(found: np.ndarray, expected: np.ndarray) -> float:
    """How far scores are off, of their size."""
    return float(np.sqrt(((found - expected) ** 2).mean() / (expected**2).mean()))


def test_rows_in_8_bits(device: str) -> None:
    x = np.random.default_rng(4).normal(size=(2, 3, 5, 64)).astype(np.float32)
    x *= np.geomspace(1e-6, 1e6, 5, dtype=np.float32)[:, None]
    x[0, 0, 0] = 0
    codes, scale = (np.asarray(each.numpy()) for each in quantized(tl.asarray(x)))
    assert codes.dtype == np.int8 and scale.dtype == np.float32 and scale.shape == (2, 3, 5, 1)
    np.testing.assert_allclose(scale[1:], np.abs(x[1:]).max(-1, keepdims=True) / 127, rtol=1e-6)
    assert (np.abs(codes).max(-1)[1:] == 127).all() and not codes[0, 0, 0].any()
    assert (np.abs(codes * scale - x) <= 0.5001 * scale).all()


def test_bytes_that_a_cache_takes(device: str) -> None:
    """Of heads of 64 elements in 8 bits: 64 and 4 of the scale, where float32 has 256."""
    net = network(**WIDE)

    def held(name: str) -> int:
        before = tl.live_buffers(device).bytes
        cache = Cache(net.layout, dtype=getattr(tl, name))
        buffers = [each.buffer() for several in cache.buffers for each in several]
        assert cache.nbytes == sum(each.nbytes for each in buffers)
        return tl.live_buffers(device).bytes - before

    rows = 2 * 2 * 2 * 256  # layers, keys and values, heads, positions
    assert held("float32") == rows * 256
    if device != "webgpu":
        assert held("float16") == rows * 128
    assert held("int8") == rows * 68


@pytest.mark.parametrize(
    ("device", "name"), [("wasm", "float16"), ("wasm", "int8"), ("webgpu", "int8")],
    indirect=["device"],
)  # fmt: skip
def test_a_token_makes_no_wide_copy_of_the_cache(device: str, name: str) -> None:
    writer = Writer(network(**WIDE), cache_dtype=name)
    run_sync(writer.begin(Request([5, 6, 7], 8)))
    run_sync(writer.step())
    ((entry,),) = writer.plans._made["decode"]._entries.values()
    plan: Any = entry.program._plan  # type: ignore[attr-defined]
    keys = 4 * 2 * 256 * 64
    assert {slot.kind for slot in plan.slots if slot.bytes >= keys} <= {"state", "constant"}
    assert all(step.kernel for step in plan.run)


def test_devices_write_the_same_text(device: str) -> None:
    """In two slots, with windows, and in a cache that grows between two tokens."""
    net = network(sliding_window=8)
    alone = LanguageModel(net, Letters(), device="numpy", cache_dtype="int8")
    expected = [alone.generate(PROMPT[:count], 9) for count in (12, 5)]
    several = LanguageModel(net, Letters(), slots=2, cache_dtype="int8")
    assert several.generate_all([PROMPT[:12], PROMPT[:5]], 9) == expected
    stream = several.stream(PROMPT[:12], 9)
    pieces = [next(stream) for _ in range(4)]
    several.writer.plans.room(300)
    assert "".join([*pieces, *stream]) == expected[0]
    assert several.writer.cache.capacity == 512


@pytest.mark.usefixtures("on_numpy")
class TestWorksAsOthersDo:
    """What a cache of int8 does is what it does where it neither grows nor rolls, and what it does
    for one text at a time."""

    def model(self, slots: int = 1, **sizes: Any) -> LanguageModel:
        return LanguageModel(network(**sizes), Letters(), slots=slots, cache_dtype="int8")

    def test_it_grows(self) -> None:
        tokens = [1 + i % 60 for i in range(250)]
        grown, large = self.model(), self.model()
        large.writer.cache.grow(512)
        assert grown.generate(tokens, 20) == large.generate(tokens, 20)
        cache = grown.writer.cache
        assert cache.capacity == 512
        assert [each.dtype.name for each in cache.buffers[0]] == ["int8"] * 2 + ["float32"] * 2
        assert {each.shape[:3] for each in cache.buffers[0]} == {(1, 2, 512)}

    def test_it_rolls(self) -> None:
        tokens = [1 + i * i % 60 for i in range(900)]
        rolled, whole = self.model(sliding_window=20), self.model(sliding_window=20)
        whole.writer.cache.ring = 1 << 20
        assert rolled.generate(tokens, 30) == whole.generate(tokens, 30)
        assert rolled.writer.cache.rolls and not whole.writer.cache.rolls
        assert {each.shape[2] for each in rolled.writer.cache.buffers[0]} == {256}
        assert rolled.generate(tokens[:800], 5) == whole.generate(tokens[:800], 5)

    @pytest.mark.parametrize("options", [{}, DRAWN], ids=["greedy", "drawn"])
    def test_slots(self, options: dict[str, Any]) -> None:
        alone, several = self.model(), self.model(slots=3)
        prompts = [PROMPT[: 3 + 2 * i] for i in range(5)]
        texts = several.generate_all(prompts, 10, **options)
        assert texts == [alone.generate(each, 10, **options) for each in prompts]

    def test_it_goes_back(self) -> None:
        m = self.model()
        text = m.generate(PROMPT, 40)
        verify, drafts = m.writer.plans.verify, []
        m.writer.plans.verify = lambda *a: drafts.append(a) or verify(*a)  # type: ignore
        assert m.generate(PROMPT, 40, lookup=4) == text and drafts
        assert m.generate(PROMPT + text[:5], 10) == text[5:15]  # a prompt that is there in part


def test_short_convolutions_stay_in_float32() -> None:
    cache = Cache(family("lfm2").layout, device="numpy", dtype=tl.int8)
    found = [[each.dtype.name for each in several] for several in cache.buffers]
    assert found == [["float32"], ["int8", "int8", "float32", "float32"], ["float32"]]


@pytest.mark.parametrize("name", ["int4", "float64", "q8_0", "", 8, int, b"int8", [1]], ids=repr)
def test_types_that_no_cache_has(name: Any) -> None:
    with pytest.raises(OptionError, match="cache_dtype is one of float32, float16, int8, not"):
        LanguageModel(network(), cache_dtype=name)


@pytest.mark.parametrize("device", ["webgpu"], indirect=True)
def test_what_a_gpu_keeps_in_words(device: str) -> None:
    with pytest.raises(OptionError, match="on webgpu a cache of float16 takes as much memory as"):
        Writer(network(), cache_dtype="float16")
    with pytest.raises(
        OptionError, match="packs 4 elements in a word on this device, and heads have 6"
    ):
        Writer(network(head_dim=6), cache_dtype="int8")


@pytest.mark.parametrize("given", ["float16", tl.float16, "torch.float16"], ids=repr)
def test_names_of_types(given: Any) -> None:
    assert Writer(network(), device="numpy", cache_dtype=given).cache.dtype == tl.float16


def attended(**options: Any) -> tuple[Tensor, Tensor]:
    """Attention to keys and values of int8, and to what these stand for."""
    rng = np.random.default_rng(8)
    rows = options.pop("rows")
    query = tl.asarray(rng.normal(size=(2, 6, rows, 16)).astype(np.float32))
    lines = [rng.normal(size=(2, 2, 96, size)).astype(np.float32) for size in (16, 12)]
    (key, key_scale), (value, value_scale) = (quantized(tl.asarray(each)) for each in lines)
    wide = key.astype("float32") * key_scale, value.astype("float32") * value_scale
    if options.pop("words"):
        key, value = packed(key), packed(value)
    attend = tl.functional.scaled_dot_product_attention
    options = {"enable_gqa": True, **options}
    found = attend(query, key, value, key_scale=key_scale, value_scale=value_scale, **options)
    return found, attend(query, *wide, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"rows": 1, "length": 40}, {"rows": 2, "is_causal": True, "first": [7, 90]},
        {"rows": 1, "is_causal": True, "first": 50, "window": 9}, {"rows": 3},
        {"rows": 40, "is_causal": True, "first": 50},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("words", [False, True])
def test_keys_and_values_with_scales(device: str, words: bool, options: dict[str, Any]) -> None:
    found, expected = attended(words=words, **options)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("which", ["key_scale", "value_scale"])
def test_scales_that_do_not_fit(which: str) -> None:
    x = tl.zeros((1, 2, 4, 8))
    with pytest.raises(ShapeError, match=r"scales \(1, 2, 4\) do not fit \(1, 2, 4, 8\)"):
        tl.functional.scaled_dot_product_attention(x, x, x, **{which: tl.ones((1, 2, 4))})
    with pytest.raises(DTypeError, match="int32 are packed words, which need key_scale"):
        tl.functional.scaled_dot_product_attention(x, x, x.astype("int32"))


def test_words(device: str) -> None:
    codes = np.random.default_rng(2).integers(-128, 128, (3, 5, 24)).astype(np.int8)
    words = packed(tl.asarray(codes))
    assert words.dtype == tl.int32
    assert (words.numpy() == codes.view("<i4")).all()
    assert (unpacked(words).numpy() == codes).all()
