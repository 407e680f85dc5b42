"""The heat map: on request, with progress and cancel, over the picture and as a sentence."""

from __future__ import annotations

from playwright.sync_api import expect

from tallow_build.environment.browser import until

PATIENCE = 240_000

# The densest point of the map, and the mean density of its middle and its corners.
DENSITY = """() => {
    const canvas = document.querySelector(".photo .heat");
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const mean = (fits) => {
        let [sum, count] = [0, 0];
        for (let y = 0; y < height; y++)
            for (let x = 0; x < width; x++)
                if (fits(Math.abs(x / width - 0.5)) && fits(Math.abs(y / height - 0.5))) {
                    sum += data[4 * (y * width + x) + 3];
                    count += 1;
                }
        return sum / count;
    };
    const most = data.reduce((a, value, at) => (at % 4 === 3 ? Math.max(a, value) : a), 0);
    return [most, mean((off) => off < 0.2), mean((off) => off > 0.35)];
}"""


# The calls of the worker: whether each picture is kept for the profile and the check.
# The second one with a covered part does not reach it until post() is called.
KEPT = """
window.kept = [];
window.Worker = class extends Worker {
  postMessage(message, ...others) {
    const now = () => super.postMessage(message, ...others);
    const asked = message.action === "classify.photo";
    if (asked && kept.push(message.args.keep) === 3) window.post = now;
    else now();
  }
};
"""


def test_what_mattered_is_shown_and_described(visitor, photos):
    visitor.page.add_init_script(KEPT)
    visitor.open("./?device=numpy&model=squeezenet1_1#classify")
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    button, status = visitor.hook("heat"), visitor.hook("heat-said")
    heat = visitor.page.locator(".photo .heat")
    expect(button).to_be_disabled()
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"
    assert visitor.page.evaluate("kept") == [True]

    button.click()
    until(visitor.page, "window.post")
    expect(button).to_have_text("Cancel")
    button.click()
    expect(button).to_have_text("What mattered?")
    visitor.page.evaluate("post()")
    expect(heat).to_have_count(0)

    button.click()
    expect(status).to_contain_text("For “espresso” the", timeout=PATIENCE)
    expect(status).to_contain_text("lowers the probability from 93.")
    expect(heat).to_be_visible()
    expect(visitor.page.locator(".legend")).to_be_visible()
    most, middle, corners = visitor.page.evaluate(DENSITY)
    assert most > 200
    first, *covered = visitor.page.evaluate("kept")
    assert first and len(covered) == 2 + 81 and not any(covered)  # of the one cancelled, too
    assert middle > 2 * corners  # the cup, not the table around it

    visitor.hook("language-select").select_option("zh")
    expect(status).to_contain_text("对“意大利浓咖啡”来说")
    expect(heat).to_be_visible()
    button.click()
    expect(heat).to_have_count(0)
    expect(status).to_be_empty()

    # Another picture stops the computation.
    button.click()
    visitor.choose(photos["rocket"]["path"])
    visitor.answer("rocket.jpg")
    expect(button).to_have_text("哪里最要紧？")
    expect(heat).to_have_count(0)
