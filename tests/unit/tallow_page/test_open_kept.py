"""Plans of models that the visitor opened: which are kept, and used the next time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.unit.tallow_page.test_open import made, value

from tallow.compile import Compiled
from tallow.runtime.compiling import compile_for
from tallow.runtime.device import set_default_device
from tallow_page import app, plan_registry
from tallow_page import open as view

WEIGHT = numpy_helper.from_array(np.arange(4096, dtype=np.float32).reshape(64, 64) / 4096, "w")
PRODUCT = [helper.make_node("MatMul", ["x", "w"], ["y"])]
X = np.arange(128, dtype=np.float32).reshape(2, 64)


def content(*nodes: Any, weight: Any = WEIGHT) -> bytes:
    """A file that multiplies x by w; these nodes then compute y."""
    return made(nodes or PRODUCT, [value("x", ["n", 64])], [value("y", ["n", "m"])], [weight])


class Visit:
    """The worker: its kept plans outlive the visits."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, list[bytes]]] = {}
        self.compiled = 0

    def open(self, file: bytes) -> dict[str, Any]:
        """Opens a file."""

        async def opened() -> dict[str, Any]:
            await app.start("numpy")
            told: dict[str, Any] = json.loads(await view.open_model(bytearray(file), "[]"))
            return told

        return asyncio.run(opened())

    def run(self, key: str = "", x: Any = X) -> dict[str, Any]:
        """Runs the model; a plan that it offers is kept under the key, and found there."""

        async def find() -> Any:
            text, weights = self.kept.get(key, (None, []))
            return text and [text, *weights]

        async def ran() -> dict[str, Any]:
            feed = {"name": "x", "shape": x.shape, "dtype": "float32"}
            told: dict[str, Any] = json.loads(await view.run_model(json.dumps([feed]), find, x))
            return told

        told = asyncio.run(ran())
        number = told["planId"]
        if number is not None:
            text = app.serialized_plan(number)
            sizes = [size for _, _, _, size, *_ in json.loads(text)["weights"]]
            weights = [
                bytes(app.plan_weight(number, index)) if size else b""
                for index, size in enumerate(sizes)
            ]
            self.kept[key] = text, weights
        return told


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    made = Visit()

    def count(*args: Any) -> Compiled:
        made.compiled += 1
        return compile_for(*args)

    monkeypatch.setattr(plan_registry, "compile_for", count)
    yield made
    view.close_model()
    set_default_device(None)


def answer() -> list[float]:
    found: list[float] = np.frombuffer(view.output_bytes("y"), np.float32).tolist()
    return found


def test_the_second_time_nothing_is_compiled_and_no_weight_was_kept(visit: Visit) -> None:
    visit.open(content())
    told = visit.run()
    assert (told["planId"] is None, told["refused"], visit.compiled) == (False, "", 1)
    first = answer()
    assert visit.run()["planId"] is None  # nothing new to keep
    ((text, weights),) = visit.kept.values()
    assert sum(map(len, weights)) < 64 < len(WEIGHT.raw_data) and len(text) < 10_000

    opened = visit.open(content())
    assert opened["inputs"][0]["shape"] == ["n", 64]
    again = visit.run()
    assert (again["planId"], again["refused"], visit.compiled) == (None, "", 1)
    assert answer() == first == (X @ numpy_helper.to_array(WEIGHT)).ravel().tolist()
    assert again["report"] == told["report"]


def test_other_shapes_of_the_same_model_are_other_plans(visit: Visit) -> None:
    visit.open(content())
    visit.run("two")
    assert visit.run("one", X[:1])["planId"] is not None
    visit.open(content())
    assert visit.run("one", X[:1])["planId"] is None
    assert visit.run("two")["planId"] is None
    assert visit.compiled == 2
    assert len(answer()) == 128


@pytest.mark.parametrize("text", ["{}", "nonsense"])
def test_what_is_of_no_use_is_compiled_anew_and_told(visit: Visit, text: str) -> None:
    visit.kept[""] = text, []
    visit.open(content())
    told = visit.run()
    assert "not a stored plan" in told["refused"]
    assert told["planId"] is not None and visit.compiled == 1
    assert answer() == (X @ numpy_helper.to_array(WEIGHT)).ravel().tolist()


def test_what_is_lent_ends_with_the_model_and_with_its_session(visit: Visit) -> None:
    visit.open(content())
    number = visit.run()["planId"]
    visit.run("one", X[:1])
    assert app.serialized_plan(number)  # the page keeps it only after that run
    view.close_model()
    with pytest.raises(KeyError):
        app.serialized_plan(number)
    visit.open(content())
    number = visit.run("another")["planId"]
    asyncio.run(app.start("numpy"))
    with pytest.raises(KeyError):
        app.serialized_plan(number)


def test_numbers_that_are_drawn_anew_each_time_are_not_kept(visit: Visit) -> None:
    noise = helper.make_node("RandomUniformLike", ["z"], ["noise"])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), noise]
    nodes.append(helper.make_node("Add", ["z", "noise"], ["y"]))
    visit.open(content(*nodes))
    assert visit.run()["planId"] is None
    first = answer()
    visit.open(content(*nodes))
    assert visit.run()["planId"] is None
    assert answer() != first


def test_of_several_stages_the_first_is_kept(visit: Visit) -> None:
    """The later stages depend on values, which differ between runs."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["z"]),
        helper.make_node("NonZero", ["z"], ["indices"]),
        helper.make_node("Cast", ["indices"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Relu", ["numbers"], ["y"]),
    ]
    visit.open(content(*nodes))
    visit.run()
    first, compiled = answer(), visit.compiled
    visit.open(content(*nodes))
    assert visit.run()["planId"] is None
    assert visit.compiled == compiled
    assert answer() == first
    visit.open(content(*nodes))
    assert visit.run(x=np.zeros_like(X))["report"]["parts"]
    assert answer() == []
