"""No leaks in the page: a hundred predictions take as much memory as ten, eight changes of device
as much as the first four, with saved plans and without, and so on.

All on one page, because each story leaves the page as the next one needs it.
"""

from __future__ import annotations

from math import inf

import pytest
from playwright.sync_api import expect
from tests.e2e.classify.colours import add_colours, most, small
from tests.e2e.keeping import entries, kept_in_all
from tests.e2e.leaks.collector import COUNT_BUFFERS, Collector
from tests.e2e.open.opening import Opening, file

from tallow_build.environment.browser import until
from tallow_build.paths import ROOT

PREDICTIONS = 110
SWITCHES = 8

SERVE = "const actions = {\n  begin,\n"
# In the worker: counts GPU buffers, and reports them and Python's memory on request.
SCALES = (
    COUNT_BUFFERS
    + """
const COUNT = `
import gc
from tallow_page.app import _models
for _ in range(3):
    gc.collect()
stats = [loaded.session.stats for loaded in _models.values()]
[sum(s["bytes"] for s in stats), sum(s["runs"] for s in stats), len(gc.get_objects())]
`;
new BroadcastChannel("save").onmessage = () => { globalThis.saving = true; };
new BroadcastChannel("weigh").onmessage = async () => {
  // Python loads a model that answers without it some time after the answer.
  await answering.complete();
  await app.inTurn(async () => {
    const { pyodide } = await app.start();
    const counted = pyodide.runPython(COUNT);
    const [runner, runs, objects] = counted.toJs();
    counted.destroy();
    new BroadcastChannel("weighed").postMessage(
      { ...held, runner, runs, objects, heap: pyodide._module.HEAPU8.length });
  });
};
"""
    + SERVE
)
# Plans are saved only once a test has said so.
SAVE = (
    "if (!key || warnings.length) return;",
    "if (!key || warnings.length || !globalThis.saving) return;",
)
SAVING = """() => {
    const said = new BroadcastChannel("save");
    said.postMessage("now");
    said.close();
}"""
WEIGH = """() => new Promise(resolve => {
    const answers = new BroadcastChannel("weighed");
    answers.onmessage = ({data}) => { answers.close(); resolve(data); };
    const asked = new BroadcastChannel("weigh");
    asked.postMessage("now");
    asked.close();
})"""
ANSWERED = "document.querySelector('[data-testid=digit-result]').ariaBusy === 'false'"

# Allowances for the engines of Python and JavaScript: caches, free lists, code.
OBJECTS = 60
JS_BYTES = 330_000


@pytest.fixture
def weigh(visitor, patch):
    """weigh(before): the memory of the page and its worker; before: what the worker's heap is
    compared with."""
    patch(visitor.page, "worker/main.js", SERVE, SCALES)
    patch(visitor.page, "worker/models/models.js", *SAVE)
    collectors: list[Collector] = []

    def measure(before=None):
        if not collectors:
            collectors.append(Collector(visitor.page))
        (collector,) = collectors
        found = visitor.page.evaluate(WEIGH)
        most = before["worker"] + JS_BYTES - 1 if before else inf
        found |= {"worker": collector.bytes_used(most), "page": collector.page_bytes_used()}
        print(found)
        return found

    return measure


def same(before, after):
    """Checks that nothing has grown."""
    for exact in ("bytes", "buffers", "runner", "heap"):
        assert after[exact] == before[exact], exact
    assert after["objects"] - before["objects"] < OBJECTS
    for heap in ("worker", "page"):
        assert after[heap] - before[heap] < JS_BYTES, heap


def test_nothing_is_left_behind(visitor, weigh):
    add_colours(visitor.page)
    visitor.open("./?device=webgpu&model=colours")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    for story in (predictions, changes_of_device, changes_of_model, models_of_the_visitor):
        story(visitor, weigh)


def predictions(visitor, weigh):
    """A stroke with a prediction for each of its points."""

    def predict(times):
        mouse = visitor.page.mouse
        for number in range(times):
            mouse.move(*visitor.point(0.45 + 0.1 * (number % 2), 0.2 + 0.6 * (number % 10) / 10))
            until(visitor.page, ANSWERED)

    visitor.page.mouse.move(*visitor.point(0.5, 0.2))
    visitor.page.mouse.down()
    predict(10)
    before = weigh()
    predict(PREDICTIONS - 10)
    after = weigh(before)
    assert after["runs"] - before["runs"] > 0.9 * (PREDICTIONS - 10)
    same(before, after)
    visitor.page.mouse.up()
    visitor.clear()


def changes_of_device(visitor, weigh):
    """With models that Python compiles again, and then with models from saved plans."""

    def choose(device):
        visitor.hook("device-select").select_option(device)
        visitor.wait()
        expect(visitor.device).to_have_attribute("data-device", device)
        assert visitor.read() == "7"

    def change(times):
        for _ in range(times // 2):
            choose("numpy")
            choose("webgpu")

    def measure():
        change(4)
        before = weigh()
        change(SWITCHES - 4)
        same(before, weigh(before))

    visitor.draw_seven()
    assert visitor.read() == "7"
    measure()
    assert not entries(visitor.page)

    # Both plans are saved, so that the next loads use them.
    visitor.page.evaluate(SAVING)
    choose("numpy")
    kept_in_all(visitor.page, 1)
    choose("webgpu")
    kept_in_all(visitor.page, 2)
    measure()


def changes_of_model(visitor, weigh):
    """Of two models for photographs."""

    def change(times):
        for _ in range(times):
            for model in ("squeezenet1_1", "colours"):
                visitor.hook("model-select").select_option(model)
                rows = visitor.answer("7.png")
                assert len(rows) == (3 if model == "colours" else 5)
        assert rows[0]["label"] == most(7)

    visitor.show("Classify")
    visitor.choose(small(7))
    change(1)
    kept_in_all(visitor.page, 4)
    before = weigh()
    change(SWITCHES // 3)
    same(before, weigh(before))


def models_of_the_visitor(visitor, weigh):
    """Opened, run, and replaced by a file that is none."""
    opening = Opening(visitor)

    def open_and_run(times):
        for _ in range(times):
            opening.choose(ROOT / "models" / "mnist" / "mnist.onnx")
            expect(visitor.hook("open-summary")).to_have_attribute("data-parameters", "76514")
            opening.run()
            expect(visitor.hook("open-output")).to_be_visible()
        opening.choose(file("cut.onnx", b"no model"))
        expect(visitor.hook("open-error")).to_be_visible()

    visitor.page.evaluate("location.hash = '#open'")
    open_and_run(3)
    before = weigh()
    open_and_run(4)
    same(before, weigh(before))
