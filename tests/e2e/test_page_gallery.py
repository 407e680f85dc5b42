"""Several pictures: a tile for each, progress, cancel, and one shown large."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.onnx import graphs

from tallow_build import split_model
from tallow_build.browser import until

PATIENCE = 240_000


def colour(number: int) -> tuple[int, int, int]:
    """A colour whose three components differ."""
    return (number * 5 % 256 // 3 * 3, number * 11 % 256 // 3 * 3 + 1, 92)


def most(number: int) -> str:
    """The strongest component in the picture of this number."""
    parts = colour(number)
    return ("red", "green", "blue")[parts.index(max(parts))]


def small(number: int) -> dict[str, Any]:
    """A picture of one colour, as a file to choose."""
    file = io.BytesIO()
    Image.new("RGB", (40, 30), colour(number)).save(file, "PNG")
    return {"name": f"{number}.png", "mimeType": "image/png", "buffer": file.getvalue()}


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one."""
    return regular


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
    expect(gallery.get_by_role("status")).to_contain_text("2 pictures classified, 1 failed")

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

    # Another device classifies all of them again.
    visitor.hook("device-select").select_option("numpy")
    expect(visitor.device).to_have_attribute("data-device", "numpy", timeout=PATIENCE)
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(coffee).to_contain_text("espresso")

    visitor.choose(photos["rocket"]["path"])  # one file: no gallery
    assert visitor.answer("rocket.jpg")
    expect(gallery).to_be_hidden()


@pytest.fixture
def colours(newcomer) -> None:
    """Has the site carry one more model, which is as good as free: it says which colour there is
    most of in a picture."""
    network = graphs.model(
        [
            graphs.node("GlobalAveragePool", "image", "mean"),
            graphs.node("Reshape", "mean flat", "logits"),
        ],
        [graphs.value("image", (1, 3, 32, 32))],
        [graphs.value("logits", (1, 3))],
        [graphs.weight("flat", np.int64([1, 3]))],
    ).SerializeToString()
    graph = split_model.graph_of(network, "colours.onnx")
    entry = {
        "name": "colours",
        "title": "Colours",
        "task": "image",
        "file": "colours.onnx",
        "card": "colours.json",
        "bytes": len(network),
        "sha256": hashlib.sha256(network).hexdigest(),
        "graph": {
            "file": "colours.graph",
            "bytes": len(graph),
            "sha256": hashlib.sha256(graph).hexdigest(),
        },
        "pieces": split_model.pieces_of(network, "colours.onnx"),
    }
    card = {
        **entry,
        "preprocess": {"size": 32, "crop": 1, "channels": "RGB", "mean": [0] * 3, "std": [1] * 3},
        "input": {"name": "image"},
        "output": {"name": "logits", "kind": "logits"},
        "labels": "colours.labels.json",
    }
    files = {
        "manifest.json": json.dumps({"models": [entry]}),
        "colours.json": json.dumps(card),
        "colours.labels.json": json.dumps(["red", "green", "blue"]),
        "colours.graph": graph,
        "colours.onnx": network,
    }
    for name, body in files.items():
        newcomer.page.route(
            f"**/models/{name}", lambda route, _, body=body: route.fulfill(body=body)
        )


# Counts open decoded pictures, and object URLs that were not revoked.
COUNT = """
window.open = 0; window.most = 0; window.addresses = 0;
const make = window.createImageBitmap;
window.createImageBitmap = async (...args) => {
    const bitmap = await make(...args);
    window.most = Math.max(window.most, ++window.open);
    const close = bitmap.close.bind(bitmap);
    bitmap.close = () => { window.open -= 1; close(); };
    return bitmap;
};
const [address, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
URL.createObjectURL = (file) => { window.addresses += 1; return address(file); };
URL.revokeObjectURL = (url) => { window.addresses -= 1; revoke(url); };
"""

# One question does not reach the worker until post() is called: the gallery waits for its answer.
WITHHOLD = """
let asked = 0;
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
    const now = () => send.call(this, message, ...others);
    if (message.action === "classify" && ++asked === 150) window.post = now;
    else now();
};
"""


@pytest.mark.usefixtures("colours")
def test_five_hundred_files_can_be_cancelled_and_continued(newcomer):
    visitor = newcomer
    visitor.page.add_init_script(COUNT)
    visitor.page.add_init_script(WITHHOLD)
    visitor.open("./?device=numpy&model=colours#classify")
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
    """Dropped as the browser itself does: a folder is not a file."""
    inner = tmp_path / "holiday" / "day 2"
    inner.mkdir(parents=True)
    (inner.parent / "a.png").write_bytes(photos["coffee"]["path"].read_bytes())
    (inner.parent / "notes.txt").write_text("no picture")
    (inner / "b.png").write_bytes(photos["chelsea"]["path"].read_bytes())
    (tmp_path / "empty").mkdir()
    visitor.open("./?device=numpy#classify")
    visitor.drop(tmp_path / "empty")
    alert = visitor.page.locator("#view-classify").get_by_role("alert")
    expect(alert).to_contain_text("The folder “empty” contains no pictures")
    visitor.drop(tmp_path / "holiday")
    assert visitor.answer("a.png")[0]["label"] == "espresso"
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_have_attribute("data-state", "done", timeout=PATIENCE)
    names = [tile.get_attribute("data-name") for tile in gallery.locator(".tile").all()]
    assert names == ["a.png", "b.png"]
