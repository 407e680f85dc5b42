"""What the page may load and run, and that nothing leaves the machine."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tallow_build.paths import ROOT

BREACHES = """
addEventListener("securitypolicyviolation", (event) => {
  (window.breaches ??= []).push(`${event.effectiveDirective} ${event.blockedURI}`);
});
"""


def test_the_page_keeps_to_its_policy(visitor: Any, photos: Any) -> None:
    """All views answer on WebGPU; the fixture asserts that no request went elsewhere."""
    visitor.page.add_init_script(BREACHES)
    policies: dict[str, str] = {}
    visitor.page.on(
        "response",
        lambda r: policies.setdefault(r.url, r.headers.get("content-security-policy", "")),
    )
    visitor.open("./?device=webgpu#draw")
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.show("Classify")
    photo = next(iter(photos.values()))["path"]
    visitor.choose(photo)
    assert visitor.answer(photo.name)
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    visitor.show("Open")
    visitor.hook("open-input").set_input_files(ROOT / "models" / "mnist" / "mnist.onnx")
    visitor.hook("open-run").click()
    expect(visitor.hook("open-times")).to_have_attribute("data-device", "webgpu", timeout=30_000)
    with visitor.page.expect_download():
        visitor.hook("open-download").click()
    assert visitor.page.evaluate("window.breaches ?? []") == []
    scripts = {url: policy for url, policy in policies.items() if url.endswith((".js", ".html"))}
    assert scripts
    assert all("default-src 'none'" in policy for policy in scripts.values())
    assert not any("unsafe-eval'" in p.replace("wasm-unsafe-eval", "") for p in scripts.values())


@pytest.mark.parametrize("name", ["main-*.js", "style-*.css"])
def test_a_file_that_was_changed_on_its_way_is_not_used(page: Any, name: str) -> None:
    def change(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=f"{response.text()}\n/* changed */\n")

    page.route(f"**/{name}", change)
    page.goto("./", wait_until="load")
    if name.endswith("css"):
        rules = "[...document.styleSheets].filter((s) => s.href.includes('/style-')).length"
        assert page.evaluate(rules) == 0
    else:
        expect(page.get_by_text("scripts have not started")).to_be_visible(timeout=60_000)


def test_every_style_and_module_of_the_page_has_its_hash(visitor: Any) -> None:
    asked: set[str] = set()
    visitor.page.on("request", lambda r: asked.add(r.url.split("?")[0]))
    visitor.open("./?device=numpy")
    home = visitor.page.evaluate("document.baseURI").split("?")[0]
    known = visitor.page.evaluate(
        "[...document.querySelectorAll('[integrity]')].map((one) => one.src ?? one.href)"
    )
    # Workers can be given no hashes, which their own loading makes good for (docs/decisions.md).
    code = {url for url in asked if url.endswith((".js", ".css"))}
    assert {url for url in code if not url.startswith(f"{home}worker/")} == set(known)
    assert len(known) == 4


def test_text_is_not_run_as_code(visitor: Any) -> None:
    visitor.page.goto("./")
    # Later, since what a test evaluates itself is exempt from the policy.
    outcome = """() => new Promise((resolve) => setTimeout(() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      try {
        new Function("window.ran = true")();
        resolve(["ran", window.ran]);
      } catch (error) {
        resolve([error.name, window.ran]);
      }
    }))"""
    assert visitor.page.evaluate(outcome) == ["EvalError", None]
