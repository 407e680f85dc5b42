"""Copying results: JSON and CSV, of one picture and of a gallery, and if copying is refused."""

from __future__ import annotations

import csv
import io
import json

from playwright.sync_api import expect

from tallow_build.environment.browser import until

# Keeps the button's result visible until it is checked.
SHOWN_FOR_LONG = ("widgets/copy_button.js", "const RESULT_MS = 2000;", "const RESULT_MS = 600_000;")


def test_answers_are_copied(visitor, photos, patch):
    patch(visitor.page, *SHOWN_FOR_LONG)
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open("./?device=numpy&model=squeezenet1_1#classify")
    as_json, as_csv = visitor.hook("copy-json"), visitor.hook("copy-csv")
    expect(as_json).to_be_disabled()

    def copied(button) -> str:
        visitor.page.evaluate("navigator.clipboard.writeText('')")
        button.click()
        until(visitor.page, "await navigator.clipboard.readText()")
        expect(button).to_have_text("Copied")
        return visitor.page.evaluate("navigator.clipboard.readText()")

    visitor.choose(photos["coffee"]["path"])
    answer = visitor.answer("coffee.png")
    (one,) = json.loads(copied(as_json))
    assert one == {"file": "coffee.png", "model": "squeezenet1_1", "classes": answer}

    lines = list(csv.DictReader(io.StringIO(copied(as_csv), newline="")))
    assert [line["rank"] for line in lines] == ["1", "2", "3", "4", "5"]
    assert [line["label"] for line in lines] == [row["label"] for row in answer]
    assert float(lines[0]["probability"]) > 0.5

    coffee = photos["coffee"]["path"].read_bytes()
    visitor.choose(
        [
            {"name": "a.png", "mimeType": "image/png", "buffer": coffee},
            {"name": "-1+2.png", "mimeType": "image/png", "buffer": b"bad"},
        ]
    )
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_have_attribute("data-state", "done", timeout=120_000)
    good, bad = json.loads(copied(as_json))
    assert good["classes"][0]["label"] == "espresso"
    assert bad["file"] == "-1+2.png"
    assert "is not a picture" in bad["error"]
    *_, last = csv.DictReader(io.StringIO(copied(as_csv), newline=""))
    assert last["file"] == "'-1+2.png"
    assert "is not a picture" in last["error"]

    # Refused: the text is shown and selected.
    visitor.page.evaluate(
        "() => { navigator.clipboard.writeText = async () => { throw new Error('no') }; }"
    )
    as_csv.click()
    expect(as_csv).to_contain_text("keyboard")
    area = visitor.page.get_by_label("Results to copy")
    expect(area).to_be_focused()
    assert area.input_value().startswith("file,model,rank")
    visitor.choose(photos["chelsea"]["path"])
    expect(area).to_be_hidden()
