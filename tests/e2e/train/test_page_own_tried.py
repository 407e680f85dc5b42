"""The network that learned from the visitor's own pictures or sounds is tried at once, with the
camera and the microphone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.train.test_page_own import (
    PATIENCE,
    add_class,
    files_of,
    has,
    learnt,
    opened,
    plain,
    tone,
)

from tallow_build.environment import browser as chromium

REFUSE = """name => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", name));
}"""


@pytest.fixture
def with_device(playwright: Any, server: str) -> Iterator[Callable[..., Page]]:
    """Opens a page whose camera or microphone plays a file."""
    opened_pages: list[Any] = []

    def open_page(option: str, path: Path) -> Page:
        arguments = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
        launched = chromium.launch(playwright, more_arguments=[*arguments, f"--{option}={path}"])
        opened_pages.append(launched)
        return launched.__enter__().new_page(base_url=server)

    yield open_page
    for each in opened_pages:
        each.__exit__(None, None, None)


def video(path: Path, colour: tuple[int, int, int]) -> Path:
    """A film of one colour, uncompressed (YUV4MPEG2)."""
    red, green, blue = colour
    luma = round(16 + 0.257 * red + 0.504 * green + 0.098 * blue)
    chroma = (
        round(128 - 0.148 * red - 0.291 * green + 0.439 * blue),
        round(128 + 0.439 * red - 0.368 * green - 0.071 * blue),
    )
    width, height = 320, 240
    quarter = width * height // 4
    planes = [bytes([luma]) * (4 * quarter), *(bytes([each]) * quarter for each in chroma)]
    head = f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420jpeg\n".encode()
    path.write_bytes(head + 10 * (b"FRAME\n" + b"".join(planes)))
    return path


def test_the_camera_is_recognised(with_device: Any, visitor_of: Any, tmp_path: Path) -> None:
    film = video(tmp_path / "blue.y4m", (10, 20, 200))
    page = with_device("use-file-for-fake-video-capture", film)
    hook = opened(visitor_of(page), "pictures")
    for name, colour in {"red": (200, 0, 0), "blue": (0, 0, 200)}.items():
        add_class(hook, name)
        shades = [tuple(max(0, each - 9 * at) for each in colour) for at in range(5)]
        files_of(hook, name).set_input_files([plain(each, f"{each}.png") for each in shades])
        has(hook, name, 5)
    learnt(hook)
    use = page.locator("[data-part=use]")
    expect(use.locator("label.button > input[type=file]")).to_be_attached()
    dialog = use.locator("dialog")
    hook("train-use-camera").click()
    shoot = dialog.get_by_test_id("train-camera-shoot")
    for _ in range(2):  # the dialog stays open for the next one
        expect(shoot).to_be_enabled(timeout=PATIENCE)
        shoot.click()
        expect(dialog).to_contain_text("Most probable: blue", timeout=PATIENCE)
    dialog.get_by_test_id("train-camera-close").click()
    expect(use.get_by_role("status").filter(has_text="Most probable: blue")).to_be_visible()
    expect(hook("train-use-bars").locator("li")).to_have_count(2)

    for name, said in {
        "NotAllowedError": "The camera may not be used",
        "NotFoundError": "No camera was found",
    }.items():
        page.evaluate(REFUSE, name)
        hook("train-use-camera").click()
        expect(dialog.get_by_role("alert")).to_contain_text(said)
        dialog.get_by_test_id("train-camera-close").click()


def test_the_microphone_is_recognised(with_device: Any, visitor_of: Any, tmp_path: Path) -> None:
    sound = tmp_path / "high.wav"
    sound.write_bytes(tone(2200, 10)["buffer"])
    page = with_device("use-file-for-fake-audio-capture", sound)
    hook = opened(visitor_of(page), "sounds")
    for name, tones in {"low": (200, 240), "high": (2000, 2400)}.items():
        add_class(hook, name)
        files_of(hook, name).set_input_files([tone(each) for each in tones])
        has(hook, name, 6)
    learnt(hook)
    use = page.locator("[data-part=use]")
    hook("train-use-record").click()
    expect(use).to_contain_text("Most probable: high", timeout=PATIENCE)
    expect(hook("train-use-bars").locator("li")).to_have_count(2)
    expect(hook("train-use-record")).to_have_attribute("aria-pressed", "true")
    hook("train-use-record").click()
    expect(hook("train-use-record")).to_have_attribute("aria-pressed", "false")

    for name, said in {
        "NotAllowedError": "The microphone may not be used",
        "NotFoundError": "No microphone was found",
    }.items():
        page.evaluate(REFUSE, name)
        hook("train-use-record").click()
        expect(use.get_by_role("alert").filter(has_text=said)).to_be_visible()
        expect(hook("train-use-record")).to_have_attribute("aria-pressed", "false")
