"""Device: which one computes, how it is chosen, and what is said where WebGPU can't be had."""

from __future__ import annotations

from playwright.sync_api import expect


def test_webgpu_is_the_default_and_names_its_adapter(visitor):
    visitor.open()
    expect(visitor.hook("device-select")).to_have_value("webgpu")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    adapter = visitor.device.get_attribute("data-adapter")
    assert adapter
    expect(visitor.device).to_have_text(adapter)
    expect(visitor.status).to_contain_text("kernels")


def test_webgpu_needs_no_numpy(visitor):
    asked = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert asked
    assert not [url for url in asked if "numpy" in url]


def test_the_address_chooses_numpy_and_opens_no_gpu(visitor):
    visitor.open("./?device=numpy")
    expect(visitor.hook("device-select")).to_have_value("numpy")
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    expect(visitor.device).to_contain_text("NumPy")


def test_switching_there_and_back_answers_what_is_on_the_page(visitor):
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    for device in ("numpy", "webgpu", "numpy"):
        visitor.hook("device-select").select_option(device)
        visitor.wait()
        expect(visitor.device).to_have_attribute("data-device", device)
        assert visitor.read() == "7"
        assert f"device={device}" in visitor.page.url


def test_of_quick_switches_the_last_one_counts(visitor):
    visitor.open()
    visitor.draw_seven()
    for device in ("numpy", "webgpu", "numpy", "webgpu"):
        visitor.hook("device-select").select_option(device)
    visitor.wait()
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    assert visitor.read() == "7"


def test_without_webgpu_numpy_answers_and_the_reason_is_told(visitor_without_webgpu):
    visitor = visitor_without_webgpu
    visitor.open()
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    expect(visitor.device).to_contain_text("WebGPU can’t be had")
    select = visitor.hook("device-select")
    expect(select).to_have_value("numpy")
    expect(select.locator("[value=webgpu]")).to_be_disabled()
    visitor.draw_seven()
    assert visitor.read() == "7"


def test_without_webgpu_photographs_are_recognised(visitor_without_webgpu, photos):
    visitor = visitor_without_webgpu
    visitor.open("./#classify")
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"


def test_where_numpy_was_asked_for_webgpu_is_tried_on_wish_only(visitor_without_webgpu):
    visitor = visitor_without_webgpu
    visitor.open("./?device=numpy")
    select = visitor.hook("device-select")
    expect(select.locator("[value=webgpu]")).to_be_enabled()
    select.select_option("webgpu")
    visitor.wait()
    expect(select).to_have_value("numpy")
    expect(visitor.device).to_contain_text("WebGPU can’t be had")
    visitor.draw_seven()
    assert visitor.read() == "7"
