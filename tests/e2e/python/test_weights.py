"""Weights that Python reads by ranges in a tab: of a server, and of a file that a visitor chose."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from tests.conftest import Notebook
from tests.unit.formats.gguf_files import Raw, gguf
from tests.unit.formats.record_blocks import random_blocks

ROWS, WIDTH = 128, 64


@pytest.fixture(scope="module", params=["wasm", "webgpu"])
def python(request: pytest.FixtureRequest, browser_python: Callable[[str], Notebook]) -> Notebook:
    """A notebook that has a file of weights as bytes, and as a Blob."""
    raw = random_blocks("Q4_1", 20, ROWS * WIDTH // 32)
    file = gguf({"name": "small"}, {"w": Raw("Q4_1", (ROWS, WIDTH), raw.tobytes())})
    found = browser_python(request.param)
    found.run(f"""
import base64, js
import numpy as np
import tallow as tl
from pyodide.ffi import to_js
from tallow.errors import FetchError
content = base64.b64decode({base64.b64encode(file).decode()!r})
blob = js.Blob.new([to_js(content)])
def product(weight):
    x = tl.asarray(np.linspace(-1, 1, {WIDTH}, dtype=np.float32)[None])
    return x @ weight.T
wanted = np.asarray(await product(tl.load(content)["w"]).numpy_async())
""")
    return found


def test_a_file_that_the_visitor_chose(python: Notebook) -> None:
    name, awaited, blocking = python.run("""
weights = await tl.open_weights_async(blob)
one = await product(await weights.read_async("w")).numpy_async()
two = await product((await tl.load_async(blob))["w"]).numpy_async()
three = await product(tl.open_weights(blob)["w"]).numpy_async()
[weights.metadata["name"], bool((one == wanted).all() and (two == wanted).all()),
 bool((three == wanted).all())]
""")
    assert (name, awaited, blocking) == ("small", True, True)


def test_what_is_read_when_the_device_loads_it(python: Notebook) -> None:
    assert python.run("""
late = product((await tl.open_weights_async(blob)).later("w"))
bool(np.allclose(await late.numpy_async(), wanted))
""")


def test_where_nothing_can_be_awaited(python: Notebook) -> None:
    """In a browser without JavaScript Promise Integration a worker blocks."""
    assert python.run("""
from tallow.files import browser
world, address = browser.BlockingBrowser(), str(js.location.origin) + "/LICENSE"
span = world.span(address, 10, 20)
whole = world.span(address, 0, 1 << 20)
[world.blob_part(blob, 3, 50) == content[3:53], span.data == whole.data[10:30],
 span.total == len(whole.data) == whole.total]
""") == [True, True, True]


def test_a_server(python: Notebook) -> None:
    """That of these tests knows ranges; a blob's address stands for one that does not."""
    same, blocking, said = python.run("""
from tallow.files.ranges import ranges_of
from tallow.core.drivers import run_async, run_sync
address = str(js.location.origin) + "/LICENSE"
whole = (await (await js.fetch(address)).bytes()).to_bytes()
file = ranges_of(address)
part = await run_async(file.read(100, 50))
other = run_sync(ranges_of(address).read(len(whole) - 50, 50))
try:
    await run_async(ranges_of(str(js.location.origin) + "/none.gguf").size())
    said = ""
except FetchError as error:
    said = str(error)
[bytes(part) == whole[100:150], bytes(other) == whole[-50:], said]
""")
    assert (same, blocking) == (True, True)
    assert "404" in said
