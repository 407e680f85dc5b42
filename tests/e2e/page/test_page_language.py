"""English and Chinese: a table each, the browser's choice, the visitor's choice."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, expect
from tests.e2e.conftest import OPEN_DEVICE, served_path

# What index.html says, before any script runs, without an entry by which it is translated.
BARE = """async () => {
  const page = new DOMParser().parseFromString(
    await (await fetch("index.html")).text(), "text/html");
  const labelled = page.querySelectorAll(
    "[aria-label]:not([data-text-label]), [title]:not([data-text-title])");
  const bare = [...labelled].map((element) => element.outerHTML);
  const words = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const { parentElement: parent, nodeValue } = words.currentNode;
    const known = parent.closest("[data-text], noscript, .name, #device option, .number, "
      + ".gflops, .latency");
    if (nodeValue.trim() && !known) bare.push(nodeValue.trim());
  }
  return bare;
}"""


def test_all_that_the_html_says_is_translated(visitor: Any) -> None:
    """Whether its entries have translations, `tests/js/texts.test.js` tells."""
    visitor.page.goto("./")
    assert visitor.page.evaluate(BARE) == []


def test_a_change_of_language_keeps_what_is_on_the_page(visitor: Any) -> None:
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    html = visitor.page.locator("html")
    expect(html).to_have_attribute("lang", "en")
    visitor.hook("language-select").select_option("zh")
    expect(html).to_have_attribute("lang", "zh")
    expect(visitor.page).to_have_title("Tallow · 浏览器标签页里的深度学习")
    expect(visitor.status).to_contain_text("就绪")
    expect(visitor.page.locator("#draw-title")).to_have_text("画一个数字")
    expect(visitor.hook("digit-pad")).to_have_accessible_name("手写板")
    assert visitor.read() == "7"

    visitor.page.locator("#to-classify").click()
    visitor.choose({"name": "a.png", "mimeType": "image/png", "buffer": b"no picture"})
    expect(visitor.page.locator("#view-classify .message")).to_contain_text(
        "不是这个浏览器能打开的"
    )

    visitor.page.reload()  # the choice is kept
    visitor.wait()
    expect(visitor.page.locator("#classify-title")).to_have_text("选一张照片")
    visitor.hook("language-select").select_option("en")
    expect(visitor.page.locator("#classify-title")).to_have_text("Choose a photograph")


def test_the_browser_s_language(
    browser: Browser, server: str, visitor_of: Callable[..., Any]
) -> None:
    for locale, title in (("zh-TW", "画一个数字"), ("de-DE", "Draw a digit")):
        context = browser.new_context(base_url=server, locale=locale, service_workers="block")
        visitor = visitor_of(context.new_page())
        visitor.page.goto("./")
        expect(visitor.page.locator("#draw-title")).to_have_text(title)
        context.close()


def test_without_storage_the_choice_lasts_as_long_as_the_page(visitor: Any) -> None:
    refuse = "() => { throw new DOMException('no storage', 'SecurityError') }"
    visitor.page.add_init_script(
        f"Object.defineProperty(window, 'localStorage', {{get: {refuse}}})"
    )
    visitor.page.goto("./")
    visitor.hook("language-select").select_option("zh")
    expect(visitor.page.locator("#draw-title")).to_have_text("画一个数字")


# Only a model's file, which is held back here, times out sooner.
WITHIN_SILENCE = "function withinSilence(path, promise) {"
SHORT = 'const SILENCE_MS = path.endsWith(".onnx") ? 4_000 : 30_000;'

LATIN = re.compile(r"[A-Za-z]{2,}")
NAMES = {"WebGPU", "WebAssembly", "SIMD", "NumPy"}
NAMES |= {"models", "mnist", "onnx", "limits", "too", "high"}


def only_chinese(words: str | None) -> None:
    """Checks that the only English in it is names and the browser's own messages."""
    assert re.search("[一-鿿]", words or ""), words
    assert set(LATIN.findall(words or "")) <= NAMES, words


def test_messages_of_the_worker_are_in_the_page_s_language(visitor: Any, patch: Any) -> None:
    """A missing file, a silent server and no WebGPU; then a change of the language."""
    page = visitor.page
    page.add_init_script("localStorage.setItem('tallow.language', 'zh')")
    patch(page, "site/fetch.js", WITHIN_SILENCE, f"{WITHIN_SILENCE}\n{SHORT}")
    refuse = "Promise.reject(new DOMException('limits too high', 'OperationError'))"
    refuse = f"GPUAdapter.prototype.requestDevice = () => {refuse};\n"
    patch(page, "gpu/device.js", OPEN_DEVICE, f"{refuse}{OPEN_DEVICE}")
    page.route("**/mnist-*.onnx", lambda route: route.fulfill(status=404))
    visitor.open(state="error")
    words = visitor.status.locator(".words span")
    expect(words).to_have_text(f"服务器上没有 {served_path('mnist')}（404）。")
    expect(visitor.device).to_have_attribute("data-device", "wasm", timeout=60_000)
    only_chinese(visitor.device.text_content())
    only_chinese(visitor.hook("device-select").locator("[value=webgpu]").get_attribute("title"))
    only_chinese(visitor.hook("check-result").text_content())

    # Texts on the page are translated.
    visitor.hook("language-select").select_option("en")
    expect(words).to_have_text(f"{served_path('mnist')} is missing from the server (404).")
    expect(visitor.device).to_contain_text("refused to open a device: limits too high")
    visitor.hook("language-select").select_option("zh")
    expect(words).to_have_text(f"服务器上没有 {served_path('mnist')}（404）。")

    page.unroute("**/mnist-*.onnx")
    page.route("**/mnist-*.onnx", lambda route: None)
    visitor.status.get_by_role("button", name="重试").click()
    expect(words).to_contain_text("4 秒没有响应", timeout=60_000)
    only_chinese((words.text_content() or "").replace(served_path("mnist"), ""))

    page.unroute("**/mnist-*.onnx")
    page.route("**/mnist-*.onnx", lambda route: route.fulfill(body=b"x" * 9))
    visitor.status.get_by_role("button", name="重试").click()
    expect(words).to_have_text(re.compile(f"{served_path('mnist')} 已损坏：有 9 字节，应为"))


def test_a_python_error_is_part_of_a_sentence_of_the_page(visitor: Any, patch: Any) -> None:
    page = visitor.page
    page.add_init_script("localStorage.setItem('tallow.language', 'zh')")
    patch(page, "worker/models/models.js", "graph: content,", "graph: content.slice(9),")
    visitor.open(state="error")
    expect(visitor.status).to_contain_text("无法加载模型 mnist：")
