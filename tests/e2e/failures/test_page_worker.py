"""A worker that crashes, fails inside Python or stops responding is replaced, and what
is on the page is answered. What follows a third failure: tests/js/engine.test.js; how silence is
counted: tests/js/rpc.test.js. Two tabs work."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import worker_of

from tallow_build.environment.browser import until

# The page's workers for networks, so that a test can crash the newest.
WORKERS = """
window.workers = [];
window.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    if (String(args[0]).includes("/worker/main")) workers.push(this);
  }
};
"""
CRASH = "workers.at(-1).dispatchEvent(new ErrorEvent('error', {message: 'no memory'}))"

# How long a worker may be silent, which a test shortens at the right time.
# For one worker only, because the start of the next may be silent for longer.
PATIENCE = "this.#silent >= this.#patience"
IMPATIENT = "this.#silent >= (globalThis.patience ?? this.#patience) && delete globalThis.patience"

# The patience is short as soon as a worker says that it is stuck.
LOSE_PATIENCE = """
window.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    this.addEventListener("message", ({data}) => {
      if (data.event === "stuck") globalThis.patience = 2;
    });
  }
};
"""

STUCK = "    postMessage({ event: 'stuck' }); for (;;);"

# The first worker never gets anything to do, as one that does not start.
DEAF = """
window.Worker = class extends Worker {
  postMessage(...about) { if (this !== workers[0]) super.postMessage(...about); }
};
"""

# What a worker does with a question at the test's command.
DIGIT = "digit: ({ model, pixels }) => "
FAULTS = """globalThis.fault === "silent" ? new Promise(() => {}) :
  globalThis.fault === "fatal" && (app.start()
    .then(({ pyodide }) => pyodide._api.fatal_error(new Error("no memory")))
    .catch(() => {}), 0) || """  # it also throws, which is this test's own doing


def workers(visitor) -> int:
    """How many workers there were so far."""
    return visitor.page.evaluate("workers.length")


@pytest.fixture
def visitor(visitor):
    visitor.page.add_init_script(WORKERS)
    return visitor


def test_a_worker_that_is_stuck_dies_or_fails_is_replaced_and_the_page_keeps_its_state(
    visitor, patch, photos
):
    """For one that dies with WebGPU or with a question under way see start/test_page_early.py."""
    page = visitor.page
    patch(page, "engine/rpc.js", PATIENCE, IMPATIENT)
    patch(page, "views/draw/worker.js", DIGIT, DIGIT + FAULTS)
    patch(page, "worker/snapshot.js", "    header[LENGTH] = ROOM;", STUCK)
    page.add_init_script(LOSE_PATIENCE)
    page.goto("./?device=numpy&model=squeezenet1_1")
    visitor.draw_seven()
    until(page, "workers.length === 2")  # the first is stuck in the snapshot
    page.evaluate(CRASH)  # while the second starts
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 3
    log = visitor.hook("boot-log")
    expect(log.locator("[data-stage=tallow][data-state=done]")).to_have_count(1)  # no snapshot

    worker_of(page).evaluate("() => { globalThis.fault = 'fatal'; }")
    visitor.clear()
    visitor.draw_seven()
    until(page, "workers.length === 4")
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 4

    visitor.hook("language-select").select_option("zh")
    page.evaluate("location.hash = '#classify'")
    visitor.wait()
    visitor.choose(photos["coffee"]["path"])
    visitor.answer("coffee.png")
    page.evaluate("location.hash = '#draw'")
    visitor.wait()
    worker_of(page).evaluate("() => { globalThis.fault = 'silent'; }")
    visitor.clear()
    visitor.draw_seven()
    page.evaluate("patience = 2")
    until(page, "workers.length === 5")
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 5
    expect(visitor.status).to_contain_text("就绪")
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    page.evaluate("location.hash = '#classify'")
    visitor.wait()
    assert (
        visitor.answer("coffee.png")[0]["index"]
        in photos["coffee"]["expected"]["squeezenet1_1"]["top1"]
    )
    expect(visitor.hook("model-select")).to_have_value("squeezenet1_1")


def test_a_worker_that_does_not_start_is_replaced(visitor, patch):
    patch(visitor.page, "engine/engine.js", "const BEGINNING = 30;", "const BEGINNING = 8;")
    visitor.page.add_init_script(DEAF)
    visitor.open("./?device=wasm")
    assert workers(visitor) == 2
    visitor.draw_seven()
    assert visitor.read() == "7"
    # Nothing speaks against the snapshot.
    log = visitor.hook("boot-log")
    expect(log.locator("[data-stage=snapshot][data-state=done]")).to_have_count(1)


def test_two_tabs_at_once(visitor, visitor_of):
    other = visitor_of(visitor.page.context.new_page())
    visitor.page.goto("./")
    other.page.goto("./")
    for tab in (visitor, other):
        tab.wait()
        expect(tab.device).to_have_attribute("data-device", "wasm")
    visitor.page.bring_to_front()  # a background tab gets mouse events only once a second
    visitor.draw_seven()
    other.page.bring_to_front()
    other.draw([(0.53, 0.2), (0.5, 0.5), (0.48, 0.8)])
    assert visitor.read() == "7"
    assert other.read() == "1"
    other.hook("device-select").select_option("numpy")
    other.wait()
    assert other.read() == "1"
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    visitor.page.bring_to_front()
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"
