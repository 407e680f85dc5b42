"""The Train view with many pictures of the visitor's own: dropped as folders, kept, counted, and no
room for more."""

from __future__ import annotations

import io
import zipfile
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image
from playwright.sync_api import expect
from tests.e2e.train.test_page_own import add_class, card, files_of, has, opened, plain
from tests.e2e.train.test_page_states import LISTEN

PATIENCE = 300_000

# How many pictures were added, each time when the page gets to something else.
SAMPLES = """() => {
    window.samples = [0];
    const status = document.querySelector("[data-testid=train-class-status]");
    setInterval(() => window.samples.push(Number(status.dataset.count ?? 0)), 20);
}"""

# How many examples the browser has, and how many different ones.
KEPT = """async () => {
    const names = (await indexedDB.databases()).map(({ name }) => name);
    const result = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const open = indexedDB.open(names.find((name) => name.startsWith("tallow:train:")));
    const database = await result(open);
    const examples = database.transaction("examples").objectStore("examples");
    const all = await result(examples.getAll());
    const different = new Set();
    for (const { content } of all) {
        const bytes = await new Response(content).arrayBuffer();
        different.add(String(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))));
    }
    database.close();
    return [all.length, different.size];
}"""

# What the browser says of its room.
ESTIMATE = "given => { navigator.storage.estimate = async () => given; }"


def write_folders(folder: Path, classes: int, pictures: int) -> None:
    """Folders of pictures of which no two are alike."""
    for each in range(classes):
        inside = folder / f"thing {each}"
        inside.mkdir(parents=True)
        for at in range(pictures):
            content = Random(at * classes + each).randbytes(8 * 8 * 3)
            Image.frombytes("RGB", (8, 8), content).save(inside / f"{at}.png")


def test_five_thousand_pictures_at_once(visitor: Any, tmp_path: Path) -> None:
    hook = opened(visitor, "pictures")
    page = visitor.page
    things = tmp_path / "things"
    write_folders(things, 5, 1000)
    page.evaluate(SAMPLES)
    visitor.drop(things)
    status = hook("train-class-status")
    expect(status).to_have_attribute("data-state", "adding")
    add_class(hook, "another")  # meanwhile
    expect(status).to_have_attribute("data-state", "adding")
    expect(status).to_have_text("5,000 examples added.", timeout=PATIENCE)
    samples = page.evaluate("window.samples")
    # Its work is one picture's, not a second's: on a slow machine, both are slow.
    assert max(b - a for a, b in pairwise(samples)) <= 100
    for _ in range(2):
        for each in range(5):
            has(hook, f"thing {each}", 1000)
        has(hook, "another", 0)
        assert card(hook, "thing 0").get_by_test_id("train-example").count() == 12
        assert page.evaluate(KEPT) == [5000, 5000]
        page.reload()
        hook("train-data").select_option("pictures")


def test_folders_are_dropped_anywhere_and_become_classes(visitor: Any, tmp_path: Path) -> None:
    things = tmp_path / "things"
    write_folders(things / "all", 2, 120)  # a browser lists a folder by the hundred
    (things / ".git").mkdir()
    (things / ".git" / "a.png").write_bytes(plain((1, 1, 1), "")["buffer"])
    (things / "read me.txt").write_text("no picture")
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr("zipped/one.png", plain((2, 2, 2), "")["buffer"])
    (things / "more.zip").write_bytes(held.getvalue())
    hook = opened(visitor, "signs")
    visitor.page.evaluate(LISTEN)
    visitor.drop(things)  # and the visitor need not choose the kind of data first
    expect(hook("train-data")).to_have_value("pictures")
    expect(hook("train-class-status")).to_have_text("241 examples added.", timeout=PATIENCE)
    for name, count in {"thing 0": 120, "thing 1": 120, "zipped": 1}.items():
        has(hook, name, count)
    heard = visitor.page.evaluate("window.heard")
    assert "241 examples added." in heard
    assert 1 <= len([each for each in heard if each.startswith("Adding")]) < 24, heard
    message = visitor.page.locator("[data-part=classes] .message")
    expect(message).to_contain_text("read me.txt")
    expect(visitor.page.locator("body")).not_to_have_class("dropping")

    visitor.drop(things / "all" / "thing 1")  # the class is there
    expect(hook("train-class-status")).to_have_text("120 examples added.", timeout=PATIENCE)
    has(hook, "thing 1", 240)
    expect(hook("train-classes").locator("[data-name]")).to_have_count(3)


def test_a_write_without_space_loses_nothing_that_is_kept(visitor: Any) -> None:
    hook = opened(visitor, "pictures")
    page = visitor.page
    own = page.locator("[data-part=classes] .message")
    add_class(hook, "red")
    page.evaluate(ESTIMATE, {"quota": 1e9, "usage": 1e9 - 6.5e6})
    files_of(hook, "red").set_input_files([plain((200, at, 0), f"{at}.png") for at in range(120)])
    has(hook, "red", 120)
    expect(own).to_contain_text("room for another 6.5 MB")  # which 120 may take
    page.evaluate(ESTIMATE, {"quota": 1e12, "usage": 0})  # it tells more than there is
    page.evaluate(
        """after => {
            const { add } = IDBObjectStore.prototype;
            IDBObjectStore.prototype.add = function (...given) {
                if (after-- <= 0) throw new DOMException("", "QuotaExceededError");
                return add.apply(this, given);
            };
        }""",
        30,
    )
    pictures = [plain((0, 200, at), f"{at}.png") for at in range(80)]
    files_of(hook, "red").set_input_files(pictures)
    expect(own).to_contain_text("The browser has no room for more: ", timeout=PATIENCE)
    expect(hook("train-class-status")).to_have_attribute("data-state", "idle")
    added = int(hook("train-class-status").get_attribute("data-count") or "")
    assert 20 < added <= 30
    expect(own).to_contain_text(f"{added} examples were added")
    has(hook, "red", 120 + added)
    page.reload()
    hook("train-data").select_option("pictures")
    has(hook, "red", 120 + added)
    assert page.evaluate(KEPT)[0] == 120 + added
    files_of(hook, "red").set_input_files(plain((0, 0, 200), "a.png"))  # there is space again
    has(hook, "red", 121 + added)
