"""python.html writes and runs files, streams their output and returns their exit status."""

from __future__ import annotations

import pytest
from tests.conftest import watched_page

from tallow_build.environment.browser import until


@pytest.fixture(scope="module")
def python_page(browser, server):
    """One page for all tests on NumPy."""
    for page, _ in watched_page(browser, server):
        page.goto("python.html")
        until(page, "window.tallow")
        boot(page)
        yield page


def boot(page):
    """Starts Python on NumPy, and records its output."""
    page.evaluate(
        """async () => {
            window.written = { stdout: "", stderr: "" };
            for (const stream of ["stdout", "stderr"])
                tallow.on(stream, ({ text }) => { window.written[stream] += text; });
            window.booted = await tallow.call("boot", { device: "numpy" });
        }"""
    )


@pytest.fixture
def python(python_page):
    """Runs code; returns (status, result, stdout, stderr)."""
    page = python_page

    def run(code, filename="script.py"):
        ended = page.evaluate(
            """async ([code, filename]) => {
                Object.assign(window.written, { stdout: "", stderr: "" });
                const ended = await tallow.call("exec", { code, filename });
                return { ...ended, ...window.written };
            }""",
            [code, filename],
        )
        return ended["status"], ended["result"], ended["stdout"], ended["stderr"]

    return run


def test_runs_python(python_page, python):
    assert python_page.evaluate("window.booted") == {
        "device": "numpy",
        "adapter": "",
        "reason": None,
    }
    assert python("print('hé')\n[1, 'two', None]") == (0, [1, "two", None], "hé\n", "")
    assert python("import asyncio\nawait asyncio.sleep(0.01, 'waited')")[1] == "waited"
    assert python("__name__, __file__")[1] == ["__main__", "script.py"]
    assert python("object()") == (0, None, "", "")
    code = "import numpy, tallow\ntallow.default_device(), tallow.asarray([1.0, 2.0]).shape"
    assert python(code)[1] == ["numpy", [2]]


def test_ends_with_a_status(python):
    assert python("import sys\nsys.exit(3)")[0] == 3
    assert python("import sys\nsys.exit()")[0] == 0
    assert python("raise SystemExit('no more')") == (1, None, "", "no more\n")
    status, result, _, stderr = python("def f():\n    return 1 / 0\nf()\n")
    assert (status, result) == (1, None)
    assert stderr.startswith('Traceback (most recent call last):\n  File "script.py", line 3')
    assert stderr.endswith("ZeroDivisionError: division by zero\n")
    status, _, _, stderr = python("x = (1,")
    assert status == 1
    assert "SyntaxError" in stderr
    assert python("'still here'")[1] == "still here"


def test_reads_files_that_were_written(python_page, python):
    python_page.evaluate(
        "tallow.call('write', { path: 'deep/er/data.bin', bytes: new Uint8Array([1, 2, 3]) })"
    )
    assert python("list(open('deep/er/data.bin', 'rb').read())")[1] == [1, 2, 3]


def test_with_an_adapter_on_the_cpu_webassembly_is_the_default(page):
    page.goto("python.html")
    until(page, "window.tallow")
    booted = page.evaluate("tallow.call('boot', { device: null })")
    assert booted["device"] == "wasm"
    assert booted["adapter"].startswith("WebAssembly")
    code = "import tallow\ntallow.default_device()"
    assert page.evaluate("code => tallow.call('exec', { code })", code)["result"] == "wasm"


def test_without_webgpu_boot_gives_the_reason(page_without_webgpu):
    page = page_without_webgpu
    page.goto("python.html")
    until(page, "window.tallow")
    booted = page.evaluate("tallow.call('boot', { device: 'webgpu' })")
    assert booted["device"] == "wasm"
    assert booted["reason"]


def test_errors_are_sent_by_name(python_page):
    call = "tallow.call('fly').catch(error => [error.type, error.message])"
    error = python_page.evaluate(call)
    assert error == ["Error", "The worker has no action fly; it has boot, write, exec."]


ONCE = """
from pyodide.code import run_js
import tallow as tl

made = run_js('''
    const made = [], create = GPUDevice.prototype.createComputePipeline;
    GPUDevice.prototype.createComputePipeline = function (descriptor) {
        made.push(descriptor.label);
        return create.call(this, descriptor);
    };
    made
''')

@tl.jit
def step(x):
    return tl.softmax(tl.exp(x @ x.mT) @ x, dim=1)

await step(tl.asarray([[0.5, -0.5], [2.0, 1.0]])).numpy_async()
(entries,) = step._entries.values()
[tl.default_device(), list(made.to_py()), entries[0].program.stats["kernels"]]
"""


def test_kernels_of_a_compiled_function_begin_to_compile_while_the_others_are_written(page):
    page.goto("python.html")
    until(page, "window.tallow")
    page.evaluate("tallow.call('boot', { device: 'webgpu' })")
    ended = page.evaluate("code => tallow.call('exec', { code })", ONCE)
    device, made, kernels = ended["result"]
    assert device == "webgpu"
    assert made == [""] * kernels  # without a step's name: each was begun, and none made again
    assert kernels > 2
