"""The Train view's own examples: what becomes of signs, pictures, sounds and texts, and what cannot
be learnt from."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.unit.tallow_page.long_actions import finished

import tallow as tl
from tallow import audio
from tallow.errors import DataError, OptionError
from tallow.ops.contract import matmul
from tallow.runtime.compiling import compile_for
from tallow.runtime.device import backend
from tallow.runtime.session import Session
from tallow_build.paths import ROOT
from tallow_page.train import own, spectrograms, texts
from tallow_page.train.features import SIDE, THUMB, features_graph, thumbnail
from tallow_page.train.sources import opened_data


class Kept:
    """What the page keeps: examples by number, and what was computed of them."""

    def __init__(self) -> None:
        self.content: dict[int, bytes] = {}
        self.computed: dict[int, bytes] = {}
        self.taken: list[int] = []

    def add(self, *contents: bytes) -> list[int]:
        """Keeps examples; their numbers."""
        numbers = [len(self.content) + at + 1 for at in range(len(contents))]
        self.content.update(zip(numbers, contents, strict=True))
        return numbers

    async def take(self, number: int) -> Any:
        """See `gather_examples`."""
        self.taken.append(number)
        content = self.content.get(number)
        return SimpleNamespace(content=content, computed=self.computed.get(number))

    async def keep(self, number: int, computed: bytes) -> None:
        """See `gather_examples`."""
        self.computed[number] = computed


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was gathered before."""
    monkeypatch.setattr(own, "_known", {kind: {} for kind in own._known})
    monkeypatch.setattr(own, "_gathered", {})


@pytest.fixture
def gather(run_async: Callable[..., Any]) -> Callable[..., tuple[list[Any], Any, Any]]:
    """Gathers classes, {name: numbers}: the steps, the answer and the Data."""

    def run(kind: str, kept: Kept, classes: dict[str, list[int]]) -> tuple[list[Any], Any, Any]:
        given = json.dumps([{"name": name, "examples": all_} for name, all_ in classes.items()])

        async def fetch() -> Any:
            raise AssertionError("no network is needed")

        async def steps() -> Any:
            found = await finished(
                own.gather_examples(kind, given, kept.take, kept.keep, "{}", fetch)
            )
            (data,) = [step async for step in opened_data({"own": kind})]
            return *found, data

        reports, answer, data = run_async(steps())
        return reports, answer, data

    return run


def sign(value: int) -> bytes:
    return bytes([value]) * 28 * 28


def clip(hertz: float) -> bytes:
    return array(
        "h", (int(20000 * math.sin(2 * math.pi * hertz * at / 16000)) for at in range(16000))
    ).tobytes()


def test_signs_become_pictures_of_which_every_fifth_validates(gather: Any) -> None:
    kept = Kept()
    one, two = kept.add(*[sign(each) for each in range(10)]), kept.add(*[sign(200)] * 3)
    steps, answer, data = gather("signs", kept, {"one": one, "two": two})
    assert [step["done"] for step in steps] == [0, 8]
    assert {step["total"] for step in steps} == {13}
    assert (answer["train"], answer["valid"], answer["damaged"]) == (10, 3, [])
    assert (data.kind, data.classes, data.shape) == ("pictures", ["one", "two"], (1, 28, 28))
    assert data.numbers == {
        "train": [1, 2, 3, 4, 6, 7, 8, 9, 11, 12], "valid": [5, 10, 13],
    }  # fmt: skip
    assert data.labels["valid"] == [0, 0, 1]
    x, y = data.train[[0, 9]]
    assert (x.shape, x.dtype, y.tolist()) == ((2, 1, 28, 28), tl.uint8, [0, 1])
    assert x.numpy()[1].min() == 200
    assert data.picture("valid", 1) == (28, 28, 1, sign(9))
    shown = np.array([0, 1, 2, 3, 5, 6, 7, 8, 200, 200])
    assert data.mean == pytest.approx(shown.mean())
    assert data.deviation == pytest.approx(shown.std())
    assert not kept.computed  # a sign is what is kept anyway


def test_pictures_become_features_which_are_computed_once(
    gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Network:
        async def of(self, pixels: Any) -> bytes:
            asked.append(pixels[0])
            return np.full(7, pixels[0], np.float32).tobytes()

    async def network(card: str, fetch: Any) -> Network:
        return Network()

    monkeypatch.setattr(own, "opened_features", network)
    kept = Kept()
    pictures = [bytes([value, 2, 3, 255]) * SIDE * SIDE for value in (10, 20, 30, 40)]
    numbers = kept.add(*pictures)
    classes = {"cup": numbers[:3], "pen": numbers[3:]}
    _, answer, data = gather("pictures", kept, classes)
    assert answer["computed"] == 4 and asked == [10, 20, 30, 40]
    assert (data.kind, data.shape) == ("features", (7,))
    assert data.train[[0, 1, 2]][0].numpy().tolist() == [[10.0] * 7, [20.0] * 7, [40.0] * 7]
    assert data.picture("valid", 0) == (THUMB, THUMB, 3, bytes([30, 2, 3]) * THUMB * THUMB)
    version = answer["version"]

    kept.taken.clear()
    _, answer, _ = gather("pictures", kept, classes)
    assert not kept.taken and answer["computed"] == 0 and answer["version"] != version
    monkeypatch.setattr(own, "_known", {"pictures": {}})  # another visit
    _, answer, again = gather("pictures", kept, classes)
    assert answer["computed"] == 0 and len(asked) == 4
    assert again.train[[0]][0].numpy().tolist() == [[10.0] * 7]


def test_what_was_read_beforehand_is_not_computed_again(
    gather: Any, run_async: Callable[..., Any]
) -> None:
    kept = Kept()
    low, high = kept.add(clip(200), clip(220)), kept.add(clip(3000))
    numbers = json.dumps([*low, 99, *high])

    async def fetch() -> Any:
        raise AssertionError("no network is needed")

    def read() -> Any:
        given = "sounds", numbers, kept.take, kept.keep, "{}", fetch
        return run_async(finished(own.read_examples(*given)))

    steps, answer = read()
    assert [(step["done"], step["total"]) for step in steps] == [(0, 4)]
    assert answer == {"computed": 3, "damaged": [99]}
    assert read()[1] == {"computed": 0, "damaged": [99]}
    _, gathered, data = gather("sounds", kept, {"low": low, "high": high})
    assert gathered["computed"] == 0 and data.numbers == {"train": [1, 2, 3]}


def test_the_features_are_the_input_of_the_last_layer() -> None:
    path = ROOT / "models" / "mnist" / "mnist.onnx"
    model = tl.onnx.load(path)
    whole, cut = model.graph(), features_graph(model.graph())
    picture = np.random.default_rng(1).random((1, 1, 28, 28), np.float32)
    name = whole.inputs[0].attrs["name"]
    features = _run(cut, name, picture)["features"]
    logits = next(iter(_run(whole, name, picture).values())).ravel()
    last = [each for each in model.constants if each.shape in ((10, len(features)), (10,))]
    weight = next(each.numpy() for each in last if len(each.shape) == 2)
    bias = next(each.numpy() for each in last if len(each.shape) == 1)
    assert np.allclose(weight.astype(np.float32) @ features + bias, logits, atol=1e-4)


def _run(graph: Any, name: str, picture: Any) -> dict[str, Any]:
    used = backend("numpy")
    with Session.load(compile_for(used, graph), used) as session:
        return session.run({name: picture})


def test_a_network_without_a_last_layer_has_no_features() -> None:
    graph = tl.onnx.load(ROOT / "models" / "mnist" / "mnist.onnx").graph()
    while _products(graph):
        graph = features_graph(graph)
    with pytest.raises(OptionError, match="no last layer"):
        features_graph(graph)


def _products(graph: Any) -> int:
    return sum(node.op is matmul for node in graph.nodes())


def test_a_thumbnail_is_the_picture_in_small() -> None:
    picture = np.random.default_rng(2).integers(0, 255, (SIDE, SIDE, 4), np.uint8)
    planes = np.frombuffer(thumbnail(picture.tobytes()), np.uint8).reshape(3, THUMB, THUMB)
    assert (planes == picture[2::4, 2::4, :3].transpose(2, 0, 1)).all()


def test_sounds_become_spectrograms(gather: Any) -> None:
    kept = Kept()
    low, high = kept.add(clip(200), clip(220), clip(210)), kept.add(clip(3000))
    _, answer, data = gather("sounds", kept, {"low": low, "high": high})
    assert (answer["train"], answer["valid"], answer["computed"]) == (3, 1, 4)
    assert (data.kind, data.shape) == ("sounds", (1, spectrograms.BANDS, spectrograms.COLUMNS))
    found = data.train[[0, 1, 2]][0].numpy()[:, 0]
    wave = tl.tensor(np.frombuffer(clip(200), np.int16).astype(np.float32) / 32768)
    energies = audio.mel_spectrogram(wave, hop_length=320, n_mels=40).numpy()[:, :50]
    powers = np.log10(np.maximum(energies, 1e-10))
    expected = (np.maximum(powers, powers.max() - 8) + 4) / 4
    assert np.allclose(found[0], expected, atol=1e-4)
    loudest = found.mean(axis=2).argmax(axis=1)
    assert loudest[0] == loudest[1] < 8 < 20 < loudest[2]
    height, width, channels, shown = data.picture("train", 2)
    assert (height, width, channels) == (40, 50, 1)
    rows = np.frombuffer(shown, np.uint8).reshape(40, 50).mean(axis=1)
    assert rows.argmax() == 39 - loudest[2]  # the highest band first
    assert gather("sounds", kept, {"low": low, "high": high})[1]["computed"] == 0


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ({}, "there is no class"),
        ({"one": [1]}, "only one class, 'one'"),
        ({"one": [1], "none": []}, "'none' has no examples"),
        ({f"class {n}": [1] for n in range(1001)}, "1,001 classes; at most 1,000 can be learned"),
        ({"one": [1], "lost": [77]}, "'lost' has no examples"),  # its only one is damaged
    ],
)
def test_what_nothing_can_be_learnt_from_is_said(
    gather: Any, classes: dict[str, list[int]], said: str
) -> None:
    kept = Kept()
    kept.add(sign(1))
    with pytest.raises(DataError, match=said):
        gather("signs", kept, classes)
    with pytest.raises(OptionError, match="no signs were gathered"):
        own.own_data("signs")


def test_damaged_examples_are_named_and_the_others_are_learnt_from(gather: Any) -> None:
    kept = Kept()
    kept.add(sign(1), sign(2), sign(3))
    _, answer, data = gather("signs", kept, {"one": [1, 99, 2], "two": [3, 98]})
    assert answer["damaged"] == [99, 98]
    assert data.numbers == {"train": [1, 2, 3]} and data.valid is None


def test_examples_of_another_size_are_refused(gather: Any) -> None:
    kept = Kept()
    kept.add(sign(1), b"\0" * 5)
    with pytest.raises(DataError, match="a sign has 784 bytes, not 5"):
        gather("signs", kept, {"one": [1], "two": [2]})
    with pytest.raises(DataError, match="a clip of 392 samples; expected 16,000"):
        gather("sounds", kept, {"one": [1], "two": [2]})


def test_another_kind_is_refused(gather: Any, run_async: Callable[..., Any]) -> None:
    kept = Kept()
    with pytest.raises(OptionError, match="kind='smells' is none of signs, pictures, sounds"):
        gather("smells", kept, {})

    async def fetch() -> Any:
        raise AssertionError("no network is needed")

    with pytest.raises(OptionError, match="kind='smells' is none of"):
        given = "smells", "[]", kept.take, kept.keep, "{}", fetch
        run_async(finished(own.read_examples(*given)))


def test_a_text_becomes_windows_of_its_characters(run_async: Callable[..., Any]) -> None:
    text = "".join(chr(97 + (at * at) % 26) for at in range(5000)) + "z" * 1000

    async def opened() -> Any:
        answer = json.loads(await own.gather_text("poem", text))
        (data,) = [step async for step in opened_data({"own": "text"})]
        return answer, data

    answer, data = run_async(opened())
    assert (data.kind, data.shape, data.name) == ("text", (128,), "poem")
    assert list(data.classes) == sorted(set(text))
    x, y = data.train[1]
    assert data.train.decode(x) == text[32:160] and data.train.decode(y) == text[33:161]
    assert data.valid.decode(data.valid[0][0]) == "z" * 128  # the last tenth
    assert answer["train"] == len(data.train) == (5400 - 129) // 32 + 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has 0 characters; give one of at least 1,290"),
        ("short", "has 5 characters"),
        ("x" * 2000, "one character alone, 'x'"),
        ("".join(map(chr, range(0x4E00, 0x4E00 + 5001))), "5,001 different characters"),
    ],
)
def test_a_text_of_which_nothing_can_be_learnt_is_refused(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        texts.text_data("poem", text)
