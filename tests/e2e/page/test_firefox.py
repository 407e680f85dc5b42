"""Firefox runs the page: on NumPy, and on WebGPU if it offers an adapter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Playwright, expect
from tests.e2e.find import test_page_find as finding
from tests.e2e.find.files import given, pdf
from tests.e2e.listen import test_page_listen as listening
from tests.e2e.listen import tiny as tiny_whisper
from tests.e2e.write import talking
from tests.models.record_whisper import speech
from tests.unit.hub import tiny

from tallow_build.content import networks
from tallow_build.environment import debian, firefox

BREACHES = """
addEventListener("securitypolicyviolation", (event) => {
  (window.breaches ??= []).push(`${event.effectiveDirective} ${event.blockedURI}`);
});
"""

# Why a page gets no adapter, or null.
MISSING = """async () => {
  if (!navigator.gpu) return "there is no navigator.gpu";
  return (await navigator.gpu.requestAdapter()) ? null : "requestAdapter() gives null";
}"""


@pytest.fixture
def visitor_in_firefox(
    playwright: Playwright, server: str, watched_page_of: Any, visitor_of: Any
) -> Any:
    """with visitor_in_firefox(webgpu=...) as visitor: the page must not cause errors.

    Skips where this machine has no Firefox; that Debian's was not installed is a failure.
    """
    path = firefox.find()
    if path is None:
        assert not debian.available(), "build.py test has not installed Debian's firefox-esr"
        pytest.skip("there is no Firefox here, and no root on Debian to install one")

    @contextmanager
    def started(*, webgpu: bool) -> Iterator[Any]:
        logged: list[str] = []

        def note(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                logged.append(message.text)

        with firefox.running(playwright, path, webgpu=webgpu) as browser:
            with watched_page_of(browser, server, service_workers="allow") as (page, _):
                page.on("console", note)
                page.add_init_script(BREACHES)
                yield visitor_of(page)
                assert page.evaluate("window.breaches ?? []") == []
            assert logged == []

    return started


def check_both_views(visitor: Any, photo: dict[str, Any], device: str) -> None:
    """A 7 is read and a photograph recognised, on this device."""
    expect(visitor.device).to_have_attribute("data-device", device)
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.show("Classify")
    visitor.choose(photo["path"])
    best, *others = visitor.answer(photo["file"])
    expected = photo["expected"]["efficientnet_lite0"]
    assert best["index"] in expected["top1"]
    assert best["label"] == "espresso"
    # Firefox decodes and scales a picture itself: its pixels are not quite Chromium's.
    assert best["probability"] == pytest.approx(expected["answer"][0][1], abs=0.03)
    assert set(expected["top5"]) <= {row["index"] for row in (best, *others)}
    expect(visitor.device).to_have_attribute("data-device", device)


def test_the_page_without_webgpu(visitor_in_firefox: Any, photos: Any) -> None:
    with visitor_in_firefox(webgpu=False) as visitor:
        visitor.open("./")
        expect(visitor.device).to_have_attribute("data-adapter", re.compile("^WebAssembly"))
        expect(visitor.device).to_contain_text("This browser has no WebGPU")
        threads = min(visitor.page.evaluate("navigator.hardwareConcurrency"), 4)
        expect(visitor.device).to_have_attribute("data-threads", str(threads))
        check_both_views(visitor, photos["coffee"], "wasm")
        visitor.hook("device-select").select_option("numpy")
        visitor.wait()
        expect(visitor.device).to_have_attribute("data-adapter", re.compile("^NumPy "))
        assert visitor.answer("coffee.png")[0]["label"] == "espresso"


def test_the_page_on_webgpu(visitor_in_firefox: Any, photos: Any) -> None:
    with visitor_in_firefox(webgpu=True) as visitor:
        visitor.page.goto("sources/boot/address.js")  # same origin, and runs no scripts
        missing = visitor.page.evaluate(MISSING)
        if missing:
            version = visitor.page.context.browser.version
            pytest.skip(f"Firefox {version} offers no WebGPU here: {missing}")
        visitor.open("./?device=webgpu")
        check_both_views(visitor, photos["coffee"], "webgpu")
        visitor.hook("language-select").select_option("zh")
        expect(visitor.device).not_to_contain_text("Unnamed")  # Firefox's adapters have no name


def test_words_without_webgpu(visitor_in_firefox: Any) -> None:
    networks.ensure()
    with visitor_in_firefox(webgpu=False) as visitor:
        hook = talking.opened(visitor, given("tiny.gguf", tiny.gguf_file()))
        talking.options(hook, most=4)
        assert talking.asked(hook, "Hello")
        expect(visitor.device).to_have_attribute("data-device", "wasm")

        hook = finding.opened(visitor)
        file = pdf([["a dog in the rain."]])
        hook("find-files").set_input_files([given("a.txt", finding.TEXT), given("b.pdf", file)])
        finding.ready(hook, finding.COUNT + 1)
        assert finding.asked(hook, "late rain")
        visitor.page.reload()  # the index is kept
        visitor.wait()
        finding.ready(hook, finding.COUNT + 1)

        listening.lend(visitor.page, tiny_whisper.files())
        hook = listening.opened(visitor)
        said = listening.wav(speech("jfk")[:80000], channels=2)
        hook("listen-file").set_input_files(listening.sound(said))
        done = expect(hook("listen-text"))
        done.to_have_attribute("data-state", "done", timeout=listening.PATIENCE)
        assert listening.segments(hook)
