"""The Listen view: speech from a file and from the microphone, written down with times."""

from __future__ import annotations

import hashlib
import io
import json
import re
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.conftest import watched_page
from tests.e2e.conftest import Visitor
from tests.e2e.listen import tiny
from tests.models.record_whisper import SAID, speech
from tests.models.test_whisper import error_rate

from tallow_build.content import networks
from tallow_build.environment import browser as chromium
from tallow_build.paths import DIST

PATIENCE = 120_000


@pytest.fixture(autouse=True, scope="module")
def fetched() -> None:
    networks.ensure()


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return tiny.files()


def wav(samples: np.ndarray, rate: int = 16000, channels: int = 1) -> bytes:
    """A sound as a file; with two channels, the second is silent."""
    data = np.zeros((len(samples), channels), "<i2")
    data[:, 0] = (samples * 32767).astype("<i2")
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(data.tobytes())
    return target.getvalue()


def sound(content: bytes, name: str = "said.wav") -> dict[str, Any]:
    return {"name": name, "mimeType": "audio/wav", "buffer": content}


@pytest.fixture(scope="module")
def said() -> bytes:
    """Silence, speech, silence, speech."""
    parts = [np.zeros(16000), speech("beckett"), np.zeros(40000), speech("jfk")[:80000]]
    return wav(np.concatenate(parts), channels=2)


def lend(page: Page, files: dict[str, bytes]) -> None:
    """The site has the tiny network instead of Whisper."""
    listed = json.loads((DIST / "models" / "published.json").read_text("utf-8"))
    own = {
        "name": "tiny", "title": "Tiny Whisper", "task": "listen", "memory": 1000,
        "licence": "MIT",
        "files": [
            {"file": name, "bytes": len(each), "sha256": hashlib.sha256(each).hexdigest()}
            for name, each in files.items()
        ],
    }  # fmt: skip
    models = [own, *(each for each in listed if each["task"] == "voice")]
    page.route("**/models/published.json", lambda route: route.fulfill(json=models))

    def give(route: Route) -> None:
        route.fulfill(body=files[route.request.url.rpartition("/")[2]])

    page.route("**/models/published/tiny/*", give)


def opened(visitor: Any, device: str = "wasm") -> Any:
    visitor.open(f"./?device={device}#listen")
    expect(visitor.hook("listen-start")).to_be_enabled(timeout=PATIENCE)
    expect(visitor.hook("listen-text")).to_have_attribute("data-state", "none")
    return visitor.hook


def segments(hook: Any) -> list[tuple[float, float, str]]:
    items = hook("listen-text").locator("li:not(.partial)").all()
    return [
        (
            float(item.get_attribute("data-start")),
            float(item.get_attribute("data-end")),
            item.locator("span").inner_text(),
        )
        for item in items
    ]


@pytest.fixture(scope="module")
def listener_page(browser: Browser, server: str, files: dict[str, bytes]) -> Iterator[Visitor]:
    """A visitor on WebAssembly."""
    for page, _ in watched_page(browser, server):
        visitor = Visitor(page)
        lend(page, files)
        opened(visitor)
        yield visitor


@pytest.fixture
def listener(listener_page: Visitor) -> Visitor:
    """That visitor, who has heard nothing."""
    hook = listener_page.hook
    if hook("listen-clear").is_enabled():
        hook("listen-clear").click()
    expect(hook("listen-text").locator("li")).to_have_count(0)
    return listener_page


@pytest.mark.parametrize("device", ["wasm", "webgpu", "numpy"])
def test_a_file_is_written_down_with_times(
    visitor: Any, files: dict[str, bytes], said: bytes, device: str
) -> None:
    lend(visitor.page, files)
    hook = opened(visitor, device)
    expect(visitor.device).to_have_attribute("data-device", device)
    expect(hook("listen-model-info")).to_contain_text("of memory")
    expect(hook("listen-copy")).to_be_disabled()
    hook("listen-file").set_input_files(sound(said))
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    found = segments(hook)
    assert found and all(text for _, _, text in found)
    starts = [start for start, _, _ in found]
    assert starts == sorted(starts) and starts[0] > 0.5  # a second of silence stands before
    first = len(speech("beckett")) / 16000 + 1
    # Nobody speaks in the middle.
    assert not [start for start in starts if first + 0.7 < start < first + 2.2]
    assert any(start < first for start in starts) and any(start > first + 2 for start in starts)
    expect(hook("listen-state")).to_contain_text(f"{len(found)} pieces of text")
    expect(hook("listen-text").locator(".partial")).to_have_count(0)


def test_what_was_said_is_copied_and_saved(listener: Visitor, said: bytes) -> None:
    listener.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hook = listener.hook
    hook("listen-file").set_input_files(sound(said))
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    found = segments(hook)

    hook("listen-copy").click()
    expect(hook("listen-copy")).to_have_text("Copied")
    read = "navigator.clipboard.readText()"
    assert listener.page.evaluate(read) == "".join(f"{text}\n" for _, _, text in found)
    hook("listen-copy-srt").click()
    expect(hook("listen-copy-srt")).to_have_text("Copied")
    copied = listener.page.evaluate(read)
    assert re.match(r"1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n\w+", copied)
    assert copied.count(" --> ") == len(found)
    for ending in ("srt", "vtt"):
        with listener.page.expect_download() as download:
            hook(f"listen-save-{ending}").click()
        assert download.value.suggested_filename == f"speech.{ending}"
        content = Path(download.value.path()).read_text("utf-8")
        assert content == copied if ending == "srt" else content.startswith("WEBVTT\n\n00:00:0")
    hook("listen-clear").click()
    expect(hook("listen-text").locator("li")).to_have_count(0)
    expect(hook("listen-copy-srt")).to_be_disabled()


def test_what_cannot_be_heard_is_said(listener: Visitor, said: bytes) -> None:
    hook = listener.hook
    message = listener.page.locator("#view-listen .message")
    hook("listen-file").set_input_files(sound(b"RIFF none", "none.wav"))
    expect(hook("listen-text")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(message).to_contain_text("none.wav is no sound that this browser can play.")
    hook("listen-file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"a"})
    expect(message).to_contain_text("That is no sound file.")

    for silence in (np.zeros(32000), np.random.default_rng(0).normal(0, 0.1, 32000)):
        hook("listen-file").set_input_files(sound(wav(silence)))
        expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
        expect(hook("listen-state")).to_have_text("Nobody speaks in it.")

    hook("listen-file").set_input_files(sound(said))  # nothing is broken
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    assert segments(hook)


def test_a_microphone_that_is_refused_or_absent_is_said(listener: Visitor) -> None:
    hook = listener.hook
    message = listener.page.locator("#view-listen .message")
    refuse = (
        "name => { navigator.mediaDevices.getUserMedia"
        " = () => Promise.reject(new DOMException('', name)); }"
    )
    for name, why in (("NotAllowedError", "does not let"), ("NotFoundError", "no microphone")):
        listener.page.evaluate(refuse, name)
        hook("listen-start").click()
        expect(hook("listen-text")).to_have_attribute("data-state", "failed")
        expect(message).to_contain_text(why)


def test_a_file_can_be_stopped(listener: Visitor) -> None:
    hook = listener.hook
    long = wav(np.tile(speech("jfk"), 20))
    hook("listen-file").set_input_files(sound(long))
    expect(hook("listen-text").locator("li").nth(2)).to_be_attached(timeout=PATIENCE)
    expect(hook("listen-text")).to_have_attribute("data-state", "working")
    hook("listen-stop").click()
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(hook("listen-start")).to_be_enabled()
    assert segments(hook)[-1][1] < 200


def test_the_view_is_in_chinese_and_fetched_when_it_is_opened(visitor: Any) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.open("./?device=wasm")
    assert not [url for url in asked if "listen" in url]
    visitor.page.locator("#to-listen").click()
    expect(visitor.page.locator("#view-listen h1")).to_have_text("Write down what is said")
    visitor.hook("language-select").select_option("zh")
    expect(visitor.page.locator("#view-listen h1")).to_have_text("把说的话写下来")
    expect(visitor.hook("listen-start")).to_have_text("使用麦克风")
    german = visitor.hook("listen-language").locator("option[value=de]")
    expect(german).to_have_text("德语")


# ---- the microphone ----------------------------------------------------------------------------


@pytest.fixture
def microphone(playwright: Any, server: str, said: bytes, tmp_path: Path) -> Iterator[Page]:
    """A page whose microphone hears a file, again and again."""
    path = tmp_path / "microphone.wav"
    path.write_bytes(said)
    arguments = [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={path}",
    ]
    with chromium.launch(playwright, more_arguments=arguments) as browser:
        page = browser.new_page(base_url=server)
        yield page
        page.close()


def test_the_microphone_is_written_down_while_it_records(
    microphone: Page, visitor_of: Any, files: dict[str, bytes]
) -> None:
    visitor = visitor_of(microphone)
    lend(microphone, files)
    hook = opened(visitor)
    hook("listen-start").click()
    expect(hook("listen-start")).to_have_text("End the recording")
    expect(hook("listen-text")).to_have_attribute("data-state", "listening", timeout=PATIENCE)
    expect(hook("listen-state")).to_contain_text("somebody speaks", timeout=PATIENCE)
    # A turn is written down while the next is recorded.
    expect(hook("listen-text").locator("li:not(.partial)").first).to_be_attached(timeout=PATIENCE)
    expect(hook("listen-text")).to_have_attribute("data-state", "listening")
    hook("listen-start").click()
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(hook("listen-start")).to_have_text("Use the microphone")
    assert segments(hook)


# ---- the choice of the network -----------------------------------------------------------------


def test_the_visitors_own_files_are_a_network(
    listener: Visitor, files: dict[str, bytes], said: bytes
) -> None:
    hook = listener.hook
    hook("listen-model").select_option(label="Files of your own…")
    expect(hook("listen-start")).to_be_disabled()
    given = [{"name": n, "mimeType": "", "buffer": each} for n, each in files.items()]
    hook("listen-model-files").set_input_files(given[:1])
    hook("listen-load").click()
    expect(hook("listen-model-info")).to_contain_text("can’t be used", timeout=PATIENCE)
    hook("listen-file").set_input_files(sound(said))
    expect(hook("listen-text")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    message = listener.page.locator("#view-listen .message")
    expect(message).to_contain_text("can’t be used")

    hook("listen-model-files").set_input_files(given)
    expect(hook("listen-model-info")).to_contain_text("of memory")
    hook("listen-load").click()
    expect(hook("listen-model-info")).to_contain_text("is loaded", timeout=PATIENCE)
    hook("listen-file").set_input_files(sound(said))
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    assert segments(hook)


# ---- the real network --------------------------------------------------------------------------


def test_whisper_writes_down_what_was_said(visitor: Any) -> None:
    hook = opened(visitor)
    hook("listen-language").select_option("en")
    hook("listen-file").set_input_files(sound(wav(speech("jfk"))))
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    found = segments(hook)
    assert error_rate(SAID["jfk"], " ".join(text for _, _, text in found)) < 0.1
    assert 0 <= found[0][0] < 1 and 9 < found[-1][1] <= 11.1

    visitor.page.route("**/models/published/*/*", lambda route: route.abort())  # they are kept
    visitor.page.reload()
    expect(hook("listen-start")).to_be_enabled(timeout=PATIENCE)
    hook("listen-file").set_input_files(sound(wav(speech("beckett"))))
    expect(hook("listen-text")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    assert segments(hook)
