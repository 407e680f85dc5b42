"""A page with only Pyodide, into which micropip installs the wheel; in a worker and on the main
thread."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.e2e.python.plain_server import serving

from tallow_build.environment import sources
from tallow_build.page import wheels
from tallow_build.paths import ROOT

ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
PAGE = """<!doctype html>
<script type="module">
  if (location.hash === "#worker") {
    const worker = new Worker("start.js", { type: "module" });
    worker.onmessage = ({ data }) => (window.result = data);
  } else {
    const { start } = await import("./start.js");
    window.result = await start();
  }
</script>
"""
START = """
import { loadPyodide } from "./pyodide/pyodide.mjs";
const CODE = `
import micropip
await micropip.install(WHEEL)
import tallow as tl
from tallow.core.drivers import run_async, run_sync
info = await tl.open_device("webgpu")
x = (tl.asarray([1.0, 2.0, 3.0]) * 2 + 1).realize()
total = tl.Variable(0.0)

@tl.jit
def add(x):
    total.assign(total + tl.sum(x))

add(x)
add(x)
buffer = total.buffer()
(value,) = await run_async(buffer.memory.read([buffer]))
found = [info.device, tl.default_device(), x.device, value.tolist()]

info = await tl.open_device("wasm")
tl.set_default_device("wasm")
square = tl.Variable(tl.asarray([[1.0, 2.0], [3.0, 4.0]]))
square.assign(square @ square)
buffer = square.buffer()
(value,) = run_sync(buffer.memory.read([buffer]))
found += [info.device, buffer.memory.name, value.tolist()]

threads = [tl.get_num_threads()]
row = [(7 * i % 11 - 5) / 8 for i in range(256)]
matrix = tl.asarray([[row[(i + 3 * j) % 256] for j in range(256)] for i in range(256)])
products = []
for count in (1, 2, 3):
    tl.set_num_threads(count)
    threads.append(tl.get_num_threads())
    product = tl.Variable(matrix)
    product.assign(product @ product)
    buffer = product.buffer()
    (value,) = run_sync(buffer.memory.read([buffer]))
    products.append(value.tolist())
str([*found, threads, products == [products[0]] * 3])
`;
export async function start() {
  const python = await loadPyodide({ indexURL: "./pyodide/" });
  // The npm package of Pyodide lacks what its full distribution has.
  const wheels = await (await fetch("./wheels.json")).json();
  const addresses = wheels.map((name) => new URL(name, import.meta.url).href);
  python.globals.set("WHEEL", addresses.pop());
  await python.loadPackage(addresses);
  return python.runPythonAsync(CODE).catch(String);
}
if (typeof document === "undefined") start().then(postMessage);
"""


@pytest.fixture(scope="module")
def own_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of such a page: as it is, and isolated from other origins."""
    folder: Path = tmp_path_factory.mktemp("own")
    (folder / "index.html").write_text(PAGE, "utf-8")
    (folder / "start.js").write_text(START, "utf-8")
    (folder / "pyodide").symlink_to(ROOT / "node_modules" / "pyodide")
    files = [*(path for _, path in sources.micropip()), wheels.tallow()]
    sources.fetch(sources.micropip())
    for path in files:
        shutil.copy(path, folder)
    (folder / "wheels.json").write_text(json.dumps([path.name for path in files]), "utf-8")
    with serving(folder) as address, serving(folder, ISOLATION) as isolated:
        yield address, isolated


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("where", ["", "#worker"], ids=["main thread", "worker"])
def test_the_wheel_brings_the_devices(
    where: str, isolated: bool, own_page: tuple[str, str], page: Page
) -> None:
    assert page.context.browser is not None
    own = page.context.browser.new_page()  # `page` may talk to the app's server alone
    own.goto(own_page[isolated] + where)
    own.wait_for_function("window.result !== undefined", timeout=120_000)
    on_webgpu = ["webgpu", "webgpu", "webgpu", 30.0]
    on_wasm = ["wasm", "wasm", [[7.0, 10.0], [15.0, 22.0]]]
    usual = min(own.evaluate("navigator.hardwareConcurrency"), 4)
    threads = [usual, 1, 2, 3] if where and isolated else [1, 1, 1, 1]
    assert own.evaluate("window.result") == str([*on_webgpu, *on_wasm, threads, True])
    own.close()
