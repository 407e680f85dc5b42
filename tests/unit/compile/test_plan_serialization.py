"""A compiled graph as text and buffers, and back; and how the page uses it."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.files import Files
from tests.unit.tallow_page.long_actions import finished

import tallow as tl
from tallow import functional
from tallow.compile import Compiled, compile_graph, plan_serialization
from tallow.core.drivers import run_sync
from tallow.core.dtype import BY_NAME
from tallow.core.hostarray import HostArray
from tallow.devices.numpy.runner import NumpyProgram
from tallow.errors import PlanError
from tallow.graph import Graph, input_node
from tallow.runtime.device import set_default_device
from tallow_build.paths import ROOT
from tallow_page import app

BF16 = BY_NAME["bfloat16"]
MODEL = ROOT / "models" / "mnist"


def network(device: str) -> Compiled:
    """Casts, masks, infinities and weights of several types."""
    x = tl.Tensor(input_node("x", (2, 4), tl.float32))
    half = tl.asarray(np.arange(8, dtype=np.float16).reshape(2, 4))
    mask = tl.asarray(np.arange(40).reshape(10, 4) % 3 == 0)
    y = tl.where(x > 0, x + half.astype(tl.float32), float("-inf"))
    chosen = tl.sum(tl.where(mask, tl.expand_dims(y, axis=1), 0.0), axis=2)
    return compile_graph(Graph((x.node,), {"y": functional.softmax(chosen).node}, "small"), device)


def buffers(compiled: Compiled) -> list[memoryview]:
    """Copies of all weights, as the page keeps them."""
    count = len(compiled.weights)
    return [memoryview(bytes(plan_serialization.buffer(compiled, index))) for index in range(count)]


def test_what_is_kept_for_numpy_gives_the_same_answer() -> None:
    compiled = network("numpy")
    text = plan_serialization.keep(compiled, {"nodes": 7})
    again, facts = plan_serialization.restore(text, buffers(compiled))
    assert facts == {"nodes": 7}
    assert again.plan == compiled.plan
    x = np.array([[1, 2, -3, 4], [5, 6, 7, -8]], np.float32)
    first, second = (run_sync(NumpyProgram(each).run([x]))[0].numpy() for each in (compiled, again))
    assert np.array_equal(first, second)


def test_what_is_kept_for_a_gpu_is_strict_json_whose_weights_are_the_devices() -> None:
    compiled = network("webgpu")
    text = plan_serialization.keep(compiled, {})

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    told = json.loads(text, parse_constant=refuse)
    assert told["plan"] == json.loads(compiled.plan.to_json(host=False))
    slots = [slot for slot in told["plan"]["slots"] if slot["kind"] == "weight"]
    for (offset, dtype, shape, size), slot, content in zip(
        told["weights"], slots, buffers(compiled), strict=True
    ):
        assert offset == slot["offset"]
        assert size == content.nbytes <= slot["bytes"]
        assert size == np.prod(shape) * (4 if dtype == "bool" else np.dtype(dtype).itemsize)
    handle = object()
    again, _ = plan_serialization.restore(text, loaded=handle)
    assert again.plan == compiled.plan  # with the host operations, which profiles count
    assert (again.loaded, again.weights) == (handle, [])


def test_types_of_few_bits_are_kept() -> None:
    x = tl.Tensor(input_node("x", (3,), tl.float32))
    y = (x * tl.asarray([0.5, 1.5, 2.0]).astype(BF16).astype(tl.float32)).astype(BF16)
    compiled = compile_graph(Graph((x.node,), {"y": y.node}, "few"), "numpy")
    again, _ = plan_serialization.restore(plan_serialization.keep(compiled, {}), buffers(compiled))
    assert again.coded == compiled.coded == {"y": BF16}


@pytest.mark.parametrize("device", ["webgpu", "numpy"])
def test_weights_that_are_at_hand_are_not_kept_a_second_time(device: str) -> None:
    compiled = network(device)
    at_hand = [data for _, data in compiled.weights if data.dtype.name == "float16"]
    assert 0 < len(at_hand) < len(compiled.weights)
    text = plan_serialization.keep(compiled, {}, at_hand)
    sizes = [size for _, _, _, size, *_ in json.loads(text)["weights"]]
    assert sizes.count(0) == len(at_hand)
    stored = [
        memoryview(bytes(plan_serialization.buffer(compiled, index))) if size else memoryview(b"")
        for index, size in enumerate(sizes)
    ]
    again, _ = plan_serialization.restore(text, stored, None, at_hand)
    for (offset, data), (_, expected) in zip(again.weights, compiled.weights, strict=True):
        assert (data.dtype, data.shape) == (expected.dtype, expected.shape)
        assert bytes(data.data) == bytes(expected.data)
        assert offset in [at for at, _ in compiled.weights]
    assert [bytes(each) for each in again.stored_weights()] == [
        bytes(each) for each in compiled.stored_weights()
    ]
    for other in ([], [HostArray(memoryview(b"1234"), (1,), tl.float32)]):
        with pytest.raises(PlanError):
            plan_serialization.restore(text, stored, None, other)


DAMAGE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "of another version": lambda told: told["plan"].update(version=1),
    "without steps": lambda told: told["plan"].pop("run"),
    "with fewer host operations": lambda told: told.update(host='{"prepare": [], "run": []}'),
    "of an unknown type": lambda told: told["weights"][0].__setitem__(1, "float7"),
    "with other sizes": lambda told: told["weights"][0].__setitem__(2, [1]),
    "with fewer weights": lambda told: told["weights"].pop(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_was_not_kept_so_is_refused(damage: Callable[[dict[str, Any]], Any]) -> None:
    compiled = network("numpy")
    told = json.loads(plan_serialization.keep(compiled, {}))
    damage(told)
    with pytest.raises(PlanError):
        plan_serialization.restore(json.dumps(told), buffers(compiled))


def test_a_text_that_is_none_is_refused() -> None:
    for text in ("", "{}", "[]", "null", "nonsense"):
        with pytest.raises(PlanError):
            plan_serialization.restore(text)


def test_the_page_loads_what_it_has_kept_without_the_models_file() -> None:
    pixels = np.random.default_rng(3).random((28, 28), np.float32)
    card = (MODEL / "card.json").read_text("utf-8")
    asked = []

    async def fetch() -> Files:
        asked.append("mnist")
        return Files(MODEL / "mnist.onnx")

    async def visits() -> None:
        await app.start("numpy")
        facts = json.loads(await app.load_model("mnist", fetch, card))
        number = facts.pop("planId")
        first = bytes(await app.predict("mnist", pixels))
        text = app.serialized_plan(number)
        sizes = [size for *_, size in json.loads(text)["weights"]]
        weights = [bytes(app.plan_weight(number, index)) for index in range(len(sizes))]
        assert [len(weight) for weight in weights] == sizes
        assert app.serialized_plan(number) == text
        assert bytes(await app.predict("mnist", pixels)) == first
        app.release_plan(number)
        with pytest.raises(KeyError):
            app.serialized_plan(number)
        with pytest.raises(KeyError):
            app.plan_weight(number, 0)

        await app.start("numpy")
        whole = b"".join(weight.ljust(-(-len(weight) // 16) * 16, b"\0") for weight in weights)
        again = json.loads(await app.load_kept("mnist", card, text, None, whole))
        assert not facts.pop("kept") and again.pop("kept")
        assert facts.pop("compiling") > 0  # milliseconds; the second visit spends none
        assert facts.pop("seconds") > 0
        assert again.pop("seconds") > 0
        assert again == facts
        assert bytes(await app.predict("mnist", pixels)) == first
        assert json.loads(await app.profile("mnist", pixels))["profile"]["kernels"]
        assert await finished(app.run_on("mnist", "numpy", 1, pixels, fetch))
        assert asked == ["mnist"]
        reports, tuned = await finished(app.tune("mnist", fetch))
        assert (reports, tuned["ops"], tuned["measured"]) == ([], 0, 0)  # nothing to tune

    with warnings.catch_warnings():  # the page's own way of showing warnings ends here
        try:
            asyncio.run(visits())
        finally:
            set_default_device(None)
