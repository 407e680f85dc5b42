"""What the page may load and run, and that nothing leaves the machine."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

BREACHES = """
addEventListener("securitypolicyviolation", (event) => {
  (window.breaches ??= []).push(`${event.effectiveDirective} ${event.blockedURI}`);
});
"""


def test_the_page_keeps_to_its_policy(visitor: Any, photos: Any) -> None:
    """Both views answer on WebGPU; the fixture asserts that no request went elsewhere."""
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
    assert visitor.page.evaluate("window.breaches ?? []") == []
    scripts = {url: policy for url, policy in policies.items() if url.endswith((".js", ".html"))}
    assert scripts
    assert all("default-src 'none'" in policy for policy in scripts.values())
    assert not any("unsafe-eval'" in p.replace("wasm-unsafe-eval", "") for p in scripts.values())


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
