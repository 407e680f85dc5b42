"""Many pictures at once: a tile for each, progress, cancel, and one of them large."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image
from playwright.sync_api import expect

PATIENCE = 240_000


def small(number: int) -> dict[str, Any]:
    """A picture of one colour, as a file to choose."""
    file = io.BytesIO()
    Image.new("RGB", (40, 30), (number * 5 % 256, number * 11 % 256, 90)).save(file, "PNG")
    return {"name": f"{number}.png", "mimeType": "image/png", "buffer": file.getvalue()}


def test_several_files_are_a_gallery(visitor, photos):
    visitor.open("./#classify")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_be_hidden()
    name = "<img src=x onerror=alert(1)>.png"
    chosen = [
        {"name": p["file"], "mimeType": "image/png", "buffer": p["path"].read_bytes()}
        for p in (photos["coffee"], photos["chelsea"])
    ]
    chosen.insert(1, {"name": name, "mimeType": "image/png", "buffer": b"<b>no picture</b>"})
    visitor.choose(chosen)
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"  # the first one is shown large
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(gallery.locator(".count")).to_have_text("3 of 3")
    expect(gallery.get_by_role("status")).to_contain_text("2 pictures classified, 1 could not be")

    coffee, bad, cat = gallery.locator(".tile").all()
    expect(coffee).to_have_attribute("data-state", "answered")
    expect(coffee).to_contain_text("espresso")
    expect(coffee).to_contain_text("%")
    expect(bad).to_have_attribute("data-state", "failed")
    expect(bad).to_contain_text(name)
    assert visitor.page.locator("img[src=x]").count() == 0
    expect(cat).to_have_attribute("data-state", "answered")

    cat.click()
    best = visitor.answer("chelsea.png")[0]
    expect(cat).to_have_attribute("data-label", best["label"])
    expect(cat).to_have_attribute("aria-current", "true")
    bad.click()
    alert = visitor.page.locator("#view-classify").get_by_role("alert")
    expect(alert).to_contain_text(f"“{name}”")
    assert visitor.result.get_attribute("data-source") is None

    # Another device asks all of them again.
    visitor.hook("device-select").select_option("numpy")
    expect(visitor.device).to_have_attribute("data-device", "numpy", timeout=PATIENCE)
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(coffee).to_contain_text("espresso")

    visitor.choose(photos["rocket"]["path"])  # one file: no gallery
    assert visitor.answer("rocket.jpg")
    expect(gallery).to_be_hidden()


def test_five_hundred_files_can_be_cancelled_and_go_on(visitor):
    visitor.open("./?device=numpy&model=squeezenet1_1#classify")
    gallery = visitor.hook("image-gallery")
    visitor.page.evaluate(
        """() => {
            window.open = 0; window.most = 0;
            const make = window.createImageBitmap;
            window.createImageBitmap = async (...args) => {
                const bitmap = await make(...args);
                window.most = Math.max(window.most, ++window.open);
                const close = bitmap.close.bind(bitmap);
                bitmap.close = () => { window.open -= 1; close(); };
                return bitmap;
            };
        }"""
    )
    files = [small(number) for number in range(500)]
    visitor.choose(files)
    expect(gallery.locator(".tile")).to_have_count(500)
    answered = gallery.locator(".tile[data-state=answered]")
    expect(answered.nth(9)).to_be_attached(timeout=PATIENCE)
    gallery.get_by_role("button", name="Cancel").click()
    expect(gallery).to_have_attribute("data-state", "stopped")
    expect(gallery.get_by_role("status")).to_contain_text("pictures are left")
    count = answered.count()
    assert 10 <= count < 500
    # Another picture is answered while the gallery stands still, and none is done twice.
    gallery.locator(".tile").nth(499).click()
    assert len(visitor.answer("499.png")) == 5
    assert answered.count() == count
    gallery.get_by_role("button", name="Go on").click()
    expect(answered.nth(count)).to_be_attached(timeout=PATIENCE)
    gallery.get_by_role("button", name="Cancel").click()
    # Decoded pictures: the gallery's one and the large one at most; what stays is small.
    assert visitor.page.evaluate("window.most") <= 2
    kept = visitor.page.evaluate(
        "() => [...document.querySelectorAll('.tile canvas')]"
        ".reduce((sum, { width, height }) => sum + 4 * width * height, 0)"
    )
    assert kept < 50e6


def test_a_pasted_picture_is_classified(visitor, photos):
    visitor.open("./?device=numpy#draw")
    visitor.page.evaluate(
        """content => {
            const clipboardData = new DataTransfer();
            clipboardData.items.add(
                new File([new Uint8Array(content)], "pasted.png", { type: "image/png" }));
            const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true });
            document.body.dispatchEvent(paste);
        }""",
        list(photos["coffee"]["path"].read_bytes()),
    )
    assert visitor.answer("pasted.png")[0]["label"] == "espresso"
    expect(visitor.page.locator("#view-classify")).to_be_visible()


def test_a_folder_gives_its_pictures(visitor, photos, tmp_path):
    """Dropped as the browser itself does it: a folder is no file."""
    inner = tmp_path / "holiday" / "day 2"
    inner.mkdir(parents=True)
    (inner.parent / "a.png").write_bytes(photos["coffee"]["path"].read_bytes())
    (inner.parent / "notes.txt").write_text("no picture")
    (inner / "b.png").write_bytes(photos["chelsea"]["path"].read_bytes())
    (tmp_path / "empty").mkdir()
    visitor.open("./?device=numpy#classify")
    page = visitor.page

    def drop(path) -> None:
        session = page.context.new_cdp_session(page)
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            event = {"type": kind, "x": 300, "y": 300, "data": data}
            session.send("Input.dispatchDragEvent", event)
        session.detach()

    drop(tmp_path / "empty")
    alert = page.locator("#view-classify").get_by_role("alert")
    expect(alert).to_contain_text("no picture in the folder “empty”")
    drop(tmp_path / "holiday")
    assert visitor.answer("a.png")[0]["label"] == "espresso"
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    names = [tile.get_attribute("data-name") for tile in gallery.locator(".tile").all()]
    assert names == ["a.png", "b.png"]
