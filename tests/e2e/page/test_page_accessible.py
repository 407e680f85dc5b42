"""axe-core finds nothing serious in any state of the page, in both themes and languages."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect
from tests.e2e.conftest import Holding

from tallow_build.paths import NODE_MODULES, ROOT

# Rules of the accessibility guidelines, and axe's own advice.
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => [id, help, ...nodes.map(({ html }) => html)].join("\\n"));
}"""
THEMES = ("light", "dark")


def findings(page: Page) -> list[str]:
    """What axe-core calls serious or critical, in both themes."""
    if not page.evaluate("'axe' in window"):
        page.evaluate((NODE_MODULES / "axe-core" / "axe.min.js").read_text("utf-8"))
    found: list[str] = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += page.evaluate(RUN)
    return found


def test_every_state(visitor: Any, photos: Any) -> None:
    page = visitor.page
    model = Holding(page, "**/models/mnist/mnist-*.onnx")
    page.goto("./?model=squeezenet1_1")
    expect(visitor.status).to_have_attribute("data-state", "loading")
    found = {"while loading": findings(page)}
    model.release()
    visitor.wait()
    found["ready"] = findings(page)
    visitor.draw_seven()
    assert visitor.read() == "7"
    found["a digit"] = findings(page)
    page.get_by_text("Boot log").click()
    visitor.hook("kernels-panel").locator("summary").click()
    expect(visitor.hook("kernels-row").first).to_be_visible(timeout=30_000)
    found["boot log and kernels"] = findings(page)
    visitor.hook("kernels-panel").locator("summary").click()

    visitor.show("Classify")
    found["no picture"] = findings(page)
    coffee = photos["coffee"]["path"]
    visitor.choose(coffee)
    visitor.answer(coffee.name)
    found["a picture"] = findings(page)
    visitor.choose({"name": "a.png", "mimeType": "image/png", "buffer": b"no picture"})
    expect(page.locator("#view-classify .message")).to_contain_text("a.png")
    found["a bad picture"] = findings(page)

    visitor.show("Open")
    found["no model"] = findings(page)
    visitor.hook("open-input").set_input_files(ROOT / "models" / "mnist" / "mnist.onnx")
    expect(visitor.hook("open-operators").locator("tbody tr").first).to_be_visible()
    for kind in ("numbers", "npy", "image", "random"):
        visitor.hook("open-kind").select_option(kind)
        found[f"a model, {kind}"] = findings(page)
    visitor.hook("open-run").click()
    for view in ("table", "histogram", "top"):
        visitor.hook("open-view").select_option(view, timeout=30_000)
        found[f"an output as {view}"] = findings(page)
    visitor.hook("open-input").set_input_files(coffee)
    expect(visitor.hook("open-error")).to_be_visible()
    found["no ONNX file"] = findings(page)
    visitor.hook("language-select").select_option("zh")
    expect(visitor.status).to_contain_text("就绪")
    found["Chinese"] = findings(page)
    assert {state: problems for state, problems in found.items() if problems} == {}


def test_a_failure(visitor: Any) -> None:
    visitor.page.route("**/models/mnist/mnist-*.onnx", lambda route: route.fulfill(status=500))
    visitor.open(state="error")
    assert findings(visitor.page) == []
    visitor.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [found.split("\n")[0] for found in findings(visitor.page)] == ["button-name"] * 2
