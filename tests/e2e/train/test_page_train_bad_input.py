"""What goes wrong in the Train view is said, in both languages, and nothing is lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import worker_of
from tests.e2e.train.test_page_train import few, lend, opened, state, step
from tests.unit.tallow_page.train.lessons import contents, idx

PATIENCE = 120_000

WRITING = "FileSystemFileHandle.prototype.createSyncAccessHandle"


@pytest.fixture
def hook(visitor: Any) -> Any:
    """The page, with a few pictures to learn from."""
    lend(visitor, contents(640, 64, 28))
    return opened(visitor)


@pytest.fixture
def message(visitor: Any) -> Any:
    return visitor.page.locator("#view-train > .answer > .message")


def test_a_loss_that_is_not_finite_leaves_the_last_good_checkpoint(
    visitor: Any, hook: Any, message: Any
) -> None:
    # Weight decay times -3 in each step: it takes some epochs.
    few(hook, 640, **{"lr-field": "4", "decay": "1", "momentum": "0", "epochs": "40"})
    hook("train-schedule").select_option("constant")
    hook("train-start").click()
    state(hook, "failed")
    expect(message).to_contain_text(re.compile(r"the loss of step [\d,]+ is not a finite number"))
    expect(message).to_contain_text("its last good checkpoint, which is kept")
    good = step(hook)
    assert good > 0 and good % 10 == 0  # the end of an epoch
    expect(hook("train-status")).to_have_text(f"Failed after step {good}.")
    expect(hook("train-runs").locator("li")).to_contain_text(f"failed, {good} steps")
    expect(hook("train-start")).to_have_text("Resume")
    with visitor.page.expect_download():
        hook("train-download-onnx").click()
    hook("language-select").select_option("zh")
    expect(message).to_contain_text(re.compile(r"第 [\d,]+ 步的损失不是有限的数"))


def test_without_a_good_checkpoint_there_is_nothing_to_try(hook: Any, message: Any) -> None:
    # Weight decay times -999 in each step: no epoch comes to its end.
    few(hook, 640, **{"lr-field": "1000", "decay": "1", "momentum": "0", "batch": "16"})
    hook("train-schedule").select_option("constant")
    hook("train-start").click()
    state(hook, "failed")
    expect(message).to_contain_text("no checkpoint was kept before")
    for part in ("train-use", "train-download-onnx", "train-confusion"):
        expect(hook(part)).to_be_hidden()


def test_a_batch_larger_than_the_data_is_said_in_chinese(hook: Any, message: Any) -> None:
    few(hook, 40)
    hook("train-start").click()
    state(hook, "failed")
    expect(hook("train-loss")).to_be_hidden()  # there are no figures
    hook("language-select").select_option("zh")
    expect(message).to_contain_text("批大小超过了可供学习的样本数")


def test_data_files_whose_labels_are_out_of_range_are_said(visitor: Any, message: Any) -> None:
    wrong = idx(bytes([10]) * 640, 640)
    lend(visitor, contents(640, 64, 28) | {"train-labels-idx1-ubyte": wrong})
    hook = opened(visitor)
    hook("train-start").click()
    state(hook, "failed")
    expect(message).to_contain_text("damaged, or their labels are out of range")
    hook("language-select").select_option("zh")
    expect(message).to_contain_text("标签超出了范围")


def test_without_space_a_run_goes_on_when_there_is_some(
    visitor: Any, hook: Any, message: Any
) -> None:
    few(hook, 640, epochs="2")
    visitor.page.evaluate(
        "navigator.storage.estimate = async () => ({ quota: 1e9, usage: 1e9 - 3e6 })"
    )
    worker = worker_of(visitor.page)
    worker.evaluate(
        f"""() => {{ globalThis.writing = {WRITING}; {WRITING} = async () => {{
            throw new DOMException("", "QuotaExceededError"); }}; }}"""
    )
    hook("train-start").click()
    state(hook, "failed")
    expect(message).to_contain_text("the browser’s storage is full")
    expect(hook("train-note")).to_contain_text("The browser has only 3.0 MB left for this page.")
    failed = step(hook)
    assert failed > 0
    hook("language-select").select_option("zh")
    expect(message).to_contain_text("浏览器的存储空间已满")
    hook("language-select").select_option("en")
    worker.evaluate(f"() => {{ {WRITING} = globalThis.writing; }}")
    hook("train-start").click()
    state(hook, "done")
    assert step(hook) == 20
    expect(hook("train-runs").locator("li")).to_contain_text("done, 20 steps")


MANY = """async (count) => {
    const [{ name }] = (await indexedDB.databases()).filter(({ name }) => /:train:/.test(name));
    const opening = indexedDB.open(name);
    await new Promise((resolve) => (opening.onsuccess = resolve));
    const adding = opening.result.transaction("classes", "readwrite");
    for (let at = 0; at < count; at++)
        adding.objectStore("classes").add({ kind: "signs", name: `sign ${at}` });
    await new Promise((resolve) => (adding.oncomplete = resolve));
    opening.result.close();
}"""
"""Adds so many classes to those that the browser keeps."""


def test_more_classes_than_can_be_learnt_are_refused(visitor: Any, hook: Any) -> None:
    hook("train-data").select_option("signs")
    hook("train-class-name").fill("first")
    hook("train-class-add").click()
    expect(hook("train-classes").locator("[data-name]")).to_have_count(1)
    visitor.page.evaluate(MANY, 999)
    visitor.page.reload()
    hook("train-data").select_option("signs")
    classes = hook("train-classes").locator("[data-name]")
    expect(classes).to_have_count(1000, timeout=PATIENCE)
    hook("train-class-name").fill("one more")
    hook("train-class-add").click()
    own = visitor.page.locator("[data-part=classes] .message")
    expect(own).to_contain_text("There can be 1,000 classes at most.")
    expect(classes).to_have_count(1000)
    hook("language-select").select_option("zh")
    expect(own).to_contain_text("最多可以有 1,000 个类别")


DAMAGE = """async (damaged) => {
    let folder = await navigator.storage.getDirectory();
    for (const name of ["tallow", "runs"]) folder = await folder.getDirectoryHandle(name);
    for await (const site of folder.values())
        for await (const run of site.values())
            for await (const [name, file] of run.entries()) {
                if (!new RegExp(damaged).test(name)) continue;
                const writing = await file.createWritable();
                await writing.write("none");
                await writing.close();
            }
}"""
"""Writes over those files of all runs."""


def test_damaged_checkpoints_and_runs_are_said(visitor: Any, hook: Any, message: Any) -> None:
    page = visitor.page
    few(hook, 640, epochs="200")
    hook("train-start").click()
    expect(hook("train-status")).to_have_attribute(
        "data-epoch", re.compile(r"^[2-9]|\d\d"), timeout=PATIENCE
    )
    hook("train-pause").click()
    state(hook, "paused")
    paused = step(hook)

    def again(damaged: str) -> None:
        page.evaluate(DAMAGE, damaged)
        page.reload()
        expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)

    again(f"step-0*{paused}[.]")
    hook("train-run-open").click()
    hook("train-start").click()
    note = hook("train-note")
    expect(note).to_contain_text("Damaged checkpoints were left out", timeout=PATIENCE)
    hook("train-pause").click()
    state(hook, "paused")

    again("step-")
    hook("train-run-open").click()
    hook("train-start").click()
    state(hook, "failed")
    expect(message).to_contain_text("all checkpoints of this run are damaged. Remove it")
    hook("language-select").select_option("zh")
    expect(message).to_contain_text("检查点全部损坏")
    hook("language-select").select_option("en")

    again("about.json")
    expect(hook("train-runs")).to_contain_text("is damaged: what it was can't be read")
    hook("train-run-remove").click()
    expect(hook("train-runs")).to_have_text("No runs are kept yet.")


def test_a_tab_in_the_background_goes_on_and_says_so(visitor: Any, hook: Any) -> None:
    few(hook, 640, epochs="2")
    visitor.page.evaluate(
        "document.querySelector('[data-testid=train-start]').click();"
        "Object.defineProperty(document, 'hidden', { value: true });"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    expect(hook("train-note")).to_contain_text("in the background, where browsers slow pages down")
    state(hook, "done")
    assert step(hook) == 20
    expect(hook("train-note")).to_contain_text("nothing is lost by that")
    hook("language-select").select_option("zh")
    expect(hook("train-note")).to_contain_text("后台")
