"""Tuning in the page: the button, its progress and result, the saved record, failures."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.keeping import kept

PATIENCE = 120_000

RECORD = """() => new Promise((resolve, reject) => {
  const request = indexedDB.open("tallow", 1);
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const all = request.result.transaction("tuning").objectStore("tuning").getAll();
    all.onsuccess = () => { request.result.close(); resolve(all.result); };
  };
})"""
PUT = """(text) => new Promise((resolve, reject) => {
  const request = indexedDB.open("tallow", 1);
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const change = request.result.transaction("tuning", "readwrite");
    const store = change.objectStore("tuning");
    store.getAllKeys().onsuccess = ({target}) => store.put(text, target.result[0]);
    change.oncomplete = () => { request.result.close(); resolve(); };
  };
})"""
# In both ways in which browsers do it: at the start, and when a record is written.
REFUSE = """
let refusals = 0;
IDBFactory.prototype.open = () => {
  const error = new DOMException("no storage here");
  if (refusals++ === 0) throw error;
  const request = {error};
  setTimeout(() => request.onerror(new Event("error")));
  return request;
};
"""
# Counts how often the worker loads a model.
COUNT_LOADS = """
window.loads = 0;
window.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    this.addEventListener("message", ({data}) => {
      if (data.event === "stage" && data.name === "kernels" && data.state === "begun") loads += 1;
    });
  }
};
"""
# Where the worker starts to time something; and code that blocks this until goOn().
MEASURE = "const { runner, plan, dispatches } = program;"
HOLD = "() => { globalThis.held = new Promise((goOn) => { globalThis.goOn = goOn; }); }"
# Records every text that the visitor sees meanwhile.
LISTEN = """() => {
  const text = document.querySelector("[data-testid=tuning-said]");
  window.texts = [];
  new MutationObserver(() => window.texts.push(text.textContent))
    .observe(text, {childList: true, characterData: true, subtree: true});
}"""


class Held:
    """Blocks tuning at its first op until go_on()."""

    def __init__(self, visitor: Any, patch: Any) -> None:
        self.page = visitor.page
        patch(self.page, "gpu/profile.js", MEASURE, f"{MEASURE} await globalThis.held;")

    def hold(self) -> None:
        """Blocks from now on."""
        self.page.workers[-1].evaluate(HOLD)

    def go_on(self) -> None:
        """Unblocks."""
        self.page.workers[-1].evaluate("() => goOn()")


@pytest.fixture
def held(visitor: Any, patch: Any) -> Held:
    return Held(visitor, patch)


def measured(visitor: Any) -> Locator:
    """Opens the panel, and waits until the page's answer was profiled."""
    panel: Locator = visitor.hook("kernels-panel")
    if panel.get_attribute("open") is None:
        panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    return panel


def seven(visitor: Any, address: str = "./") -> Locator:
    """The panel for a seven."""
    visitor.open(address)
    visitor.draw_seven()
    assert visitor.read() == "7"
    return measured(visitor)


def probabilities(visitor: Any) -> list[str]:
    """The ten bars of the digit."""
    bars = visitor.page.locator("#view-draw .bars li")
    return [bar.get_attribute("data-probability") or "" for bar in bars.all()]


def tune(visitor: Any) -> str:
    """Presses the button; returns the final text."""
    visitor.hook("tune").click()
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=PATIENCE)
    return visitor.hook("tuning-said").text_content() or ""


def tune_one(visitor: Any, held: Held) -> None:
    """Starts tuning and cancels it at the first op, whose result is kept."""
    button, text = visitor.hook("tune"), visitor.hook("tuning-said")
    held.hold()
    button.click()
    expect(text).to_contain_text("op 1 of", timeout=PATIENCE)
    button.click()
    held.go_on()
    expect(text).to_contain_text("Cancelled", timeout=PATIENCE)


def kernels(visitor: Any) -> list[str]:
    """The hand-written kernels in the plan of the answer."""
    with visitor.page.expect_download() as download:
        visitor.hook("kernels-plan").click()
    plan = json.loads(download.value.path().read_bytes())
    texts = [plan["modules"][step["kernel"]["module"]] for step in plan["run"] if step["kernel"]]
    return [name for text in texts for name in re.findall(r"kernels_wgsl/(\w+)\.wgsl", text)]


def test_tuning_shows_its_progress_and_result_and_saves_it(visitor):
    seven(visitor)
    before = [float(value) for value in probabilities(visitor)]
    visitor.page.evaluate(LISTEN)
    text = tune(visitor)
    texts = visitor.page.evaluate("texts")
    steps = [re.fullmatch(r"Tuning, op (\d+) of (\d+)", words) for words in texts]
    ops = [(int(step[1]), int(step[2])) for step in steps if step]
    assert len(ops) > 1
    assert ops[0][0] == 1 and ops[-1][0] == ops[-1][1]
    assert re.search(
        r"mnist: (\d+ of \d+ kernels replaced|the rule had already chosen the fastest)", text
    )
    assert "Timed by the GPU’s own clock" in text
    expect(visitor.hook("tuning-warned")).to_be_empty()
    assert visitor.read() == "7"
    assert [float(value) for value in probabilities(visitor)] == pytest.approx(before, abs=1e-4)
    measured(visitor)
    expect(visitor.hook("tune")).to_be_enabled()
    (record,) = visitor.page.evaluate(RECORD)
    choices = json.loads(record)["choices"]["highest"]
    assert len(choices) == ops[0][1]
    assert set(kernels(visitor)) <= {*choices.values(), "pool2d"}

    # A record of choices that were not made here shows whether a new page uses it.
    convolutions = {name: file for name, file in choices.items() if file.startswith("conv2d_")}
    chosen = set(convolutions.values())
    planted = "conv2d_4x4" if chosen != {"conv2d_4x4"} else "conv2d_8x8"
    altered = {"highest": choices | dict.fromkeys(convolutions, planted)}
    checksum = hashlib.sha256(json.dumps(altered, sort_keys=True).encode()).hexdigest()
    changed = {**json.loads(record), "choices": altered, "checksum": checksum}
    visitor.page.evaluate(PUT, json.dumps(changed))
    seven(visitor)
    assert {name for name in kernels(visitor) if name.startswith("conv2d_")} == {planted}
    expect(visitor.hook("tuning-warned")).to_be_empty()
    assert [float(value) for value in probabilities(visitor)] == pytest.approx(before, abs=1e-4)


def test_a_damaged_record_is_reported_and_replaced(visitor, held):
    seven(visitor)
    tune_one(visitor, held)
    (record,) = visitor.page.evaluate(RECORD)
    visitor.page.evaluate(PUT, record.replace("conv2d_", "conv3d_", 1))
    seven(visitor)
    warned = visitor.hook("tuning-warned")
    expect(warned).to_contain_text("was discarded: its checksum is wrong")
    tune_one(visitor, held)
    seven(visitor)
    expect(warned).to_be_empty()


def test_while_tuning_answers_continue_and_the_button_cancels(visitor, held):
    """By the keyboard."""
    seven(visitor)
    held.hold()
    visitor.hook("tune").focus()
    visitor.page.keyboard.press("Enter")
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "running")
    expect(visitor.hook("tune")).to_be_focused()
    expect(visitor.hook("tuning-said")).to_contain_text("op 1 of", timeout=PATIENCE)
    visitor.draw([(0.2, 0.5), (0.8, 0.5)])
    assert visitor.read()
    expect(visitor.hook("tune")).to_have_text("Cancel")
    visitor.hook("tune").focus()
    visitor.page.keyboard.press("Enter")
    held.go_on()
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=PATIENCE)
    expect(visitor.hook("tuning-said")).to_contain_text("Cancelled")
    measured(visitor)
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"
    measured(visitor)
    text = tune(visitor)
    assert "Cancelled" not in text


def test_another_device_ends_the_tuning_and_numpy_has_nothing_to_tune(visitor, held):
    visitor.page.add_init_script(COUNT_LOADS)
    visitor.open()
    expect(visitor.hook("kernels-panel")).to_be_hidden()  # before the first answer
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.hook("kernels-panel").locator("summary").click()
    measured(visitor)
    expect(visitor.hook("tune")).to_be_enabled()
    held.hold()
    visitor.hook("tune").click()
    expect(visitor.hook("tuning-said")).to_contain_text("op 1 of", timeout=PATIENCE)
    visitor.hook("device-select").select_option("numpy")
    held.go_on()
    visitor.wait()
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=PATIENCE)
    assert visitor.read() == "7"
    measured(visitor)
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    expect(visitor.hook("tune")).to_be_disabled()
    expect(visitor.hook("tuning-said")).to_contain_text("nothing to tune")
    assert visitor.page.evaluate("loads") == 2  # at the start, and on the other device


def test_without_timestamp_query_the_other_clock_is_used_and_mentioned(visitor, patch):
    patch(visitor.page, "gpu/device.js", ', "timestamp-query"', "")
    seven(visitor)
    assert "Timed by the page’s clock" in tune(visitor)
    assert visitor.read() == "7"
    assert len(visitor.page.evaluate(RECORD)) == 1


def test_refused_storage_is_reported_and_tuning_works(visitor, patch):
    first = "/** @type {Promise<Gpu> | undefined} */"
    patch(visitor.page, "worker/gpu.js", first, f"{REFUSE}\n{first}")
    seven(visitor)
    warned = visitor.hook("tuning-warned")
    expect(warned).to_contain_text(
        "can’t be read because this browser refuses storage: no storage here"
    )
    tune(visitor)
    expect(warned).to_contain_text(
        "can’t be saved because this browser refuses storage: no storage here"
    )
    visitor.hook("language-select").select_option("zh")
    expect(warned).to_contain_text("这个浏览器拒绝存储（no storage here）")
    assert visitor.read() == "7"


def test_a_failure_is_shown(visitor, patch):
    tune = 'app.ask("tune", model, progress, fetch)'
    patch(visitor.page, "worker/main.js", tune, "globalThis.trial()")
    seven(visitor)
    visitor.hook("tune").click()
    failure = "could not be tuned: an unexpected error"
    expect(visitor.hook("tuning-said")).to_contain_text(failure, timeout=PATIENCE)
    expect(visitor.hook("tune")).to_be_enabled()


def test_a_model_that_could_not_be_loaded_again_is_loaded_on_the_next_use(visitor):
    seven(visitor)
    kept(visitor)
    seven(visitor)  # from the plan that was kept
    asked = []

    def handle(route):
        asked.append(route.request.url)
        if len(asked) == 1:  # for the tuning itself
            route.continue_()
        else:
            route.fulfill(status=404)

    visitor.page.route("**/mnist-*.onnx", handle)
    assert "could not be tuned" in tune(visitor)
    assert len(asked) > 1
    visitor.page.unroute_all()
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"
    measured(visitor)
