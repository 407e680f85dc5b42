"""The page itself: addresses, sub-paths, widths, themes, the keyboard; it never freezes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.conftest import PATIENCE

from tallow_build.serving import server as static


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one."""
    return regular


def test_addresses_choose_the_view(visitor):
    visitor.open("./#classify")
    expect(visitor.page.locator("#view-classify")).to_be_visible()
    expect(visitor.page.locator("#view-draw")).to_be_hidden()
    visitor.page.get_by_role("link", name="Draw").click()
    expect(visitor.page.locator("#view-draw")).to_be_visible()
    assert visitor.page.url.endswith("#draw")
    visitor.page.go_back()
    expect(visitor.page.locator("#view-classify")).to_be_visible()


def test_works_under_any_path(browser: Browser, dist, visitor_of):
    with static.running(dist, prefix="/some/deeper/path") as address:
        page = browser.new_page(service_workers="block")
        outside = []
        page.on("request", lambda r: None if r.url.startswith(address) else outside.append(r.url))
        visitor = visitor_of(page)
        visitor.open(address)
        visitor.draw_seven()
        assert visitor.read() == "7"
        page.close()
    assert not outside


def test_the_page_is_responsive_while_a_photograph_is_classified(visitor, photos):
    """Its thread is free between the question and its answer, on the slower device too."""
    visitor.open("./?device=numpy#classify")
    visitor.page.evaluate(
        """() => {
            window.turns = 0;
            setInterval(() => { window.turns += 1; }, 50);
            const list = document.querySelector("[data-testid=image-result]");
            new MutationObserver(() => {
                if (list.dataset.source) window.during = window.turns - window.asked;
            }).observe(list, { attributes: true });
            document.querySelector("[data-testid=image-input]").addEventListener(
                "change", () => { window.asked = window.turns; }, { capture: true });
        }"""
    )
    visitor.choose(photos["coffee"]["path"])
    visitor.answer("coffee.png")
    ms = float(visitor.latency.get_attribute("data-ms"))
    during = visitor.page.evaluate("window.during")
    # At best twenty a second; a blocked page would have had one or two.
    assert during >= max(2, ms / 1000 * 4), f"{during} turns in {ms} ms"


def test_fits_any_width_and_nothing_moves_when_an_answer_comes(newcomer, photos):
    visitor = newcomer
    # The panels below come with the first answer. On a phone, where the answer stands below the
    # question, it takes up no room before it comes; on a wide screen the engine stands beside both.
    still = {320: ".question", 768: "", 1280: "", 2560: ".question, .answer"}
    boxes = """(parts) => [...document.querySelectorAll(parts)].map(element => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x, y + scrollY, width, height].map(Math.round);
    })"""

    def at_every_width() -> dict[int, list[list[int]]]:
        found = {}
        for width, parts in still.items():
            visitor.page.set_viewport_size({"width": width, "height": 800})
            every = ".question, .answer, .engine:not(.both)"
            found[width] = visitor.page.evaluate(boxes, parts or every)
            assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
        return found

    visitor.open("./?device=numpy")
    # Tests have no service worker, for which the page shows a longer text once it is idle.
    offline = visitor.hook("offline-state")
    expect(offline).to_have_attribute("data-state", "refused", timeout=PATIENCE)
    refused = "Does not work offline: this browser stores no files for this address."
    expect(offline.locator("span")).to_have_text(refused)
    before = at_every_width()
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert at_every_width() == before
    visitor.show("Classify")
    before = at_every_width()
    visitor.choose(photos["coffee"]["path"])
    visitor.answer("coffee.png")
    assert at_every_width() == before


def test_the_menu_has_two_rows_on_a_phone_and_one_elsewhere(visitor):
    visitor.open()
    rows = """() => new Set([...document.querySelectorAll("nav a")].map(
        link => Math.round(link.getBoundingClientRect().top))).size"""
    bottom = "(one) => one.getBoundingClientRect().bottom"
    page = visitor.page
    for width, wanted in {320: 2, 360: 2, 390: 2, 480: 2, 481: 1, 768: 1, 833: 1, 1280: 1}.items():
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(rows) == wanted, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # The language is beside the name, and never has a row of its own.
        top = page.locator(".top .name").evaluate(bottom)
        assert abs(visitor.hook("language-select").evaluate(bottom) - top) < 12, width


def test_the_keyboard_reaches_everything(newcomer):
    visitor = newcomer
    visitor.open()
    focused = "document.activeElement.dataset.testid ?? document.activeElement.textContent.trim()"
    visitor.page.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(23):
        visitor.page.keyboard.press("Tab")
        reached.append(visitor.page.evaluate(focused))
    views = ["Draw", "Classify", "Open", "Write", "Find", "Listen", "Train"]
    assert reached[:10] == ["Tallow", *views, "language-select", "digit-pad"]
    assert {"Boot log", "device-select"} < set(reached)
    visitor.page.get_by_role("link", name="Classify").focus()
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator("#view-classify")).to_be_visible()
    visitor.page.keyboard.press("Tab")
    assert visitor.page.evaluate(focused) == "Open"
    rest = ("language-select", "image-input", "model-select")
    for hook in ("Write", "Find", "Listen", "Train", *rest):
        visitor.page.keyboard.press("Tab")
        assert visitor.page.evaluate(focused) == hook


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_in_both_themes(browser: Browser, server: str, theme):
    """Contrast of at least 4.5 to 1 (WCAG AA) for every text colour."""
    with browser.new_context(
        base_url=server, color_scheme=theme, service_workers="block"
    ) as context:
        page = context.new_page()
        page.goto("./")
        contrasts = page.evaluate(
            """() => {
                const style = getComputedStyle(document.documentElement);
                const probe = document.body.appendChild(document.createElement("p"));
                const light = name => {
                    probe.style.color = style.getPropertyValue(name);
                    const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map(v => {
                        const c = v / 255;
                        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
                    });
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
                };
                const found = {};
                for (const text of ["--ink", "--muted", "--accent"])
                    for (const ground of ["--paper", "--card"]) {
                        const [a, b] = [light(text), light(ground)];
                        found[text + " on " + ground] = Math.max(a, b) / Math.min(a, b);
                    }
                return found;
            }"""
        )
    assert all(value >= 4.5 for value in contrasts.values()), contrasts


def test_nothing_is_empty_and_on_a_phone_the_samples_follow_the_question(visitor):
    visitor.open("./?device=numpy")
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 844})
    bars = page.locator("#view-draw .bars.digits")
    page.reload()  # a regular visitor had an answer here
    visitor.wait()
    for part in (bars, page.locator("#both"), visitor.hook("kernels-panel"), visitor.latency):
        expect(part).to_be_hidden()
    expect(visitor.hook("digit-clear")).to_be_hidden()
    visitor.draw_seven()
    assert visitor.read() == "7"
    for part in (bars, page.locator("#both"), visitor.hook("kernels-panel"), visitor.latency):
        expect(part).to_be_visible()
    expect(visitor.hook("compare-result")).to_be_hidden()
    visitor.show("Classify")
    for name in ("image-result", "copy-json", "copy-csv", "heat"):
        expect(visitor.hook(name)).to_be_hidden()
    tops = [
        page.locator(f"#view-classify {part}").evaluate("(one) => one.getBoundingClientRect().top")
        for part in (".question", ".samples", ".answer")
    ]
    assert tops == sorted(tops)
