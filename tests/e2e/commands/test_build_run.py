"""`build.py run` runs a Python file in a real browser: output, status, files, device."""

import hashlib
import subprocess
import sys

import pytest

from tallow_build.errors import BuildError
from tallow_build.paths import ROOT
from tallow_build.serving.script import BrowserPython, run_in


@pytest.fixture(scope="module")
def python(browser, server):
    """One Python for tests that only check what a script prints and returns."""
    with browser.new_context() as context:
        started = BrowserPython(context.new_page(), server)
        booted = started.boot(None)
        assert booted.device == "wasm"
        assert booted.adapter
        assert booted.reason is None
        yield started


def run(python, code):
    """Status, result, and the text of each stream."""
    streams = {"stdout": "", "stderr": ""}

    def write(name, text):
        streams[name] += text

    status, result = python.run(code, "script.py", write)
    return status, result, streams["stdout"], streams["stderr"]


def test_output_and_result(python):
    code = "import sys\nprint('héllo', end='')\nprint('oh', file=sys.stderr)\n[1, {'a': None}]"
    assert run(python, code) == (0, [1, {"a": None}], "héllo", "oh\n")


def test_await_numpy_and_tallow(python):
    code = (
        "import asyncio, numpy, tallow\nawait asyncio.sleep(0)\n"
        "[numpy.__version__, tallow.__name__]"
    )
    assert run(python, code)[:2] == (0, ["2.4.3", "tallow"])


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("import sys\nsys.exit(7)", 7, ""),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit('no way')", 1, "no way\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("print(", 1, "SyntaxError: '(' was never closed"),
    ],
)
def test_status(python, code, status, words):
    got, result, _, errors = run(python, code)
    assert (got, result) == (status, None)
    assert words in errors


def test_a_traceback_begins_in_the_script(python):
    python.write("script.py", b"def f():\n    raise ValueError('boom')\nf()\n")
    errors = run(python, "def f():\n    raise ValueError('boom')\nf()\n")[3]
    assert errors.startswith(
        'Traceback (most recent call last):\n  File "script.py", line 3, in <module>\n    f()'
    )
    assert errors.endswith("ValueError: boom\n")


def test_silence_ends_patience(browser, server):
    with browser.new_context() as context:
        python = BrowserPython(context.new_page(), server)
        python.boot("numpy")
        output = []
        code = "import asyncio\nprint('one', flush=True)\nawait asyncio.Event().wait()"
        with pytest.raises(BuildError, match="no output for 10 seconds"):
            python.run(code, "script.py", lambda stream, text: output.append(text), patience=10)
        assert "".join(output) == "one\n"


def test_webgpu_is_refused_if_unavailable(browser_without_webgpu, server, tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("import tallow; print(tallow.__name__)")
    with pytest.raises(BuildError, match="Getting a WebGPU device failed") as caught:
        run_in(browser_without_webgpu, server, script, "webgpu", [])
    assert caught.value.why
    assert run_in(browser_without_webgpu, server, script, None, []) == 0
    captured = capsys.readouterr()
    assert captured.out == "tallow\n"
    assert captured.err.startswith("Running on wasm, without WebGPU: ")


def test_webassembly_computes_if_chosen(browser, server, tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(
        "import tallow as tl\n"
        "x = (tl.asarray([[1.0, 2.0], [3.0, 4.0]]) + 1).realize()\n"
        "print(tl.default_device(), x.device, (x @ x).numpy().tolist())\n"
    )
    assert run_in(browser, server, script, "wasm", []) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("wasm wasm [[16.0, 21.0], [28.0, 37.0]]\n", "")


def test_a_large_file_arrives_whole(python, tmp_path):
    """As text through the debugger, it would end the page."""
    path = tmp_path / "large.bin"
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for number in range(200):
            piece = number.to_bytes(8, "little") * (1 << 17)
            digest.update(piece)
            file.write(piece)
    python.write("folder/large.bin", path)
    code = """
import hashlib, os
with open("folder/large.bin", "rb") as file:
    found = hashlib.file_digest(file, "sha256").hexdigest()
os.remove("folder/large.bin")
found
"""
    assert run(python, code)[:2] == (0, digest.hexdigest())


@pytest.mark.browser
def test_the_command(tmp_path):
    (tmp_path / "data.bin").write_bytes(bytes(range(256)))
    script = tmp_path / "script.py"
    script.write_text("print(sum(open('data.bin', 'rb').read()))\nraise SystemExit(5)\n")
    command = [sys.executable, str(ROOT / "build.py"), "run", "--device", "numpy", "script.py"]
    done = subprocess.run(
        [*command, "--file", "data.bin"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (5, "32640\n"), done.stderr
