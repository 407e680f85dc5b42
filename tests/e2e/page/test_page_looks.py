"""How the page looks: compares its states at three widths in both themes with stored pictures.

What differs from machine to machine or from run to run (times, the device's name, probabilities) is
set to a fixed value before each look; what is on the page is real.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect
from tests.e2e.keeping import kept
from tests.e2e.page.looks import DOCUMENTS, UPDATE, Looks, document, typeset

from tallow_build.environment.browser import until
from tallow_build.paths import BUILD, ROOT

PATIENCE = 120_000
NUMBER = re.compile(r"\d")
MODEL = "squeezenet1_1"
DOCUMENTED = ("draw", "number", "classify", "gallery", "heat", "comparison", "kernels",
              "open")  # fmt: skip

FOUR = [(0.09, 0.33), (0.06, 0.55), (0.25, 0.55)], [(0.2, 0.33), (0.19, 0.7)]
TWO = [(0.42, 0.4), (0.46, 0.34), (0.53, 0.34), (0.57, 0.41), (0.54, 0.5), (0.41, 0.68),
       (0.5, 0.68), (0.59, 0.68)]  # fmt: skip
SEVEN = [(0.74, 0.34), (0.92, 0.34), (0.83, 0.54), (0.79, 0.7)]

FREEZE = """() => {
    const say = (selector, words) => {
        for (const element of document.querySelectorAll(selector)) {
            const found = typeof words === "function" ? words(element) : words;
            if (element.textContent !== found) element.textContent = found;
        }
    };
    const fill = (selector, shares, words) =>
        document.querySelectorAll(selector).forEach((item, i) => {
            const share = item.querySelector(".share");
            if (!/[0-9]/.test(share.textContent)) return;
            item.style.setProperty("--share", String(shares[i]));
            share.textContent = words(shares[i], i);
        });
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    fill(".digits li", [0.004, 0, 0.01, 0, 0, 0, 0.001, 0.98, 0.002, 0], percent);
    fill(".classes li", [0.42, 0.31, 0.2, 0.01, 0.004], percent);
    const times = ["643 ms", "192 ms", "64 ms", "6.2 ms", "0.6 ms", "3.1 ms"];
    fill(".times li", [1, 0.3, 0.1, 1, 0.1, 0.5], (_, i) => times[i]);
    say("[data-state=ready] .words > :first-child", "Ready · 11 kernels compiled");
    say("[data-state=loading] .words > :first-child", "Loading 6.5 of 13.0 MB");
    Object.assign(document.querySelector(".status progress"), { max: 2, value: 1 });
    say("[data-state=error] .words > :first-child", ({ textContent }) =>
        textContent.replace(/-\\w+\\.onnx/, "-b6b95fac84.onnx")); // whatever the file's checksum
    say(".latency", ({ dataset }) => (dataset.ms ? "8.2 ms" : "–"));
    say("[data-testid=offline-state][data-state=refused] > span", "Works offline");
    say("[data-testid=device-info]", "the graphics card’s name");
    say("[data-testid=check-result][data-max-diff]", "The largest difference is 4.2e-9.");
    say("[data-testid=heat-said]:not(:empty)", "For “Egyptian cat” the middle mattered most.");
    say(".tile .share", ({ textContent }) => (textContent ? "51.0 %" : ""));
    say(".boot li :first-child", "A stage"); // their order varies
    say(".boot li :nth-child(n + 2)", "1.20");
    say(".kernels .about", "10 kernels, 3.856 ms in all.");
    document.querySelectorAll(".kernels tbody tr").forEach((row, i) => {
        if (i > 4) return row.remove();
        row.querySelector(".track").style.setProperty("--share", String(1 - i / 5));
        const cells = { b: "conv2d", span: "1×28×28×16", small: "conv2d + add" };
        for (const [part, words] of Object.entries(cells)) {
            for (const each of row.querySelectorAll(`label ${part}`)) each.textContent = words;
        }
        row.querySelector(".track + span").textContent = "20.0 %";
        const rest = { time: "0.933 ms", gflops: "0.70", bytes: "4.8 kB", slots: "18, 17, 1" };
        for (const [part, words] of Object.entries(rest)) {
            row.querySelector(`td.${part}`).textContent = words;
        }
    });
    say("[data-testid=open-times]", "WebGPU: first run 1.10 s, warm 6.0 ms.");
    say("[data-testid=open-compared]", "WebGPU: first run 1.10 s. NumPy: first run 909 ms.");
    say("[data-testid=open-top] .share", "33.0");
    say(".output > p.type", "from 0.98 to 34.25, mean 10.51");
    say("[data-testid=open-difference]", "Largest difference between the devices: 1.9e-6");
    say(".code h3", "2 · conv2d + add");
    say(".code .facts", "1 × 49 × 1 workgroups");
}"""


# Tests have no service worker; the page shows that once it is ready and idle.
SETTLED = """["status", "offline-state"]
    .map((name) => document.querySelector(`[data-testid=${name}]`).dataset.state)
    .every((state, i, [status]) => status !== "ready" || !["unsaid", "keeping"].includes(state))"""


# What visitors with a service worker see.
WORKS_OFFLINE = """document.querySelector("[data-testid=offline-state] > span").textContent =
    "Works offline";"""


def rest(page: Page) -> None:
    """Removes pointer and focus, and freezes everything that varies."""
    until(page, SETTLED)
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.evaluate(FREEZE)


def compare_both(visitor: Any) -> None:
    """Computes the page's answer on both devices."""
    visitor.hook("check-numpy").click()
    expect(visitor.hook("check-result")).to_have_attribute(
        "data-max-diff", NUMBER, timeout=PATIENCE
    )
    visitor.hook("compare-run").click()
    last = visitor.hook("compare-result").locator("li").last
    expect(last).to_have_attribute("data-ms", NUMBER, timeout=PATIENCE)


def show_kernels(visitor: Any) -> None:
    visitor.hook("kernels-panel").locator("summary").click()
    expect(visitor.hook("kernels-row").first).to_be_visible(timeout=PATIENCE)
    expect(visitor.hook("kernels-panel").locator(".found")).not_to_have_attribute(
        "aria-busy", "true"
    )
    visitor.hook("kernels-row").nth(1).click()  # not the slowest, which varies


def see_samples(visitor: Any) -> None:
    """Waits for the samples, which are fetched when they come into view."""
    visitor.hook("image-sample").first.scroll_into_view_if_needed()
    pictures = "[...document.querySelectorAll('.strip img')]"
    until(visitor.page, f"{pictures}.length === 8 && {pictures}.every((i) => i.naturalWidth)")


def show_heat(visitor: Any) -> None:
    visitor.hook("heat").click()
    expect(visitor.hook("heat-said")).to_contain_text("For “", timeout=PATIENCE)
    expect(visitor.page.locator(".photo .heat")).to_be_visible()


def choose_many(visitor: Any, photos: Any) -> None:
    """Chooses a row of photographs, and one file that is not a picture."""
    files = [
        {"name": p["file"], "mimeType": "image/png", "buffer": p["path"].read_bytes()}
        for p in photos.values()
    ][:6]
    files.insert(2, {"name": "holiday.png", "mimeType": "image/png", "buffer": b"none"})
    visitor.choose(files)
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    visitor.answer(photos[next(iter(photos))]["file"])


def test_the_page_looks_the_same(visitor, photos, patch):
    page = visitor.page
    patch(
        page, "views/classify/occlusion.js", "PLACES = 9", "PLACES = 5"
    )  # as many as its look needs
    page.set_viewport_size({"width": 1024, "height": 768})
    looks = Looks(page)
    visitor.open(f"./?device=webgpu&model={MODEL}")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    typeset(page)
    rest(page)
    looks.see("draw-ready")

    page.set_viewport_size({"width": 1024, "height": 768})
    visitor.draw_seven()
    assert visitor.read() == "7"
    compare_both(visitor)
    kept(visitor)  # and said so in the boot log
    page.get_by_text("Boot log").click()
    rest(page)
    visitor.hook("digit-pad").focus()  # the ring, and the keyboard's own cursor
    page.keyboard.press("ArrowRight")
    looks.see("draw-digit")
    page.get_by_text("Boot log").click()

    page.set_viewport_size({"width": 1024, "height": 768})
    visitor.clear()
    visitor.draw(*FOUR, TWO, SEVEN)
    assert visitor.read() == "427"
    show_kernels(visitor)
    rest(page)
    looks.see("draw-number", of=page.locator("#view-draw"))
    code = visitor.hook("kernels-wgsl")  # in the system's own typeface
    looks.see("kernels", of=visitor.hook("kernels-panel"), mask=code)
    visitor.hook("kernels-panel").locator("summary").click()

    page.set_viewport_size({"width": 1024, "height": 768})
    visitor.show("Classify")
    see_samples(visitor)
    rest(page)
    looks.see("classify-ready")
    visitor.choose(photos["chelsea"]["path"])
    assert visitor.answer(photos["chelsea"]["file"])[0]["label"] == "Egyptian cat"
    show_heat(visitor)
    rest(page)
    looks.see("classify-heat", of=page.locator("#view-classify"))
    choose_many(visitor, photos)
    rest(page)
    looks.see("gallery", of=page.locator("#view-classify"))
    assert not looks.wrong, "\n".join(looks.wrong)


def test_loading_and_failing_look_the_same(visitor):
    page = visitor.page
    looks = Looks(page)
    waiting: dict[str, Route] = {}
    page.route("**/models/mnist/mnist-*", lambda route: waiting.update({route.request.url: route}))
    with page.expect_request("**/models/mnist/mnist-*.onnx", timeout=PATIENCE):
        page.goto("./?device=webgpu")
    typeset(page)
    expect(visitor.device).to_have_attribute("data-device", "webgpu", timeout=PATIENCE)
    python = visitor.hook("boot-log").locator("[data-stage=snapshot]")
    expect(python).to_have_attribute("data-state", "done", timeout=PATIENCE)
    visitor.draw_seven()
    rest(page)
    looks.see("loading", of=page.locator("main"))
    for url, route in waiting.items():
        if url.endswith(".onnx"):
            route.fulfill(status=500)
        else:
            route.continue_()
    visitor.wait("error")
    expect(page.get_by_role("button", name="Try again").first).to_be_visible()
    rest(page)
    looks.see("failed", of=page.locator("main"))
    assert not looks.wrong, "\n".join(looks.wrong)


def open_model(visitor: Any, folder: str, photo: Any) -> None:
    """Opens a model of the site as a visitor's own, and classifies a photograph on both devices."""
    card = json.loads((ROOT / "models" / folder / "card.json").read_text("utf-8"))
    rest = visitor.page.locator("#view-open[aria-busy=false]")
    visitor.hook("open-input").set_input_files(BUILD / "models" / folder / f"{folder}.onnx")
    expect(visitor.hook("open-operators").locator("td").first).to_be_visible(timeout=PATIENCE)
    visitor.hook("open-kind").select_option("image")
    visitor.hook("open-file").set_input_files(photo["path"])
    visitor.hook("open-order").select_option(card["preprocess"]["channels"])
    visitor.hook("open-mean").fill(", ".join(map(str, card["preprocess"]["mean"])))
    visitor.hook("open-scale").fill("1")
    visitor.hook("open-run").click()
    expect(visitor.hook("open-output")).to_be_visible(timeout=PATIENCE)
    visitor.hook("open-labels").set_input_files(BUILD / "models" / "imagenet" / "labels.json")
    visitor.hook("open-compare").click()
    expect(visitor.hook("open-output")).to_have_attribute(
        "data-difference", NUMBER, timeout=PATIENCE
    )
    expect(rest).to_be_visible()


def test_an_opened_model_looks_the_same(visitor, photos):
    page = visitor.page
    looks = Looks(page)
    visitor.open("./?device=webgpu#open")
    typeset(page)
    open_model(visitor, MODEL, photos["chelsea"])
    rest(page)
    looks.see("open", of=page.locator("#view-open"))
    if UPDATE:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1100, "height": 800})
        view = page.locator("#view-open")
        document(page, "open", page.locator(".top"), view.locator(".said-of"))
    assert not looks.wrong, "\n".join(looks.wrong)


@pytest.mark.skipif(not UPDATE, reason="TALLOW_UPDATE_LOOKS=1 takes the documents' pictures")
def test_take_the_pictures_of_the_documents(visitor, photos):
    page = visitor.page
    page.set_viewport_size({"width": 1100, "height": 800})
    visitor.open(f"./?device=webgpu&model={MODEL}")
    typeset(page)
    top, draw, classify = (page.locator(s) for s in (".top", "#view-draw", "#view-classify"))
    visitor.draw_seven()
    assert visitor.read() == "7"
    compare_both(visitor)
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    document(page, "comparison", page.locator("#both"))
    until(page, SETTLED)
    page.evaluate(WORKS_OFFLINE)
    document(page, "draw", top, draw, page.locator(".engine").first)
    visitor.clear()
    visitor.draw(*FOUR, TWO, SEVEN)
    assert visitor.read() == "427"
    document(page, "number", draw.locator(".question"), draw.locator(".answer"))
    show_kernels(visitor)
    document(page, "kernels", visitor.hook("kernels-panel"))
    visitor.hook("kernels-panel").locator("summary").click()
    visitor.show("Classify")
    see_samples(visitor)
    visitor.choose(photos["chelsea"]["path"])
    visitor.answer(photos["chelsea"]["file"])
    document(page, "classify", top, classify)
    show_heat(visitor)
    document(page, "heat", classify.locator(".drop"), classify.locator(".answer"))
    choose_many(visitor, photos)
    document(page, "gallery", visitor.hook("image-gallery"))


def test_the_documents_show_small_pictures():
    shown = {
        name
        for text in (ROOT / "README.md", ROOT / "docs" / "guide.md")
        for name in re.findall(
            r"!\[[^\]]+\]\((?:docs/)?images/(\w+)\.png\)", text.read_text("utf-8")
        )
    }
    assert shown == set(DOCUMENTED)
    assert shown == {path.stem for path in DOCUMENTS.iterdir()}
    for name in shown:
        path = DOCUMENTS / f"{name}.png"
        assert path.stat().st_size <= 120_000, path
        with Image.open(path) as picture:
            assert picture.width >= 640, path
