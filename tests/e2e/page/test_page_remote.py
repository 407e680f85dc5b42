"""The page computes on another machine: here, on this test's process."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import PATIENCE, Visitor
from tests.e2e.open.opening import MNIST, Opening
from tests.e2e.page.test_page_accessible import findings
from tests.unit.serve.lender import TOKEN, LenderThread, lending

from tallow.serve.lending import Visit


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What borrowers have asked the server for; in the end, they leave."""
    found: list[str] = []
    answer = Visit.answer

    def noted(self: Visit, message):
        found.append(message.header["do"])
        return answer(self, message)

    leave = Visit.leave

    def left(self: Visit) -> None:
        leave(self)
        found.append("leave")

    monkeypatch.setattr(Visit, "answer", noted)
    monkeypatch.setattr(Visit, "leave", left)
    return found


@pytest.fixture
def lender() -> Iterator[LenderThread]:
    with lending("numpy") as found:
        yield found


def connect(visitor: Visitor, address: str, token: str) -> None:
    """Fills the form by the keyboard alone, from the menu on."""
    select = visitor.hook("device-select")
    select.select_option("remote")
    expect(visitor.hook("machine")).to_be_visible()
    select.focus()
    for words in (address, token):
        visitor.page.keyboard.press("Tab")
        visitor.page.keyboard.press("ControlOrMeta+a")
        visitor.page.keyboard.type(words)
    visitor.page.keyboard.press("Enter")


def test_another_machine_answers_until_it_is_gone(
    visitor: Visitor, lender: LenderThread, asked: list[str]
) -> None:
    visitor.open("./?device=wasm")
    visitor.draw_seven()
    assert visitor.read() == "7"
    said, device = visitor.hook("machine-said"), visitor.device
    address = lender.name.removeprefix("remote:")

    connect(visitor, "http://lab.example", TOKEN)
    expect(said).to_contain_text("https alone")
    connect(visitor, address, "wrong")
    expect(said).to_have_text(
        "Not connected: the token is wrong; give the one that the server printed", timeout=PATIENCE
    )
    assert not findings(visitor.page)
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"
    expect(device).to_have_attribute("data-device", "wasm")
    assert not asked

    connect(visitor, address, TOKEN)
    expect(device).to_have_attribute("data-device", "remote", timeout=PATIENCE)
    expect(device).to_contain_text("NumPy")
    expect(visitor.hook("machine")).to_be_hidden()
    expect(visitor.hook("device-select")).to_be_focused()
    visitor.wait()
    asked.clear()
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert "run" in asked
    expect(visitor.page.get_by_text("Nothing you draw or choose leaves")).to_be_hidden()
    assert "device=remote" not in visitor.page.url
    assert TOKEN not in visitor.page.evaluate("JSON.stringify(localStorage)")

    compare = visitor.hook("compare-run")
    compare.click()
    bars = visitor.hook("compare-result").locator("li")
    expect(bars).to_have_count(6, timeout=PATIENCE)
    expect(bars.first).to_contain_text("First run · Another machine")

    lender.stop()
    visitor.clear()
    visitor.draw_seven()
    expect(device).to_have_attribute("data-device", "wasm", timeout=PATIENCE)
    visitor.wait()
    assert visitor.read() == "7"
    expect(device).to_contain_text("The other machine is gone: ")
    expect(device).to_contain_text("the server ends")
    expect(visitor.page.get_by_text("Nothing you draw or choose leaves")).to_be_visible()

    lender.start()
    visitor.hook("device-select").select_option("remote")  # the form has what was in it
    visitor.hook("machine-connect").click()
    expect(device).to_have_attribute("data-device", "remote", timeout=PATIENCE)
    visitor.wait()
    assert visitor.read() == "7"


def test_photographs_and_own_models_are_computed_there(
    visitor: Visitor, lender: LenderThread, asked: list[str], photos
) -> None:
    visitor.open("./?device=wasm&model=squeezenet1_1#classify")
    visitor.choose(photos["coffee"]["path"])
    here = visitor.answer("coffee.png")
    connect(visitor, lender.name.removeprefix("remote:"), TOKEN)
    expect(visitor.device).to_have_attribute("data-device", "remote", timeout=PATIENCE)
    visitor.wait()
    visitor.choose(photos["chelsea"]["path"])
    visitor.answer("chelsea.png")
    assert "run" in asked
    visitor.choose(photos["coffee"]["path"])
    there = visitor.answer("coffee.png")
    assert [each["index"] for each in there] == [each["index"] for each in here]
    asked.clear()
    opening = Opening(visitor)
    visitor.show("Open")
    opening.choose(MNIST)
    opening.run()
    assert "run" in asked
    times = visitor.hook("open-times")
    expect(times).to_have_attribute("data-device", "remote")
    expect(times).to_contain_text("Another machine (NumPy")
    visitor.hook("open-compare").click()
    opening.rest()
    expect(visitor.hook("open-compared")).to_contain_text("Another machine")
    visitor.hook("device-select").select_option("wasm")
    expect(visitor.device).to_have_attribute("data-device", "wasm", timeout=PATIENCE)
    visitor.wait()
    expect(visitor.device).not_to_contain_text("gone")
    deadline = time.monotonic() + 30
    while "leave" not in asked and time.monotonic() < deadline:
        visitor.page.wait_for_timeout(50)
    assert "leave" in asked


def test_the_form_can_be_left_and_keeps_the_address(visitor: Visitor, lender: LenderThread) -> None:
    address = lender.name.removeprefix("remote:")
    visitor.open("./?device=wasm")
    connect(visitor, address, TOKEN)
    expect(visitor.device).to_have_attribute("data-device", "remote", timeout=PATIENCE)
    visitor.open("./?device=wasm")
    visitor.hook("language-select").select_option("zh")
    visitor.page.set_viewport_size({"width": 320, "height": 800})
    select, form = visitor.hook("device-select"), visitor.hook("machine")
    select.select_option("remote")
    expect(visitor.hook("machine-address")).to_have_value(address)
    expect(visitor.hook("machine-token")).to_have_value("")
    expect(visitor.hook("machine-connect")).to_have_text("连接")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 320
    assert not findings(visitor.page)
    visitor.hook("machine-token").press("Escape")
    expect(form).to_be_hidden()
    expect(select).to_be_focused()
    expect(select).to_have_value("wasm")
