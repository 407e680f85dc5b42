"""Take a picture: with Chromium's test camera, and with none."""

from __future__ import annotations

from playwright.sync_api import expect

from tallow_build.environment.browser import until

# Stores the page's stream, so that the test can see that it was stopped.
WATCH = """
window.tracks = [];
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (constraints) => {
    if (window.refusal) throw new DOMException("no", window.refusal);
    const stream = await ask(constraints);
    window.tracks.push(...stream.getTracks());
    return stream;
};
"""
LIVE = "() => window.tracks.filter(({ readyState }) => readyState === 'live').length"


def test_a_picture_is_taken_and_the_camera_stops(visitor, photos):
    page = visitor.page
    page.context.grant_permissions(["camera"])
    page.add_init_script(WATCH)
    visitor.open("./?device=numpy&model=squeezenet1_1#classify")
    button, shoot = visitor.hook("camera-open"), visitor.hook("camera-shoot")
    dialog = page.locator("dialog.camera")
    expect(dialog).to_be_hidden()

    button.click()
    expect(shoot).to_be_enabled(timeout=30_000)
    assert page.evaluate(LIVE) == 1
    shoot.click()
    assert len(visitor.answer("Camera 1.jpg")) == 5
    expect(dialog).to_be_hidden()
    assert page.evaluate(LIVE) == 0
    shown = page.locator(".photo canvas")
    assert int(shown.get_attribute("width")) > 100

    for leave in (
        lambda: page.keyboard.press("Escape"),
        lambda: visitor.hook("camera-cancel").click(),
        lambda: page.evaluate("location.hash = '#draw'"),
    ):
        button.click()
        expect(shoot).to_be_enabled(timeout=30_000)
        assert page.evaluate(LIVE) == 1
        leave()
        until(page, f"({LIVE})() === 0")
        expect(dialog).to_be_hidden()
    assert page.evaluate("window.tracks.length") == 4
    visitor.show("Classify")
    expect(visitor.result).to_have_attribute("data-source", "Camera 1.jpg")

    message = dialog.get_by_role("alert")
    for name, words in (
        ("NotAllowedError", "does not allow this page to use the camera"),
        ("NotFoundError", "No camera was found"),
        ("NotReadableError", "another program may be using it"),
    ):
        page.evaluate("name => { window.refusal = name; }", name)
        button.click()
        expect(message).to_contain_text(words)
        expect(shoot).to_be_disabled()
        visitor.hook("camera-cancel").click()
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"
