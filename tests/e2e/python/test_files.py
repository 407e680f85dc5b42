"""Files that Python fetches in a tab, and keeps in the page's storage; pictures that the browser
decodes."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.conftest import Notebook

BEGIN = """
import warnings, js
import tallow as tl
from tallow.errors import ChecksumError, FetchError
from tallow.files import File, browser, fetch, fetch_async
address = str(js.location.origin) + "/LICENSE"
opened = []
class Watching(browser.Browser):
    async def open(self, address, start):
        opened.append(start)
        return await super().open(address, start)
browser.Browser = Watching
"""


@pytest.fixture(scope="module")
def python(browser_python: Callable[[str], Notebook]) -> Notebook:
    found = browser_python("wasm")
    found.run(BEGIN)
    return found


@pytest.fixture(scope="module")
def checksum(dist: Path) -> str:
    return "sha256:" + hashlib.sha256((dist / "LICENSE").read_bytes()).hexdigest()


def test_a_file_is_kept_in_the_storage(python: Notebook, checksum: str, dist: Path) -> None:
    asked, kept, blocking, size = python.run(f"""
opened.clear()
file = File("licence.txt", (address,), "data/kept", {checksum!r})
first = await fetch_async(file)
again = await fetch_async(File("licence.txt", (), "data/kept"))
blocked = fetch(File("licence.txt", (), "data/kept"))
[opened, first.read() == again.read(), blocked.read() == first.read(), len(first.read())]
""")
    assert (asked, kept, blocking) == ([0], True, True)
    assert size == (dist / "LICENSE").stat().st_size


def test_a_large_file_is_never_in_memory_as_a_whole(python: Notebook, dist: Path) -> None:
    """Neither while it arrives and is checked, nor when it is kept and its weights are opened."""
    path = next((dist / "models" / "published").rglob("*.gguf"))
    checksum = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    where = path.relative_to(dist).as_posix()
    size, count, grown = python.run(f"""
import pyodide_js
from tallow.files import File, fetch_async
heap = lambda: pyodide_js._module.HEAPU8.length
before = heap()
source = str(js.location.origin) + "/{where}"
file = File("large.gguf", (source,), "data/large", {checksum!r})
seen = []
await fetch_async(file, lambda done, total: seen.append(done))
weights = await tl.open_weights_async(await fetch_async(file))
[seen[-1], len(weights), heap() - before]
""")
    assert size == path.stat().st_size > 90_000_000
    assert count > 200
    assert grown < 30_000_000  # of which the vocabulary is the most


def test_what_is_packed_is_unpacked_in_parts(python: Notebook) -> None:
    content, damaged, kept = python.run("""
import gzip
plain = bytes(range(256)) * 9000
packed = gzip.compress(plain)
class Giving(Watching):
    given = packed
    async def open(self, address, start):
        return browser.Whole(self.given[start:])
browser.Browser = Giving
sums = "sha256:" + __import__("hashlib").sha256(plain).hexdigest()
file = File("f.bin", ("https://example.org/f.bin.gz",), "data/packed", sums)
first = await fetch_async(file)
found = await first.read_async() == plain
Giving.given = packed[:-20]
said = ""
try:
    await fetch_async(File("g.bin", ("https://example.org/g.bin.gz",), "data/packed", sums))
except FetchError as error:
    said = str(error)
browser.Browser = Watching
[found, said, (await browser.Browser().find(File("g.bin", (), "data/packed"))) is None]
""")
    assert content and kept
    assert "cannot be unpacked" in damaged


def test_a_kept_file_is_replaced_by_a_newer_one(python: Notebook) -> None:
    found = python.run("""
from tallow.core.drivers import run_async
from tallow.files import fetching
class Giving(Watching):
    given = b"first"
    async def open(self, address, start):
        if self.given is None:
            raise FetchError("no answer")
        return browser.Whole(self.given)
browser.Browser = Giving
file = File("h.bin", ("https://example.org/h.bin",), "data/newer")
found = []
for given in (b"first", b"second", None):
    Giving.given = given
    found.append((await (await run_async(fetching(file, again=True))).read_async()).decode())
browser.Browser = Watching
found
""")
    assert found == ["first", "second", "second"]


def test_a_part_of_an_earlier_visit_is_continued(python: Notebook, dist: Path) -> None:
    """Of a file that the server does not pack: a part of a packed answer would be of no use."""
    path = next(each for each in sorted((dist / "icons").iterdir()) if each.suffix == ".png")
    checksum = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    asked, same = python.run(f"""
icon = str(js.location.origin) + "/icons/{path.name}"
content = (await fetch_async(File("whole.png", (icon,), "data/part", {checksum!r}))).read()
opened.clear()
file = File("part.png", (icon,), "data/part", {checksum!r})
part = await browser.Browser().begin(file, False)
part.write(content[:100])
part.close()
found = await fetch_async(file)
[opened, found.read() == content]
""")
    assert (asked, same) == ([100], True)


def test_a_wrong_file_is_not_kept(python: Notebook) -> None:
    said, then = python.run("""
said = []
for sources in ((address,), ()):
    try:
        await fetch_async(File("wrong.txt", sources, "data/wrong", "sha256:00"))
    except FetchError as error:
        said.append(type(error).__name__ + ": " + str(error))
said
""")
    assert said.startswith("ChecksumError: wrong.txt from http")
    assert "it has no source" in then


def test_a_missing_file_and_the_next_source(python: Notebook, checksum: str) -> None:
    size, said = python.run(f"""
found = await fetch_async(
    File("b.txt", (address + ".absent", address), "data/next", {checksum!r})
)
said = ""
try:
    await fetch_async(File("c.txt", (address + ".absent",), "data/next"))
except FetchError as error:
    said = str(error)
[len(found.read()), said]
""")
    assert size > 0
    assert "LICENSE.absent: the server answered 404" in said


def test_no_space_goes_on_from_memory(python: Notebook, checksum: str) -> None:
    size, said, kept = python.run(f"""
class Full(Watching):
    async def room(self, file):
        return 10
browser.Browser = Full
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = await fetch_async(File("d.txt", (address,), "data/full", {checksum!r}))
browser.Browser = Watching
kept = await browser.Browser().find(File("d.txt", (), "data/full"))
[len(found.read()), str(caught[0].message), kept is not None]
""")
    assert size > 0 and not kept
    assert "and 10 are free" in said


def test_code_that_blocks_without_promise_integration(python: Notebook, checksum: str) -> None:
    size, said = python.run(f"""
real, browser.can_run_sync = browser.can_run_sync, lambda: False
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = fetch(File("e.txt", (address,), "data/blocking", {checksum!r}))
browser.can_run_sync = real
[len(found.read()), str(caught[0].message)]
""")
    assert size > 0
    assert "await fetch_async" in said


def test_the_browser_decodes_pictures(python: Notebook) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    text = base64.b64encode(target.getvalue()).decode()
    shape, found, blocking, said = python.run(f"""
import base64
from tallow.errors import DataError
content = base64.b64decode({text!r})
picture = await tl.vision.io.decode_image_async(content)
blocking = tl.vision.io.decode_image(content, "GRAY")
said = ""
try:
    await tl.vision.io.decode_image_async(content[:60])
except DataError as error:
    said = str(error)
[picture.shape, picture.tolist(), blocking.shape, said]
""")
    assert (shape, blocking) == ([3, 4, 5], [1, 4, 5])
    assert np.array_equal(found, pixels.transpose(2, 0, 1))
    assert "the picture in these bytes is damaged" in said
