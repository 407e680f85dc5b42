"""The Train view's zips: files in folders, and what is damaged."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from tallow.errors import DataError, OptionError
from tallow_page.train import zips

FILES = {"cups/a.png": b"a" * 5000, "cups/b.png": bytes(range(256)) * 9000, "pens/c.png": b""}


def zipped(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        made.mkdir("cups")
        for path, content in files.items():
            made.writestr(path, content)
    return held.getvalue()


@pytest.fixture
def opened(run_async: Callable[..., Any]) -> Callable[[bytes], list[str]]:
    def run(content: bytes) -> list[str]:
        read = lambda start, end: memoryview(content)[start:end]  # noqa: E731
        paths: list[str] = json.loads(run_async(zips.open_zip("a.zip", read, len(content))))
        return paths

    return run


def test_files_are_read_one_after_the_other(opened: Any) -> None:
    assert opened(zipped(FILES)) == list(FILES)  # without the folder
    for number in (1, 0, 2):
        assert zips.read_zip("a.zip", number) == list(FILES.values())[number]
    with pytest.raises(OptionError, match=r"b\.zip is not open"):
        zips.read_zip("b.zip", 0)


@pytest.mark.parametrize("content", [b"", b"no zip at all", zipped(FILES)[:-40]])
def test_a_damaged_zip_is_refused(opened: Any, content: bytes) -> None:
    with pytest.raises(DataError, match=r"a\.zip is damaged, or no zip"):
        opened(content)


def test_a_damaged_file_is_named_and_the_others_are_read(opened: Any) -> None:
    content = bytearray(zipped(FILES))
    at = content.index(b"cups/a.png") + len("cups/a.png")
    content[at : at + 8] = b"\xff" * 8
    opened(bytes(content))
    with pytest.raises(DataError, match=r"cups/a\.png cannot be read"):
        zips.read_zip("a.zip", 0)
    assert zips.read_zip("a.zip", 1) == FILES["cups/b.png"]


def test_an_encrypted_file_and_a_huge_one_are_refused(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytearray(zipped(FILES))
    central = content.index(b"PK\x01\x02")
    local = content.index(b"cups/a.png") - 30
    first = content.index(b"cups/a.png", central) - 46
    content[local + 6] |= 1
    content[first + 8] |= 1
    opened(bytes(content))
    with pytest.raises(DataError, match=r"cups/a\.png cannot be read.*password"):
        zips.read_zip("a.zip", 0)
    monkeypatch.setattr(zips, "_LARGEST", 10_000)
    with pytest.raises(DataError, match=r"cups/b\.png has 2,304,000 bytes, too many"):
        zips.read_zip("a.zip", 1)
