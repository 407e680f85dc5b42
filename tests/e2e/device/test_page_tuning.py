"""Tuning in the page: the button, its progress and result, the saved record, failures. For the
storage of the record see also test_tuning.py."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect
from tests.e2e.conftest import BRIEFLY, worker_of
from tests.e2e.keeping import kept, recalled

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
# In both ways in which browsers do it: at the start, and when a record is written. Until
# globalThis.storing is true.
REFUSE = """
let refusals = 0;
const { open: openDatabase } = IDBFactory.prototype;
IDBFactory.prototype.open = function (...args) {
  if (globalThis.storing) return openDatabase.apply(this, args);
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
# The tuning fails while globalThis.broken is true.
TUNE = "[model, fetch]"
BROKEN = f"(globalThis.broken ? globalThis.trial() : {TUNE})"
# Records every text that the visitor sees meanwhile.
LISTEN = """() => {
  const text = document.querySelector("[data-testid=tuning-said]");
  window.texts = [];
  new MutationObserver(() => window.texts.push(text.textContent))
    .observe(text, {childList: true, characterData: true, subtree: true});
}"""


class Held:
    """Blocks tuning at its first op until go_on(). All measurements are shorter than otherwise."""

    def __init__(self, visitor: Any, patch: Any) -> None:
        self.page = visitor.page
        patch(self.page, *BRIEFLY)
        patch(self.page, "gpu/profile.js", MEASURE, f"{MEASURE} await globalThis.held;")

    def hold(self) -> None:
        """Blocks from now on."""
        worker_of(self.page).evaluate(HOLD)

    def go_on(self) -> None:
        """Unblocks."""
        worker_of(self.page).evaluate("() => goOn()")


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


def seven(visitor: Any) -> Locator:
    """The panel for a seven on a new page."""
    visitor.open("./?device=webgpu")
    visitor.draw_seven()
    assert visitor.read() == "7"
    return measured(visitor)


def seven_again(visitor: Any) -> Locator:
    """The panel for a seven on this page."""
    visitor.clear()
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


def first_op(visitor: Any, held: Held) -> None:
    """Starts tuning, by the keyboard; returns while its first op is held."""
    held.hold()
    visitor.hook("tune").focus()
    visitor.page.keyboard.press("Enter")
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "running")
    expect(visitor.hook("tune")).to_be_focused()
    expect(visitor.hook("tuning-said")).to_contain_text("op 1 of", timeout=PATIENCE)


def cancel(visitor: Any, held: Held) -> None:
    """Cancels tuning at its first op, by the keyboard. The result of that op is kept."""
    expect(visitor.hook("tune")).to_have_text("Cancel")
    visitor.hook("tune").focus()
    visitor.page.keyboard.press("Enter")
    held.go_on()
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=PATIENCE)


def record_of(visitor: Any) -> dict[str, Any]:
    """The only saved record."""
    (text,) = visitor.page.evaluate(RECORD)
    record: dict[str, Any] = json.loads(text)
    return record


def checksum(choices: Any) -> str:
    """Of the choices of a record."""
    return hashlib.sha256(json.dumps(choices, sort_keys=True).encode()).hexdigest()


def kernels(visitor: Any) -> list[str]:
    """The hand-written kernels in the plan of the answer."""
    with visitor.page.expect_download() as download:
        visitor.hook("kernels-plan").click()
    plan = json.loads(download.value.path().read_bytes())
    texts = [plan["modules"][step["kernel"]["module"]] for step in plan["run"] if step["kernel"]]
    return [name for text in texts for name in re.findall(r"// (\w+) \(kernels_wgsl/", text)]


def test_tuning_can_be_cancelled_and_its_choices_serve_later_visits(visitor, held):
    """Three visits: while tuning answers continue, and a whole tuning saves its choices; later
    visits use them, and survive a model that can't be loaded again; a damaged record is reported
    and replaced, and another device ends the tuning."""
    page, text, warned = visitor.page, visitor.hook("tuning-said"), visitor.hook("tuning-warned")
    page.add_init_script(COUNT_LOADS)
    visitor.open("./?device=webgpu")
    expect(visitor.hook("kernels-panel")).to_be_hidden()  # before the first answer
    visitor.draw_seven()
    assert visitor.read() == "7"
    measured(visitor)
    before = [float(value) for value in probabilities(visitor)]

    first_op(visitor, held)
    visitor.draw([(0.2, 0.5), (0.8, 0.5)])
    assert visitor.read()
    cancel(visitor, held)
    expect(text).to_contain_text("Cancelled")
    measured(visitor)
    seven_again(visitor)

    page.evaluate(LISTEN)
    result = tune(visitor)
    steps = [re.fullmatch(r"Tuning, op (\d+) of (\d+)", words) for words in page.evaluate("texts")]
    ops = [(int(step[1]), int(step[2])) for step in steps if step]
    assert len(ops) > 1
    assert ops[0][0] == 1 and ops[-1][0] == ops[-1][1]
    assert re.search(
        r"mnist: (\d+ of \d+ kernels replaced|the rule had already chosen the fastest)", result
    )
    assert "Timed by the GPU’s own clock" in result
    expect(warned).to_be_empty()
    assert visitor.read() == "7"
    assert [float(value) for value in probabilities(visitor)] == pytest.approx(before, abs=1e-4)
    measured(visitor)
    expect(visitor.hook("tune")).to_be_enabled()
    record = record_of(visitor)
    choices = record["choices"]["highest"]
    assert len(choices) == ops[0][1]
    assert record["checksum"] == checksum(record["choices"])
    assert set(kernels(visitor)) <= {*choices.values(), "pool2d"}

    # A record of choices that were not made here shows whether a new page uses it.
    convolutions = {name: file for name, file in choices.items() if file.startswith("conv2d_")}
    chosen = set(convolutions.values())
    planted = "conv2d_4x4" if chosen != {"conv2d_4x4"} else "conv2d_8x8"
    altered = {"highest": choices | dict.fromkeys(convolutions, planted)}
    page.evaluate(PUT, json.dumps({**record, "choices": altered, "checksum": checksum(altered)}))
    seven(visitor)
    assert {name for name in kernels(visitor) if name.startswith("conv2d_")} == {planted}
    expect(warned).to_be_empty()
    assert [float(value) for value in probabilities(visitor)] == pytest.approx(before, abs=1e-4)

    cannot_be_loaded_again(visitor, held)
    (saved,) = page.evaluate(RECORD)
    damaged = saved.replace("conv2d_", "conv3d_", 1)
    assert damaged != saved
    page.evaluate(PUT, damaged)
    seven(visitor)
    expect(warned).to_contain_text("was discarded: its checksum is wrong")
    first_op(visitor, held)
    cancel(visitor, held)
    expect(text).to_contain_text("Cancelled")
    measured(visitor)
    replaced = record_of(visitor)
    assert replaced["choices"]["highest"]
    assert replaced == {
        **record,
        "choices": replaced["choices"],
        "checksum": checksum(replaced["choices"]),
    }

    first_op(visitor, held)
    loads = page.evaluate("loads")
    visitor.hook("device-select").select_option("numpy")
    held.go_on()
    visitor.wait()
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=PATIENCE)
    assert visitor.read() == "7"
    measured(visitor)
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    expect(visitor.hook("tune")).to_be_disabled()
    expect(text).to_contain_text("nothing to tune")
    assert page.evaluate("loads") == loads + 1  # on the other device only


def cannot_be_loaded_again(visitor: Any, held: Held) -> None:
    """A model that could not be loaded again after tuning is loaded on the next use. This begins
    with the plan that was kept."""
    kept(visitor)
    seven(visitor)
    recalled(visitor)
    asked = []

    def handle(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:  # for the tuning itself
            route.continue_()
        else:
            route.fulfill(status=404)

    visitor.page.route("**/mnist-*.onnx", handle)
    first_op(visitor, held)
    cancel(visitor, held)
    expect(visitor.hook("tuning-said")).to_contain_text("Cancelled: 1 of")
    visitor.wait("error")
    assert len(asked) > 1
    visitor.page.unroute("**/mnist-*.onnx")
    visitor.status.get_by_role("button", name="Try again").click()
    visitor.wait()
    seven_again(visitor)


def test_without_timestamp_query_and_storage_tuning_works_and_says_so(visitor, patch, held):
    """The other clock is mentioned, the kernels' shares are estimated, refused storage is reported,
    and so is a failure."""
    patch(visitor.page, "gpu/device.js", ', "timestamp-query"', "")
    first = "/** @type {Promise<Gpu> | undefined} */"
    patch(visitor.page, "worker/gpu.js", first, f"{REFUSE}\n{first}")
    patch(visitor.page, "worker/main.js", TUNE, BROKEN)
    panel = seven(visitor)
    expect(panel).to_have_attribute("data-source", "counted")
    expect(panel).to_contain_text("estimated from the kernel’s arithmetic and bytes, not measured")
    rows = visitor.hook("kernels-row").all()
    expect(rows[0]).to_contain_text("≈")
    assert sum(float(row.get_attribute("data-share")) for row in rows) == pytest.approx(1, abs=0.01)
    expect(visitor.hook("kernels-wgsl")).to_contain_text("@compute")
    warned, worker = visitor.hook("tuning-warned"), worker_of(visitor.page)
    refusal = "because this browser refuses storage: no storage here"
    expect(warned).to_contain_text(f"can’t be read {refusal}")

    worker.evaluate("() => { globalThis.broken = true; }")
    assert "could not be tuned: an unexpected error" in tune(visitor)
    expect(visitor.hook("tune")).to_be_enabled()
    worker.evaluate("() => { globalThis.broken = false; }")

    seven_again(visitor)
    assert "Timed by the page’s clock" in tune(visitor)
    expect(warned).to_contain_text(f"can’t be saved {refusal}")
    visitor.hook("language-select").select_option("zh")
    expect(warned).to_contain_text("这个浏览器拒绝存储（no storage here）")
    visitor.hook("language-select").select_option("en")
    assert visitor.read() == "7"
    measured(visitor)

    worker.evaluate("() => { globalThis.storing = true; }")
    first_op(visitor, held)
    cancel(visitor, held)
    expect(visitor.hook("tuning-said")).to_contain_text("Timed by the page’s clock")
    expect(warned).to_be_empty()
    assert visitor.read() == "7"
    assert len(visitor.page.evaluate(RECORD)) == 1
