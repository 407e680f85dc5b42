"""Saved plans of the visitor's models: used for the same file, and for no other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from playwright.sync_api import expect
from tests.e2e.conftest import worker_of
from tests.e2e.keeping import DAMAGE, change, entries, kept, kept_in_all, line, plans, recalled
from tests.e2e.open.opening import FLOAT, Opening, file, model, value

from tallow_build.environment.browser import until

NAME = "mine.onnx"

# How many plans the worker's Python has compiled: sent with each answer.
ANSWER = "fetchBytes(answer.outputs);"
TOLD = """
  const count = (await app.start()).pyodide.runPython(`
import tallow_page.plan_registry
int(repr(tallow_page.plan_registry._numbers)[len("count("):-1]) - 1
`);
  new BroadcastChannel("answers").postMessage(count);
"""
HEAR = """
window.answers = [];
new BroadcastChannel("answers").onmessage = ({ data }) => window.answers.push(data);
"""
# Python gets a text that is no plan while globalThis.spoiled is true.
RECALLED = "[saved.text, ...weights]"
SPOILED = "[globalThis.spoiled ? '{}' : saved.text, ...weights]"


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
    """A visit that knows whether its last answer was compiled for."""

    compiled = False
    _count = 0

    def begin(self, device: str = "webgpu") -> None:
        """Opens a new page."""
        self.page.goto("about:blank")  # otherwise the browser would not reload it
        self.visitor.open(f"./?device={device}#open")
        self._count = 0

    def answer(self, *files: Any, rows: int = 0) -> Any:
        """Opens these files, and multiplies ones."""
        if files:
            self.choose(*files)
        if rows:
            self.page.locator("[data-testid=open-length][data-name=rows]").fill(str(rows))
        self.kind("x", "ones")
        self.page.evaluate("answers.length = 0")
        self.run()
        until(self.page, "answers.length > 0")
        before, self._count = self._count, self.page.evaluate("answers[0]")
        self.compiled = self._count > before
        return self.array("y")

    def again(self, *files: Any, **more: Any) -> Any:
        """Like answer(), from a saved plan."""
        found = self.answer(*files, **more)
        assert not self.compiled
        return found

    def newly(self, *files: Any, **more: Any) -> Any:
        """Like answer(), by compiling."""
        found = self.answer(*files, **more)
        assert self.compiled
        return found

    def use(self, device: str) -> None:
        """Chooses a device."""
        self.hook("device-select").select_option(device)
        self.visitor.wait()
        self.rest()

    def spoil(self, spoiled: bool) -> None:
        """Whether saved plans are no plans for Python from now on."""
        worker_of(self.page).evaluate("(value) => { globalThis.spoiled = value; }", spoiled)


@pytest.fixture
def here(visitor: Any, patch: Any) -> Visit:
    patch(visitor.page, "views/open/worker.js", ANSWER, TOLD + ANSWER)
    patch(visitor.page, "views/open/worker.js", RECALLED, SPOILED)
    visitor.page.add_init_script(HEAR)
    return Visit(visitor)


def shown(here: Visit, device: str, name: str) -> None:
    """Checks that the page shows this device, and the plan of an earlier visit."""
    expect(here.hook("open-times")).to_have_attribute("data-device", device)
    recalled(here.visitor, name)
    expect(line(here.visitor, "plan", name)).to_have_text(
        re.compile(rf"^Plan of {re.escape(name)}, from an earlier visit [\d.]+ kB [\d.]+ m?s $")
    )


def test_the_same_content_lengths_and_device_are_not_compiled_on_a_later_visit(
    here: Visit,
) -> None:
    """Another content, length or device makes another plan, and so do other external data. Each
    plan is found again."""
    (mine, data), (twice, _) = product(), product(2)
    (split, _), (_, other) = product(outside=True), product(3)
    here.begin()
    first = here.newly(mine, rows=3)
    expected = np.ones((3, 128)) @ np.frombuffer(data, np.float32).reshape(128, 128)
    np.testing.assert_allclose(first, expected, rtol=1e-4)
    kept(here.visitor, NAME)
    ((_, _, size),) = [entry for entry in entries(here.page) if "?" not in entry[1]]
    assert size < len(data) / 4  # the file has the weights
    outside = here.newly(split, file("w.bin", data), rows=1)
    kept_in_all(here.page, 2)
    np.testing.assert_allclose(here.newly(twice, rows=3), 2 * first, rtol=1e-4)
    kept_in_all(here.page, 3)
    assert here.newly(rows=5).shape == (5, 128)
    kept_in_all(here.page, 4)
    here.use("numpy")
    np.testing.assert_allclose(here.newly(rows=5)[:3], 2 * first, rtol=1e-4)
    kept_in_all(here.page, 5)
    four = here.newly(rows=4)
    kept_in_all(here.page, 6)

    here.begin()
    here.choose({**mine, "name": "other name.onnx"})
    expect(here.hook("open-summary")).to_have_attribute("data-parameters", str(128 * 128))
    expect(here.operator("MatMul")).to_have_attribute("data-count", "1")
    assert np.array_equal(here.again(rows=3), first)
    shown(here, "webgpu", "other name.onnx")
    assert here.apart("y") < 1e-3  # the other device has no plan, and needs none
    np.testing.assert_allclose(here.again(twice, rows=5)[:3], 2 * first, rtol=1e-4)
    found = here.again(split, file("unneeded.txt", b"1"), file("w.bin", data), rows=1)
    assert np.array_equal(found, outside)
    np.testing.assert_allclose(
        here.newly(split, file("w.bin", other), rows=1), 3 * outside, rtol=1e-4
    )
    kept_in_all(here.page, 7)

    here.begin("numpy")
    assert here.again(twice, rows=5).shape == (5, 128)
    assert np.array_equal(here.again(rows=4), four)
    shown(here, "numpy", NAME)
    assert here.apart("y") < 1e-3
    assert len(plans(here.page)) == 7


def test_a_saved_plan_that_cannot_be_used_is_compiled_again(here: Visit, patch: Any) -> None:
    """Damaged, refused by Python, or of another version. For other damage see
    tests/js/plans.test.js."""
    mine, _ = product()
    here.begin("numpy")
    first = here.newly(mine, rows=1)
    kept(here.visitor, NAME)
    plan = line(here.visitor, "plan", NAME)
    for damage in ("a byte of the text", "cut short"):
        put = f"""async (bytes, cache, url) => {{
            const changed = ({DAMAGE[damage]})(bytes) ?? bytes;
            await cache.put(url, new Response(changed));
        }}"""
        change(here.page, put.replace("40_000", "1_000"))
        assert np.array_equal(here.newly(mine, rows=1), first)
        expect(plan).to_contain_text("is damaged; it will be compiled again")
        kept_in_all(here.page, 1)
        assert np.array_equal(here.again(mine, rows=1), first)
        expect(plan).to_have_attribute("data-state", "done")

    here.spoil(True)
    assert np.array_equal(here.newly(mine, rows=1), first)
    expect(plan).to_contain_text("this is not a stored plan")
    kept_in_all(here.page, 1)
    here.spoil(False)
    assert np.array_equal(here.again(mine, rows=1), first)

    patch(here.page, "worker/runtime.js", "BUILD = JSON", 'BUILD = "next" + JSON')
    here.begin("numpy")
    assert np.array_equal(here.newly(mine, rows=1), first)
