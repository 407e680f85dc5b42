"""The Train view's own data: classes that the visitor names, and fills with signs, pictures, sounds
and a text."""

from __future__ import annotations

import io
import math
import wave
import zipfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PIL import Image, ImageEnhance
from playwright.sync_api import Page, expect

from tallow_build.environment import browser as chromium

PATIENCE = 120_000

LONG_TASKS = """
window.long = 0;
new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) window.long += duration;
}).observe({ entryTypes: ["longtask"] });
"""


def opened(visitor: Any, kind: str, device: str = "wasm") -> Any:
    visitor.open(f"./?device={device}#train")
    hook = visitor.hook
    expect(hook("train-data").locator(f"option[value={kind}]")).to_be_attached(timeout=PATIENCE)
    hook("train-data").select_option(kind)
    return hook


def add_class(hook: Any, name: str) -> None:
    hook("train-class-name").fill(name)
    hook("train-class-add").click()
    expect(card(hook, name)).to_be_visible()


def card(hook: Any, name: str) -> Any:
    return hook("train-classes").locator(f"[data-name='{name}']")


def has(hook: Any, name: str, count: int) -> None:
    expect(card(hook, name)).to_have_attribute("data-count", str(count), timeout=PATIENCE)


def files_of(hook: Any, name: str) -> Any:
    return card(hook, name).get_by_test_id("train-class-images")


def png(image: Image.Image, name: str) -> dict[str, Any]:
    held = io.BytesIO()
    image.save(held, "PNG")
    return {"name": name, "mimeType": "image/png", "buffer": held.getvalue()}


def plain(colour: tuple[int, int, int], name: str) -> dict[str, Any]:
    return png(Image.new("RGB", (40, 30), colour), name)


def views(path: Path, count: int, seed: int) -> list[Image.Image]:
    """Pictures of a thing: parts of a photograph, mirrored or not, lighter or darker."""
    random = Random(seed)
    photo = Image.open(path).convert("RGB")
    width, height = photo.size
    found = []
    for _ in range(count):
        side = int(min(width, height) * random.uniform(0.5, 0.9))
        left, top = random.randrange(width - side + 1), random.randrange(height - side + 1)
        part = photo.crop((left, top, left + side, top + side)).resize((256, 256))
        if random.random() < 0.5:
            part = part.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        found.append(ImageEnhance.Brightness(part).enhance(random.uniform(0.6, 1.4)))
    return found


def learnt(hook: Any) -> None:
    hook("train-start").click()
    expect(hook("train-status")).to_have_attribute("data-state", "done", timeout=PATIENCE)


def test_ten_pictures_a_class_are_enough(visitor: Any, photos: dict[str, dict[str, Any]]) -> None:
    hook = opened(visitor, "pictures")
    things = ("chelsea", "coffee", "rocket")
    for seed, name in enumerate(things):
        add_class(hook, name)
        pictures = views(photos[name]["path"], 10, seed)
        files_of(hook, name).set_input_files(
            [png(picture, f"{name}{at}.png") for at, picture in enumerate(pictures)]
        )
        has(hook, name, 10)
    learnt(hook)
    assert float(hook("train-valid-accuracy").get_attribute("data-value")) >= 0.9

    visitor.page.reload()  # the browser has kept them
    hook("train-data").select_option("pictures")
    for name in things:
        has(hook, name, 10)


def test_signs_are_drawn_and_learnt(visitor: Any) -> None:
    hook = opened(visitor, "signs")
    page = visitor.page
    for name in ("line", "cross"):
        add_class(hook, name)
        expect(hook("train-sign-keep")).to_be_disabled()
        for number in range(4):
            hook("train-pad").scroll_into_view_if_needed()
            box = hook("train-pad").bounding_box()
            assert box
            strokes = [((0.2 + 0.05 * number, 0.2), (0.8, 0.8))]
            if name == "cross":
                strokes.append(((0.8, 0.2), (0.2 + 0.05 * number, 0.8)))
            for (x, y), (to_x, to_y) in strokes:
                page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
                page.mouse.down()
                page.mouse.move(
                    box["x"] + to_x * box["width"], box["y"] + to_y * box["height"], steps=5
                )
                page.mouse.up()
            hook("train-sign-keep").click()
            has(hook, name, number + 1)
    learnt(hook)


def test_a_sign_is_drawn_by_the_keyboard(visitor: Any) -> None:
    hook = opened(visitor, "signs")
    page = visitor.page
    hook("train-class-name").fill("bar")
    page.keyboard.press("Enter")
    expect(card(hook, "bar")).to_be_visible()
    hook("train-pad").focus()
    page.keyboard.press("Enter")
    for _ in range(8):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(hook("train-sign-keep")).to_be_focused()
    page.keyboard.press("Enter")
    has(hook, "bar", 1)


def tone(hertz: float, seconds: int = 3) -> dict[str, Any]:
    turns = [math.tau * hertz * at / 16000 for at in range(16000 * seconds)]
    samples = array("h", (int(9000 * math.sin(turn)) for turn in turns))
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(samples.tobytes())
    return {"name": f"{hertz}.wav", "mimeType": "audio/wav", "buffer": held.getvalue()}


def test_sounds_of_files_become_clips_and_are_learnt(visitor: Any) -> None:
    hook = opened(visitor, "sounds")
    message = visitor.page.locator("[data-part=classes] .message")
    for name, tones in {"low": (200, 240), "high": (2000, 2400)}.items():
        add_class(hook, name)
        files_of(hook, name).set_input_files([tone(each) for each in tones])
        has(hook, name, 6)
    none = {"name": "none.wav", "mimeType": "audio/wav", "buffer": b"RIFF none"}
    files_of(hook, "low").set_input_files([none, tone(220, 1)])
    has(hook, "low", 7)
    expect(message).to_contain_text("No sounds that this browser can read: none.wav")
    learnt(hook)


def test_a_text_is_counted_kept_and_read(visitor: Any) -> None:
    hook = opened(visitor, "text")
    message = visitor.page.locator("#view-train > .answer > .message")
    hook("train-text").fill("Too short.")
    expect(hook("train-text-count")).to_contain_text("10 characters, 8 of them different")
    hook("train-start").click()
    expect(message).to_contain_text("The text has 10 characters; at least 1,290 are needed.")
    hook("train-text-file").set_input_files(
        {"name": "b.txt", "mimeType": "text/plain", "buffer": b"\xff\xfe\xfa"}
    )
    own = visitor.page.locator("[data-part=classes] .message")
    expect(own).to_contain_text("“b.txt” is no text in UTF-8.")
    expect(hook("train-text")).to_have_value("Too short.")
    text = "All work and no play makes Jack a dull boy. " * 50
    hook("train-text-file").set_input_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": text.encode()}
    )
    expect(hook("train-text-count")).to_have_attribute("data-value", str(len(text)))
    expect(hook("train-text-count")).to_have_attribute("data-kept", "true")
    visitor.page.reload()
    hook("train-data").select_option("text")
    expect(hook("train-text")).to_have_value(text, timeout=PATIENCE)


def test_a_network_of_a_text_goes_on_with_it(visitor: Any) -> None:
    hook = opened(visitor, "text")
    hook("train-text").fill("All work and no play makes Jack a dull boy. " * 40)
    expect(hook("train-write")).to_be_hidden()
    learnt(hook)
    written = hook("train-sample")
    assert written.inner_text() or written.is_hidden()  # it was too short for a sample
    visitor.page.set_viewport_size({"width": 320, "height": 700})
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 320
    hook("train-begin").fill("All work")
    hook("train-write").click()
    expect(hook("train-write")).to_have_text("Go on with it", timeout=PATIENCE)
    text = written.text_content()
    assert text.startswith("All work") and len(text) == len("All work") + 300
    assert set(text) <= set("All work and no play makes Jack a dull boy. ")
    hook("train-program").locator("..").locator("summary").click()
    expect(hook("train-program")).to_contain_text("import tallow as tl", timeout=PATIENCE)


def test_folders_in_a_zip_become_classes(visitor: Any) -> None:
    hook = opened(visitor, "pictures")
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        for at in range(6):
            made.writestr(f"all/red/{at}.png", plain((200, at, 0), "")["buffer"])
            made.writestr(f"all/blue/{at}.png", plain((0, at, 200), "")["buffer"])
        made.writestr("all/blue/broken.png", b"\x89PNG none")
        made.writestr("all/red/.DS_Store", b"none")
    given = {"name": "all.zip", "mimeType": "application/zip", "buffer": held.getvalue()}
    hook("train-class-zip").set_input_files(given)
    has(hook, "red", 6)
    has(hook, "blue", 6)
    message = visitor.page.locator("[data-part=classes] .message")
    expect(message).to_contain_text("broken.png")
    hook("train-class-zip").set_input_files({**given, "buffer": held.getvalue()[:-40]})
    expect(message).to_contain_text("all.zip is damaged, or no zip")
    has(hook, "red", 6)


def test_what_cannot_be_learnt_from_is_said_and_nothing_is_lost(visitor: Any) -> None:
    hook = opened(visitor, "pictures")
    own = visitor.page.locator("[data-part=classes] .message")
    why = visitor.page.locator("#view-train > .answer > .message")

    def refused(said: str) -> None:
        hook("train-start").click()
        expect(hook("train-status")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
        expect(why).to_contain_text(said)

    refused("There are no classes.")
    hook("train-class-add").click()
    expect(own).to_contain_text("Write a name for the class first.")
    add_class(hook, "red")
    hook("train-class-name").fill(" red ")
    hook("train-class-add").click()
    expect(own).to_contain_text("There is a class “red” already.")
    red = [plain((shade, 0, 0), f"{shade}.png") for shade in (190, 200)]
    files_of(hook, "red").set_input_files(red)
    has(hook, "red", 2)
    refused("There is one class alone, “red”.")
    add_class(hook, "blue")
    refused("The class “blue” has no examples.")
    files_of(hook, "blue").set_input_files(
        {"name": "c.png", "mimeType": "image/png", "buffer": b"no picture"}
    )
    expect(own).to_contain_text("c.png")
    has(hook, "blue", 0)
    has(hook, "red", 2)


def test_an_example_and_a_class_are_removed_and_come_back(visitor: Any) -> None:
    hook = opened(visitor, "pictures")
    own = visitor.page.locator("[data-part=classes] .message")
    add_class(hook, "red")
    files_of(hook, "red").set_input_files([plain((200, at, 0), f"{at}.png") for at in range(3)])
    has(hook, "red", 3)
    examples = card(hook, "red").get_by_test_id("train-example")
    expect(examples.first).to_have_attribute("aria-label", "Remove this example of “red”")
    examples.first.click()
    has(hook, "red", 2)
    own.get_by_role("button", name="Undo").click()
    has(hook, "red", 3)
    card(hook, "red").get_by_test_id("train-class-remove").click()
    expect(own).to_contain_text("The class “red” with 3 examples is removed.")
    expect(card(hook, "red")).to_have_count(0)
    own.get_by_role("button", name="Undo").click()
    has(hook, "red", 3)
    card(hook, "red").get_by_test_id("train-class-remove").click()
    visitor.page.reload()
    hook("train-data").select_option("pictures")
    expect(hook("train-class-status")).to_be_attached()
    expect(hook("train-classes").locator("li[data-name]")).to_have_count(0)


@pytest.mark.parametrize(
    ("kind", "hook_name", "name", "said"),
    [
        ("pictures", "train-class-camera", "NotAllowedError", "The camera may not be used"),
        ("pictures", "train-class-camera", "NotFoundError", "No camera was found"),
        ("sounds", "train-class-record", "NotAllowedError", "The microphone may not be used"),
        ("sounds", "train-class-record", "NotFoundError", "No microphone was found"),
    ],
)
def test_a_camera_or_microphone_that_is_refused_is_said(
    visitor: Any, kind: str, hook_name: str, name: str, said: str
) -> None:
    hook = opened(visitor, kind)
    add_class(hook, "one")
    visitor.page.evaluate(
        "name => { navigator.mediaDevices.getUserMedia ="
        " () => Promise.reject(new DOMException('', name)); }",
        name,
    )
    hook(hook_name).click()
    expect(visitor.page.locator("[data-part=classes]").get_by_text(said)).to_be_visible()
    has(hook, "one", 0)


def test_storage_that_fills_up_is_said_before_it_fails(visitor: Any) -> None:
    hook = opened(visitor, "pictures")
    own = visitor.page.locator("[data-part=classes] .message")
    add_class(hook, "red")
    estimate = "usage => { navigator.storage.estimate = async () => ({ quota: 1e9, usage }); }"
    visitor.page.evaluate(estimate, 1e9 - 2e6)
    files_of(hook, "red").set_input_files([plain((200, at, 0), f"{at}.png") for at in range(5)])
    has(hook, "red", 5)
    expect(own).to_contain_text("room for another")
    visitor.page.evaluate(estimate, 1e9)
    files_of(hook, "red").set_input_files(plain((200, 0, 9), "6.png"))
    expect(own).to_contain_text("The browser has no room for more: 0 examples were added")
    has(hook, "red", 5)


def test_the_camera_takes_one_picture_after_the_other(camera: Page, visitor_of: Any) -> None:
    visitor = visitor_of(camera)
    hook = opened(visitor, "pictures")
    add_class(hook, "green")
    hook("train-class-camera").click()
    for number in (1, 2):
        expect(hook("train-camera-shoot")).to_be_enabled(timeout=30_000)
        hook("train-camera-shoot").click()
        has(hook, "green", number)
    hook("train-camera-close").click()
    expect(camera.locator("[data-part=classes] dialog")).to_be_hidden()


def test_the_microphone_is_cut_into_clips_while_it_records(camera: Page, visitor_of: Any) -> None:
    visitor = visitor_of(camera)
    hook = opened(visitor, "sounds")
    add_class(hook, "beep")
    hook("train-class-record").click()
    expect(hook("train-class-record")).to_have_text("End the recording")
    expect(card(hook, "beep")).to_have_attribute("data-count", "2", timeout=PATIENCE)
    hook("train-class-record").click()
    expect(hook("train-class-record")).to_have_text("Record")


@pytest.fixture
def camera(playwright: Any, server: str) -> Iterator[Page]:
    """A page with a test camera, and a microphone that beeps."""
    arguments = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    with chromium.launch(playwright, more_arguments=arguments) as browser:
        page = browser.new_page(base_url=server)
        yield page
        page.close()


def test_many_pictures_leave_the_page_responsive(visitor: Any) -> None:
    hook = opened(visitor, "pictures")
    add_class(hook, "red")
    pictures = [plain((200, at % 256, at // 256), f"{at}.png") for at in range(300)]
    visitor.page.evaluate(LONG_TASKS)
    began = visitor.page.evaluate("performance.now()")
    files_of(hook, "red").set_input_files(pictures)
    has(hook, "red", 300)
    # A machine that others use makes tasks longer; a page that is frozen is another thing.
    taken = visitor.page.evaluate("performance.now()") - began
    assert visitor.page.evaluate("window.long") < taken / 4


def test_the_classes_are_in_chinese(visitor: Any) -> None:
    hook = opened(visitor, "signs")
    visitor.hook("language-select").select_option("zh")
    expect(hook("train-class-add")).to_have_text("添加类别")
    add_class(hook, "圆")
    expect(card(hook, "圆")).to_contain_text("0 个样本")
