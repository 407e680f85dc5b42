"""No leaks in the page: three hundred predictions take as much memory as ten, and thirty
changes of device and model as much as the first six."""

from __future__ import annotations

from math import inf

import pytest
from playwright.sync_api import expect
from tests.e2e.collector import COUNT_BUFFERS, Collector
from tests.e2e.keeping import kept, kept_in_all
from tests.e2e.opening import Opening, file

from tallow_build.browser import until
from tallow_build.paths import ROOT

PREDICTIONS = 300
SWITCHES = 30

SERVE = "serve({\n  begin,\n"
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
WEIGH = """() => new Promise(resolve => {
    const answers = new BroadcastChannel("weighed");
    answers.onmessage = ({data}) => { answers.close(); resolve(data); };
    const asked = new BroadcastChannel("weigh");
    asked.postMessage("now");
    asked.close();
})"""
ANSWERED = "document.querySelector('[data-testid=digit-result]').ariaBusy === 'false'"

# Allowances for the engines of Python and JavaScript: caches, free lists, code.
OBJECTS = 200
JS_BYTES = 1_000_000


@pytest.fixture
def weigh(visitor, patch):
    """weigh(before): the memory of the page and its worker; before: what the worker's heap is
    compared with."""
    patch(visitor.page, "worker/main.js", SERVE, SCALES)
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


def test_predictions_leave_nothing_behind(visitor, weigh):
    def predict(times):
        mouse = visitor.page.mouse
        for number in range(times):
            mouse.move(*visitor.point(0.45 + 0.1 * (number % 2), 0.2 + 0.6 * (number % 10) / 10))
            until(visitor.page, ANSWERED)

    visitor.open()
    kept(visitor)  # not during the measurement
    visitor.page.mouse.move(*visitor.point(0.5, 0.2))
    visitor.page.mouse.down()
    predict(10)
    before = weigh()
    predict(PREDICTIONS - 10)
    after = weigh(before)
    assert after["runs"] - before["runs"] > 0.9 * (PREDICTIONS - 10)
    same(before, after)


@pytest.mark.parametrize("keeping", [True, False])
def test_changes_of_device_and_model_leave_nothing_behind(visitor, weigh, photos, patch, keeping):
    """With models from saved plans, and with models that Python compiles again."""
    if not keeping:
        patch(
            visitor.page,
            "worker/models/models.js",
            "if (!key || warnings.length) return;",
            "return;",
        )

    def keep(plans):
        """Waits until so many are saved, so that the next loads use them."""
        if keeping:
            kept_in_all(visitor.page, plans)

    def choose(device):
        visitor.hook("device-select").select_option(device)
        visitor.wait()
        expect(visitor.device).to_have_attribute("data-device", device)
        assert visitor.read() == "7"

    def change(times):
        for _ in range(times // 2):
            choose("numpy")
            choose("webgpu")

    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    keep(1)
    choose("numpy")
    keep(2)
    choose("webgpu")
    change(6)
    before = weigh()
    change(SWITCHES - 6)
    same(before, weigh(before))

    visitor.show("Classify")
    visitor.choose(photos["coffee"]["path"])
    models = ("squeezenet1_1", "efficientnet_lite0")
    for model in models:
        visitor.hook("model-select").select_option(model)
        visitor.wait()
        visitor.answer("coffee.png")
    keep(4)
    before = weigh()
    for _ in range(SWITCHES // 3):
        for model in models:
            visitor.hook("model-select").select_option(model)
            visitor.answer("coffee.png")
    same(before, weigh(before))


def test_models_of_the_visitor_leave_nothing_behind(visitor, weigh):
    opening = Opening(visitor)

    def open_and_run(times):
        for _ in range(times):
            opening.choose(ROOT / "models" / "mnist" / "mnist.onnx")
            expect(visitor.hook("open-summary")).to_have_attribute("data-parameters", "76514")
            opening.run()
            expect(visitor.hook("open-output")).to_be_visible()
        opening.choose(file("cut.onnx", b"no model"))
        expect(visitor.hook("open-error")).to_be_visible()

    visitor.open("./#open")
    open_and_run(4)
    before = weigh()
    open_and_run(8)
    same(before, weigh(before))
