"""Classify: real photographs, on both devices and with both models; how a file becomes pixels."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.e2e.conftest import Holding

from tallow_build.environment.browser import until

# For what depends on neither the device nor the model.
MODEL = "squeezenet1_1"
ADDRESS = f"./?device=numpy&model={MODEL}"


def picture(image: Image.Image, name: str, kind: str = "PNG", **how):
    """An image as a file to choose."""
    file = io.BytesIO()
    image.save(file, kind, **how)
    return {"name": name, "mimeType": f"image/{kind.lower()}", "buffer": file.getvalue()}


def check(answer, expected):
    """Checks that photos.json allows the answer, and that its classes are sorted."""
    indices = [row["index"] for row in answer]
    shares = [row["probability"] for row in answer]
    assert len(set(indices)) == 5
    assert shares == sorted(shares, reverse=True)
    assert all(0 <= share <= 1 for share in shares)
    assert all(row["label"] for row in answer)
    assert indices[0] in expected["top1"]
    assert set(expected["top5"]) <= set(indices)


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one; they open it at ADDRESS."""
    return regular


def test_photographs_are_recognised(newcomer, photos):
    """By both models on both devices. A change of either answers again. The first photograph is
    chosen before Python runs, at an address with an unknown model, which is named."""
    visitor = newcomer
    select = visitor.hook("model-select")
    python = Holding(visitor.page, "**/pyodide.asm.wasm")
    visitor.page.goto("./?device=webgpu&model=resnet9000#classify")
    alert = visitor.page.get_by_role("alert").filter(has_text="resnet9000")
    expect(alert).to_be_visible()
    expect(select).to_have_value("efficientnet_lite0")
    visitor.choose(photos["coffee"]["path"])
    expect(visitor.page.locator(".photo canvas")).to_be_visible()
    expect(visitor.status).to_have_attribute("data-state", "loading")
    python.release()
    visitor.wait()

    def check_all(device, model):
        check(visitor.answer("coffee.png"), photos["coffee"]["expected"][model])  # shown already
        expect(visitor.device).to_have_attribute("data-device", device)
        expect(select).to_have_value(model)
        answers = {}
        for name, photo in sorted(photos.items(), key=lambda item: item[0] == "coffee"):
            visitor.choose(photo["path"])
            answers[name] = visitor.answer(photo["file"])
            check(answers[name], photo["expected"][model])
            assert float(visitor.latency.get_attribute("data-ms")) > 0
        return answers

    answers = check_all("webgpu", "efficientnet_lite0")
    # With the page's decoding and scaling, probabilities are near onnxruntime's with Pillow's.
    found = {row["index"]: row["probability"] for row in answers["chelsea"]}
    for index, share in photos["chelsea"]["expected"]["efficientnet_lite0"]["answer"][:3]:
        assert found[index] == pytest.approx(share, abs=0.03)
    # Labels are the classes' names.
    assert answers["coffee"][0]["label"] == "espresso"
    expect(visitor.result.get_by_role("listitem").first).to_contain_text("espresso")

    select.select_option("squeezenet1_1")
    check_all("webgpu", "squeezenet1_1")
    assert "model=squeezenet1_1" in visitor.page.url
    visitor.hook("device-select").select_option("numpy")
    check_all("numpy", "squeezenet1_1")
    select.select_option("efficientnet_lite0")
    check_all("numpy", "efficientnet_lite0")


def test_the_newest_of_two_files_is_answered(visitor, photos):
    visitor.open(f"{ADDRESS}#classify")
    visitor.choose(photos["chelsea"]["path"])
    visitor.choose(photos["coffee"]["path"])
    check(visitor.answer("coffee.png"), photos["coffee"]["expected"][MODEL])
    visitor.page.wait_for_timeout(500)
    expect(visitor.result).to_have_attribute("data-source", "coffee.png")


def test_exif_turns_a_photograph_upright(visitor, photos):
    """A picture stored on its side with an EXIF orientation has the same answer."""
    with Image.open(photos["chelsea"]["path"]) as image:
        lying = image.convert("RGB").transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it by 90 degrees clockwise
    visitor.open(f"{ADDRESS}#classify")
    visitor.choose(photos["chelsea"]["path"])
    upright = visitor.answer("chelsea.png")
    visitor.choose(picture(lying, "lying.jpg", "JPEG", quality=98, exif=exif.tobytes()))
    turned = visitor.answer("lying.jpg")
    expect(visitor.page.locator(".photo canvas")).to_have_attribute("width", "451")
    shares = {row["index"]: row["probability"] for row in turned}
    for row in upright[:3]:
        assert shares[row["index"]] == pytest.approx(row["probability"], abs=0.08)


def test_a_file_dropped_anywhere_is_classified(visitor, photos):
    visitor.open(f"{ADDRESS}#draw")
    content = list(photos["coffee"]["path"].read_bytes())
    visitor.page.evaluate(
        """content => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(content)], "dropped.png"));
            const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true });
            document.body.dispatchEvent(drop);
        }""",
        content,
    )
    assert visitor.answer("dropped.png")[0]["label"] == "espresso"
    expect(visitor.page.locator("#view-classify")).to_be_visible()


def test_markup_in_a_name_stays_text(visitor):
    name = "<img src=x onerror=alert(1)>.png"
    visitor.open(f"{ADDRESS}#classify")
    visitor.choose(picture(Image.new("RGB", (30, 20), "red"), name))
    assert len(visitor.answer(name)) == 5
    visitor.choose({"name": name, "mimeType": "image/png", "buffer": b"<b>no</b>"})
    expect(visitor.page.get_by_role("alert").filter(has_text=name)).to_be_visible()
    assert visitor.page.locator("img[src=x]").count() == 0


def test_any_size_has_an_answer(visitor):
    visitor.open(f"{ADDRESS}#classify")
    for size in [(1, 1), (3000, 10), (224, 224), (5000, 4000)]:
        name = "{}x{}.png".format(*size)
        visitor.choose(picture(Image.new("RGB", size, "white"), name))
        assert len(visitor.answer(name)) == 5


def test_another_language_translates_what_is_shown_without_asking_again(newcomer, photos):
    """The large picture, the gallery and the message of a bad file. Labels that come after another
    language was chosen are not shown."""
    visitor = newcomer
    page = visitor.page
    page.add_init_script(
        """window.asked = 0;
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (data, ...rest) {
            if (data.action === "classify.photo") window.asked += 1;
            return post.call(this, data, ...rest);
        };
        const parse = JSON.parse;
        JSON.parse = (text, ...others) => {
            if (text.includes("意大利浓咖啡")) window.chinese = "here";
            return parse(text, ...others);
        };"""
    )
    labels = "**/labels-*.zh.json"
    late = Holding(page, labels)
    visitor.open(f"{ADDRESS}#classify")
    visitor.choose(
        [
            {
                "name": "coffee.png",
                "mimeType": "image/png",
                "buffer": photos["coffee"]["path"].read_bytes(),
            },
            {"name": "bad.png", "mimeType": "image/png", "buffer": b"bad"},
        ]
    )
    answer = visitor.answer("coffee.png")
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_have_attribute("data-state", "done", timeout=120_000)
    good, bad = gallery.locator(".tile").all()
    with page.expect_request(labels):
        visitor.hook("language-select").select_option("zh")
    visitor.hook("language-select").select_option("en")
    late.release()
    until(page, "window.chinese")
    assert visitor.answer("coffee.png") == answer
    expect(good).to_have_attribute("data-label", "espresso")

    visitor.hook("language-select").select_option("zh")
    first = visitor.result.get_by_role("listitem").first
    expect(first).to_have_attribute("data-label", "意大利浓咖啡")
    expect(first).to_contain_text("意大利浓咖啡")
    assert float(first.get_attribute("data-probability")) == answer[0]["probability"]
    expect(good).to_contain_text("意大利浓咖啡")
    expect(bad).to_contain_text("不是这个浏览器能打开的图片")
    expect(visitor.status).to_contain_text("就绪")
    assert page.evaluate("window.asked") == 2
    bad.click()
    message = page.locator("#view-classify .message")
    expect(message).to_contain_text("不是这个浏览器能打开的图片")
    visitor.hook("language-select").select_option("en")
    expect(message).to_contain_text("is not a picture")
    expect(good).to_contain_text("espresso")
    visitor.choose(photos["chelsea"]["path"])
    assert visitor.answer("chelsea.png")[0]["index"] in (281, 282, 285)
    assert page.evaluate("window.asked") == 3
