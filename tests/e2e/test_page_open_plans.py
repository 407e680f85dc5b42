"""Saved plans of the visitor's models: used for the same file, and for no other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from playwright.sync_api import expect
from tests.e2e.keeping import DAMAGE, change, entries, kept, kept_in_all, line, plans, recalled
from tests.e2e.opening import FLOAT, Opening, file, model, value

from tallow_build.browser import until

NAME = "mine.onnx"

# Whether the worker's Python has compiled anything (it counts plans): sent with each answer.
ANSWER = "fetchBytes(answer.outputs);"
TOLD = """
  const compiled = (await app.start()).pyodide.runPython(`
import tallow_page.plan_registry
repr(tallow_page.plan_registry._numbers) != "count(1)"
`);
  new BroadcastChannel("answers").postMessage(compiled);
"""
HEAR = """
window.answers = [];
new BroadcastChannel("answers").onmessage = ({ data }) => window.answers.push(data);
"""


def product(factor: float = 1.0, outside: bool = False) -> tuple[dict[str, Any], bytes]:
    """x times a matrix of 64 kB, of any number of rows; the matrix may lie outside of the file. The
    file, and the matrix."""
    matrix = np.arange(128 * 128, dtype=np.float32).reshape(128, 128) * factor / 128**2
    weight = numpy_helper.from_array(matrix, "w")
    data = weight.raw_data
    if outside:
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="w.bin")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])]
    inputs, outputs = [value("x", FLOAT, ["rows", 128])], [value("y", FLOAT, ["rows", 128])]
    return file(NAME, model(nodes, inputs, outputs, [weight])), data


class Visit(Opening):
    """A visit that knows whether anything was compiled."""

    def begin(self, device: str = "webgpu") -> None:
        """Opens a new page."""
        self.page.goto("about:blank")  # otherwise the browser would not reload it
        self.visitor.open(f"./?device={device}#open")

    def answer(self, *files: Any, rows: int = 0) -> Any:
        """Opens these files, and multiplies ones."""
        if files:
            self.choose(*files)
        if rows:
            self.page.locator("[data-testid=open-length][data-name=rows]").fill(str(rows))
        self.kind("x", "ones")
        self.page.evaluate("answers.length = 0")
        self.run()
        return self.array("y")

    @property
    def compiled(self) -> bool:
        """Whether this worker compiled anything before its last answer."""
        until(self.page, "answers.length > 0")
        found: bool = self.page.evaluate("answers[0]")
        return found


@pytest.fixture
def here(visitor: Any, patch: Any) -> Visit:
    patch(visitor.page, "worker/models/user_model.js", ANSWER, TOLD + ANSWER)
    visitor.page.add_init_script(HEAR)
    return Visit(visitor)


@pytest.mark.parametrize("device", ["webgpu", "numpy"])
def test_the_same_file_is_not_compiled_a_second_time(here: Visit, device: str) -> None:
    mine, data = product()
    here.begin(device)
    first = here.answer(mine, rows=3)
    assert here.compiled
    expected = np.ones((3, 128)) @ np.frombuffer(data, np.float32).reshape(128, 128)
    np.testing.assert_allclose(first, expected, rtol=1e-4)
    kept(here.visitor, NAME)
    ((_, _, size),) = [entry for entry in entries(here.page) if "?" not in entry[1]]
    assert size < len(data) / 4  # the file has the weights

    here.begin(device)
    here.choose({**mine, "name": "other name.onnx"})
    expect(here.hook("open-summary")).to_have_attribute("data-parameters", str(128 * 128))
    expect(here.operator("MatMul")).to_have_attribute("data-count", "1")
    assert np.array_equal(here.answer(rows=3), first)
    assert not here.compiled
    expect(here.hook("open-times")).to_have_attribute("data-device", device)
    recalled(here.visitor, "other name.onnx")
    expect(line(here.visitor, "plan", "other name.onnx")).to_have_text(
        re.compile(r"^Plan of other name.onnx, from an earlier visit [\d.]+ kB [\d.]+ m?s $")
    )
    assert here.apart("y") < 1e-3  # the other device has no plan, and needs none


def test_what_a_plan_depends_on(here: Visit) -> None:
    """Content, lengths and device: each makes another plan, and each plan is found again."""
    mine, _ = product()
    twice, _ = product(2)
    here.begin()
    first = here.answer(mine, rows=2)
    kept(here.visitor, NAME)

    np.testing.assert_allclose(here.answer(twice, rows=2), 2 * first, rtol=1e-4)
    kept_in_all(here.page, 2)
    assert here.answer(rows=5).shape == (5, 128)
    kept_in_all(here.page, 3)
    here.hook("device-select").select_option("numpy")
    here.visitor.wait()
    here.rest()
    np.testing.assert_allclose(here.answer(rows=5)[:2], 2 * first, rtol=1e-4)
    kept_in_all(here.page, 4)

    here.begin()
    np.testing.assert_allclose(here.answer(twice, rows=5)[:2], 2 * first, rtol=1e-4)
    assert np.array_equal(here.answer(mine, rows=2), first)
    assert not here.compiled
    here.begin("numpy")
    assert here.answer(twice, rows=5).shape == (5, 128)
    assert not here.compiled
    assert len(plans(here.page)) == 4


def test_external_data_belong_to_the_content(here: Visit) -> None:
    (mine, data), (_, other) = product(outside=True), product(3)
    here.begin()
    first = here.answer(mine, file("w.bin", data), rows=1)
    kept(here.visitor, NAME)
    here.begin()
    again = here.answer(mine, file("unneeded.txt", b"1"), file("w.bin", data), rows=1)
    assert np.array_equal(again, first)
    assert not here.compiled
    np.testing.assert_allclose(
        here.answer(mine, file("w.bin", other), rows=1), 3 * first, rtol=1e-4
    )
    assert here.compiled


def test_damaged_plans_are_detected_and_compiled_again(here: Visit) -> None:
    mine, _ = product()
    here.begin()
    first = here.answer(mine, rows=1)
    kept(here.visitor, NAME)
    for damage in ("a byte of the text", "cut short"):
        put = f"""async (bytes, cache, url) => {{
            const changed = ({DAMAGE[damage]})(bytes) ?? bytes;
            await cache.put(url, new Response(changed));
        }}"""
        change(here.page, put.replace("40_000", "1_000"))
        here.begin()
        assert np.array_equal(here.answer(mine, rows=1), first)
        assert here.compiled
        failed = line(here.visitor, "plan", NAME)
        expect(failed).to_contain_text("is damaged; it will be compiled again")
        kept(here.visitor, NAME)
    here.begin()
    assert np.array_equal(here.answer(mine, rows=1), first)
    assert not here.compiled


def test_plans_of_another_version_are_not_found(here: Visit, patch: Any) -> None:
    mine, _ = product()
    here.begin()
    first = here.answer(mine, rows=1)
    kept(here.visitor, NAME)
    patch(here.page, "worker/runtime.js", "BUILD = JSON", 'BUILD = "next" + JSON')
    here.begin()
    assert np.array_equal(here.answer(mine, rows=1), first)
    assert here.compiled


def test_a_plan_that_python_refuses_is_compiled_again(here: Visit, patch: Any) -> None:
    mine, _ = product()
    here.begin()
    first = here.answer(mine, rows=1)
    kept(here.visitor, NAME)
    patch(
        here.page, "worker/models/user_model.js", "[saved.text, ...weights]", "['{}', ...weights]"
    )
    here.begin()
    assert np.array_equal(here.answer(mine, rows=1), first)
    assert here.compiled
    expect(line(here.visitor, "plan", NAME)).to_contain_text("this is not a stored plan")
    kept(here.visitor, NAME)
