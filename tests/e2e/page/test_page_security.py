"""What the page may load and run; nothing leaves the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from tests.conftest import Watch, watched_page
from tests.e2e.conftest import DOCUMENT

from tallow_build.environment.browser import until
from tallow_build.paths import ROOT
from tallow_build.serving import server as static

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
    visitor.open("./?device=webgpu&model=squeezenet1_1#draw")
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


@pytest.mark.parametrize("name", ["boot/main-*.js", "style-*.css"])
def test_a_file_that_was_changed_in_transit_is_not_used(page: Any, name: str) -> None:
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
    # Workers have no hashes; their own checks make up for that. Why: docs/decisions/downloads.md,
    # "Hashes of styles and modules are in the HTML, made at build time"
    code = {url for url in asked if url.endswith((".js", ".css"))}
    assert {url for url in code if not url.startswith(f"{home}worker/")} == set(known)
    assert len(known) == 4


def test_text_is_not_run_as_code(visitor: Any) -> None:
    visitor.page.goto("./")
    # In a timeout, because code that a test evaluates is exempt from the policy.
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


@pytest.fixture
def plain_host(dist: Path) -> Iterator[str]:
    """The address of a server of dist/ without our headers."""
    static.application(dist)  # which registers the types
    files = StaticFiles(directory=dist, html=True)
    with static.running_application(Starlette(routes=[Mount("/", files)])) as address:
        yield address


@pytest.fixture
def plain(browser: Browser, plain_host: str) -> Iterator[tuple[Any, Watch]]:
    """A page of that server, and its watch."""
    yield from watched_page(browser, plain_host)


def test_a_host_without_headers_has_the_policy_from_the_documents(
    plain: tuple[Any, Watch], server: str, visitor_of: Any, photos: Any
) -> None:
    """The page answers under it, without a breach; injected code neither runs nor
    reaches another host."""
    page, watch = plain
    page.add_init_script(BREACHES)
    policies: list[str | None] = []
    page.on("response", lambda r: policies.append(r.headers.get("content-security-policy")))
    visitor = visitor_of(page)
    visitor.open("./?device=webgpu&model=squeezenet1_1#draw")
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.show("Classify")
    photo = next(iter(photos.values()))["path"]
    visitor.choose(photo)
    assert visitor.answer(photo.name)
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    assert policies
    assert set(policies) == {None}
    assert page.evaluate("window.breaches ?? []") == []

    def inject(route: Route) -> None:
        response = route.fetch()
        image = f"<img src='{server}icons/icon.svg' onerror='ran = true'>"
        bad = f"<script>window.ran = true</script>{image}"
        body = re.sub("<body>", f"<body>{bad}", response.text())
        route.fulfill(response=response, body=body)

    page.route(DOCUMENT, inject)
    visitor.open("./?device=numpy#draw")
    # In a timeout, because code that a test evaluates is exempt from the policy.
    outcome = """(foreign) => new Promise((resolve) => setTimeout(async () => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      const asked = await fetch(foreign).then(() => "answered", (error) => error.name);
      let run = "ran";
      try { new Function("window.ran = true")(); } catch (error) { run = error.name; }
      resolve([asked, run, window.ran]);
    }))"""
    foreign = f"{server}models/manifest.json"
    assert page.evaluate(outcome, foreign) == ["TypeError", "EvalError", None]
    until(page, "(window.breaches ?? []).length >= 5")
    reported = set(page.evaluate("breaches"))
    assert {
        "script-src-elem inline",
        f"connect-src {foreign}",
        f"img-src {server}icons/icon.svg",
    } <= reported
    visitor.draw_seven()
    assert visitor.read() == "7"
    # The browser also reports requests that it refused.
    assert set(watch.foreign) <= {foreign, f"{server}icons/icon.svg"}
    watch.foreign.clear()
