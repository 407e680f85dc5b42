"""Runs as one file, which another visitor opens."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.unit.tallow_page.train.lessons import Kept, Page, at

import tallow as tl
from tallow.errors import CheckpointError, DataError, OptionError
from tallow_page.train.runs import packed_run, unpack_run


@pytest.fixture
def page(run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    tl.set_default_device("numpy")
    yield Page(run_async, monkeypatch)
    tl.set_default_device(None)


@pytest.fixture
def shared(page: Page, run_async: Callable[..., Any]) -> bytes:
    """A run that was paused after its first epoch."""
    page.run(at("record"))
    found: bytes = run_async(packed_run("r", page.kept))
    return found


def test_another_visitor_goes_on_with_a_run(
    page: Page, shared: bytes, run_async: Callable[..., Any]
) -> None:
    own = page.kept
    page.kept = Kept()
    about = json.loads(run_async(unpack_run("other", memoryview(shared), page.kept)))
    assert about == own.about() | {"run": "other"}
    assert page.kept.order[-1] == "run.json"
    page.reload()
    _, answer = page.run(run="other")
    assert answer["state"] == "done" and answer["step"] == 20
    assert own.about()["state"] == "paused"


def changed(content: bytes, **files: bytes | None) -> bytes:
    """The zip with other files; None leaves one out."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(target, "w") as after:
        held = {name: before.read(name) for name in before.namelist()} | files
        for name, each in held.items():
            if each is not None:
                after.writestr(name, each)
    return target.getvalue()


def test_what_is_no_run_is_said_and_not_kept(shared: bytes, run_async: Callable[..., Any]) -> None:
    names = zipfile.ZipFile(io.BytesIO(shared)).namelist()
    step = next(name for name in names if name.startswith("step-"))
    for content, why in (
        (b"none", "this file is no run, or it is damaged"),
        (shared[:-200], "this file is no run, or it is damaged"),
        (changed(shared, **{"about.json": None}), "it has no about.json"),
        (changed(shared, **{"about.json": b"{}"}), r"about.json is damaged"),
        (changed(shared, **{"run.json": b"["}), "run in this file is damaged"),
        (changed(shared, **{step: b"none"}), "run in this file is damaged"),
    ):
        kept = Kept()
        with pytest.raises(DataError, match=why):
            run_async(unpack_run("other", content, kept))
        assert not kept.runs


def test_files_that_belong_to_no_run_stay_in_the_zip(
    shared: bytes, run_async: Callable[..., Any]
) -> None:
    kept = Kept()
    given = changed(shared, **{"../evil.json": b"{}", "a/about.json": b"{}", "note.txt": b"hi"})
    run_async(unpack_run("other", given, kept))
    assert set(kept.runs["other"]) == set(zipfile.ZipFile(io.BytesIO(shared)).namelist())


def test_without_space_nothing_of_it_is_left(shared: bytes, run_async: Callable[..., Any]) -> None:
    kept = Kept()
    kept.room = 2000
    with pytest.raises(CheckpointError, match="storage is full"):
        run_async(unpack_run("other", shared, kept))
    assert not kept.runs.get("other")


def test_a_run_that_is_not_kept(run_async: Callable[..., Any]) -> None:
    with pytest.raises(OptionError, match="not kept any more"):
        run_async(packed_run("gone", Kept()))
