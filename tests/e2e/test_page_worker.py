"""A worker that crashes, fails inside Python or stops responding is replaced, and what
is on the page is answered. What follows a third failure: tests/js/engine.test.js. Two tabs work."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tallow_build.browser import until

# The page's workers, so that a test can crash the newest.
WORKERS = """
window.workers = [];
window.Worker = class extends Worker {
  constructor(...args) { super(...args); workers.push(this); }
};
"""
CRASH = "workers.at(-1).dispatchEvent(new ErrorEvent('error', {message: 'no memory'}))"

# How long a worker may be silent, which a test shortens at the right time.
# For one worker only, because the start of the next may be silent for longer.
PATIENCE = "this.#silent >= this.#patience"
IMPATIENT = "this.#silent >= (globalThis.patience ?? this.#patience) && delete globalThis.patience"

DIGIT = "digit: ({ pixels }) => "


def workers(visitor) -> int:
    """How many workers there were so far."""
    return visitor.page.evaluate("workers.length")


def serve_once(page, path, old, *changes):
    """Changes this file for the page's first requests."""
    left = iter(changes)

    def handle(route: Route) -> None:
        response = route.fetch()
        body = response.text()
        assert old in body
        route.fulfill(response=response, body=body.replace(old, next(left, old)))

    page.route(f"**/{path}", handle)


@pytest.fixture
def visitor(visitor):
    visitor.page.add_init_script(WORKERS)
    return visitor


def test_a_dead_worker_is_replaced_and_the_page_keeps_its_state(visitor, photos):
    visitor.open("./?device=numpy&model=squeezenet1_1#classify")
    visitor.hook("language-select").select_option("zh")
    visitor.choose(photos["coffee"]["path"])
    visitor.answer("coffee.png")
    visitor.page.evaluate("location.hash = '#draw'")
    visitor.wait()
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.page.evaluate(CRASH)
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 2
    expect(visitor.status).to_contain_text("就绪")
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    visitor.page.evaluate("location.hash = '#classify'")
    visitor.wait()
    assert (
        visitor.answer("coffee.png")[0]["index"]
        in photos["coffee"]["expected"]["squeezenet1_1"]["top1"]
    )
    expect(visitor.hook("model-select")).to_have_value("squeezenet1_1")


def test_a_worker_that_dies_while_it_starts_or_computes_is_replaced(visitor):
    visitor.page.goto("./")
    visitor.draw_seven()
    visitor.page.evaluate(CRASH)  # while it starts
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 2
    visitor.clear()
    visitor.draw_seven()
    visitor.page.evaluate(CRASH)  # with a question under way, or just answered
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 3


def test_a_worker_with_a_fatal_error_of_python_is_replaced(visitor):
    fatal = (
        "(app.start().then(({ pyodide }) => pyodide._api.fatal_error(new Error('no memory')))"
        ".catch(() => {}), 0) || "  # it also throws, which is this test's own doing
    )
    serve_once(visitor.page, "worker/main-*.js", DIGIT, f"{DIGIT}{fatal}")
    visitor.open()
    visitor.draw_seven()
    until(visitor.page, "workers.length === 2")
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 2


def test_a_stuck_worker_is_replaced(visitor, patch):
    stuck = ("new Promise(() => {})", "(() => { for (;;); })()")
    changes = [f"{DIGIT}{way} || " for way in stuck]
    patch(visitor.page, "engine/rpc.js", PATIENCE, IMPATIENT)
    serve_once(visitor.page, "worker/main-*.js", DIGIT, *changes)
    visitor.open()
    visitor.draw_seven()  # which the worker is asked about again and again, as soon as it is ready
    for number in (2, 3):
        assert workers(visitor) == number - 1
        visitor.page.evaluate("patience = 2")
        until(visitor.page, "workers.length === argument", number)
        visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 3


def test_a_worker_stuck_in_a_snapshot_is_replaced_by_one_without(visitor, patch):
    patch(visitor.page, "engine/rpc.js", PATIENCE, IMPATIENT)
    patch(visitor.page, "worker/snapshot.js", "    header[LENGTH] = ROOM;", "    for (;;);")
    visitor.page.add_init_script("globalThis.patience = 5")
    visitor.page.goto("./")
    until(visitor.page, "workers.length === 2")
    visitor.wait()
    expect(visitor.hook("boot-log").locator("[data-stage=tallow]")).to_have_count(1)


def test_two_tabs_at_once(visitor, visitor_of):
    other = visitor_of(visitor.page.context.new_page())
    visitor.page.goto("./")
    other.page.goto("./")
    for tab in (visitor, other):
        tab.wait()
        expect(tab.device).to_have_attribute("data-device", "webgpu")
    visitor.page.bring_to_front()  # a background tab gets mouse events only once a second
    visitor.draw_seven()
    other.page.bring_to_front()
    other.draw([(0.53, 0.2), (0.5, 0.5), (0.48, 0.8)])
    assert visitor.read() == "7"
    assert other.read() == "1"
    other.hook("device-select").select_option("numpy")
    other.wait()
    assert other.read() == "1"
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    visitor.page.bring_to_front()
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"
