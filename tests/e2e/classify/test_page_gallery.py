"""Several pictures: a tile for each, progress, cancel, and one shown large.

All on one page, with a network that answers at once. For a gallery of photographs see
test_page_classify.py.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.conftest import watched_page
from tests.e2e.classify.colours import add_colours, most, small
from tests.e2e.conftest import Visitor

from tallow_build.environment.browser import until

PATIENCE = 240_000

# Counts decoded pictures that the page holds, and object URLs that were not revoked.
COUNT = """
window.open = 0; window.most = 0; window.addresses = 0;
const { close } = ImageBitmap.prototype;
ImageBitmap.prototype.close = function () { window.open -= 1; close.call(this); };
window.Worker = class extends Worker {
    constructor(...about) {
        super(...about);
        this.addEventListener("message", ({ data: { result } }) => {
            if (result?.bitmap || result instanceof ImageBitmap) window.open += 1;
            window.most = Math.max(window.most, window.open);
        });
    }
    postMessage(message, handed = []) {
        window.open -= Array.from(handed).filter((part) => part instanceof ImageBitmap).length;
        super.postMessage(message, handed);
    }
};
const [address, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
URL.createObjectURL = (file) => { window.addresses += 1; return address(file); };
URL.revokeObjectURL = (url) => { window.addresses -= 1; revoke(url); };
"""

# One question does not reach the worker until post() is called: the gallery waits for its answer.
WITHHOLD = """
window.asked = 0;
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
    const now = () => send.call(this, message, ...others);
    if (message.action === "classify.photo" && ++window.asked === 150) window.post = now;
    else now();
};
"""


@pytest.fixture(scope="module")
def regular_page(browser, server):
    """A page with a gallery that is still hidden."""
    for page, _ in watched_page(browser, server):
        page.add_init_script(COUNT)
        page.add_init_script(WITHHOLD)
        add_colours(page)
        visitor = Visitor(page)
        visitor.open("./?device=numpy&model=colours#classify")
        expect(visitor.hook("image-gallery")).to_be_hidden()
        yield visitor


@pytest.fixture
def visitor(regular_page):
    """One page for all tests, which begin anywhere on it."""
    visitor = regular_page
    visitor.page.evaluate("[window.asked, window.most] = [0, 0]")
    return visitor


def test_several_files_are_a_gallery(visitor):
    visitor.page.evaluate("location.hash = '#classify'")
    visitor.hook("device-select").select_option("webgpu")
    visitor.wait()
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    gallery = visitor.hook("image-gallery")
    name = "<img src=x onerror=alert(1)>.png"
    broken = {"name": name, "mimeType": "image/png", "buffer": b"<b>no picture</b>"}
    visitor.choose([small(1), broken, small(22)])
    assert visitor.answer("1.png")[0]["label"] == most(1)  # the first one is shown large
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(gallery.locator(".count")).to_have_text("3 of 3")
    expect(gallery.get_by_role("status")).to_contain_text("2 pictures classified, 1 failed")

    first, bad, last = gallery.locator(".tile").all()
    assert most(1) != most(22)
    for tile, number in ((first, 1), (last, 22)):
        expect(tile).to_have_attribute("data-state", "answered")
        expect(tile).to_contain_text(most(number))
        expect(tile).to_contain_text("%")
    expect(bad).to_have_attribute("data-state", "failed")
    expect(bad).to_contain_text(name)
    assert visitor.page.locator("img[src=x]").count() == 0

    last.click()
    best = visitor.answer("22.png")[0]
    expect(last).to_have_attribute("data-label", best["label"])
    expect(last).to_have_attribute("aria-current", "true")
    bad.click()
    alert = visitor.page.locator("#view-classify").get_by_role("alert")
    expect(alert).to_contain_text(f"“{name}”")
    assert visitor.result.get_attribute("data-source") is None

    # Another device classifies all of them again.
    asked = visitor.page.evaluate("window.asked")
    visitor.hook("device-select").select_option("numpy")
    expect(visitor.device).to_have_attribute("data-device", "numpy", timeout=PATIENCE)
    until(visitor.page, "window.asked >= argument", asked + 2)
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(first).to_contain_text(most(1))

    visitor.choose(small(3))  # one file: no gallery
    assert visitor.answer("3.png")
    expect(gallery).to_be_hidden()


def test_five_hundred_files_can_be_cancelled_and_continued(visitor):
    visitor.page.evaluate("location.hash = '#classify'")
    gallery = visitor.hook("image-gallery")
    visitor.choose([small(number) for number in range(500)])
    expect(gallery.locator(".tile")).to_have_count(500)
    answered = gallery.locator(".tile[data-state=answered]")
    until(visitor.page, "window.post", seconds=PATIENCE / 1000)
    gallery.get_by_role("button", name="Cancel").click()
    expect(gallery).to_have_attribute("data-state", "stopped")
    expect(gallery.get_by_role("status")).to_contain_text("pictures left")
    count = answered.count()
    assert 100 < count < 150
    visitor.page.evaluate("post()")
    # Another picture is answered while the gallery is stopped, and none is classified twice.
    gallery.locator(".tile").nth(499).click()
    assert visitor.answer("499.png")[0]["label"] == most(499)
    assert answered.count() == count
    gallery.get_by_role("button", name="Continue").click()
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(gallery.get_by_role("status")).to_contain_text("500 pictures classified")
    labels = gallery.locator(".tile").evaluate_all("tiles => tiles.map(tile => tile.dataset.label)")
    assert labels == [most(number) for number in range(500)]
    # At most two decoded pictures: the gallery's current one and the large one. The rest is small.
    assert visitor.page.evaluate("[window.open, window.addresses]") == [0, 0]
    assert visitor.page.evaluate("window.most") <= 2
    kept = visitor.page.evaluate(
        "() => [...document.querySelectorAll('canvas')]"
        ".reduce((sum, { width, height }) => sum + 4 * width * height, 0)"
    )
    assert kept < 50e6


def test_a_pasted_picture_is_classified(visitor):
    visitor.page.evaluate("location.hash = '#draw'")
    visitor.wait()
    visitor.page.evaluate(
        """content => {
            const clipboardData = new DataTransfer();
            clipboardData.items.add(
                new File([new Uint8Array(content)], "pasted.png", { type: "image/png" }));
            const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true });
            document.body.dispatchEvent(paste);
        }""",
        list(small(22)["buffer"]),
    )
    assert visitor.answer("pasted.png")[0]["label"] == most(22)
    expect(visitor.page.locator("#view-classify")).to_be_visible()


def test_a_folder_gives_its_pictures(visitor, tmp_path):
    """Dropped as the browser itself does: a folder is not a file."""
    inner = tmp_path / "holiday" / "day 2"
    inner.mkdir(parents=True)
    (inner.parent / "a.png").write_bytes(small(1)["buffer"])
    (inner.parent / "notes.txt").write_text("no picture")
    (inner / "b.png").write_bytes(small(22)["buffer"])
    (tmp_path / "empty").mkdir()
    visitor.page.evaluate("location.hash = '#classify'")
    visitor.drop(tmp_path / "empty")
    alert = visitor.page.locator("#view-classify").get_by_role("alert")
    expect(alert).to_contain_text("The folder “empty” contains no pictures")
    visitor.drop(tmp_path / "holiday")
    assert visitor.answer("a.png")[0]["label"] == most(1)
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    names = [tile.get_attribute("data-name") for tile in gallery.locator(".tile").all()]
    assert names == ["a.png", "b.png"]
