"""build.py from the command line: its messages, its exit status, its pins."""

import json
import re
import subprocess
import sys

import pytest
from tests.fuzz import __main__ as fuzz
from tests.onnx.conformance import __main__ as conformance
from tests.onnx.conformance import runners

from tallow.runtime import device
from tallow_build import cli, setup
from tallow_build.environment import sources
from tallow_build.errors import BuildError
from tallow_build.paths import REQUIREMENTS, ROOT
from tallow_build.serving import devices


def python(*arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_the_commands_need_the_standard_library_only():
    """Runs it as before there is a .venv: -S, no site-packages; -I, no environment."""
    done = python("-I", "-S", "build.py", "--help")
    assert done.returncode == 0, done.stderr
    for command in (
        "serve",
        "test",
        "build",
        "check",
        "bench",
        "conformance",
        "fuzz",
        "run",
        "models",
        "wheel",
        "rehearse",
    ):
        assert re.search(rf"^    {command}\b", done.stdout, re.MULTILINE), command


def test_an_old_python_is_told():
    script = (
        "import runpy, sys; sys.version_info = (3, 9, 2)\n"
        "runpy.run_path('build.py', run_name='__main__')"
    )
    done = python("-I", "-S", "-c", script)
    assert done.returncode == 1
    assert "Tallow needs Python 3.11 or newer" in done.stderr
    assert "is Python 3.9" in done.stderr
    assert "Traceback" not in done.stderr


def test_arguments_that_make_no_sense():
    assert python("build.py").returncode == 2
    assert python("build.py", "sevre").returncode == 2
    done = python("build.py", "run", "no-such-file.py")
    assert done.returncode == 1
    assert "no-such-file.py is not a file" in done.stderr


@pytest.mark.parametrize(
    ("problem", "status", "words"),
    [
        (BuildError("Fetching it", "it is gone", "look for it"), 1, "What to do: look for it"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "Interrupted"),
    ],
)
def test_a_failing_step_is_told_without_a_traceback(monkeypatch, capsys, problem, status, words):
    def fail(**_):
        raise problem

    monkeypatch.setattr(setup, "for_site", fail)
    assert cli.main(["build"]) == status
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_a_busy_port_is_told_before_anything_is_built(monkeypatch, capsys):
    monkeypatch.setattr(setup, "for_site", lambda: pytest.fail("it has built"))
    from tallow_build.serving.address import listen

    with listen("127.0.0.1", 0) as listener:
        assert cli.main(["serve", "--port", str(listener.getsockname()[1])]) == 1
    assert "another program is using that port" in capsys.readouterr().err


def test_arguments_after_test_go_to_pytest(monkeypatch):
    ran = []
    monkeypatch.setattr(setup, "for_tests", dict)
    monkeypatch.setattr(cli, "become", lambda *arguments, **more: ran.append((arguments, more)))
    cli.main(["test", "-k", "conv", "tests/unit", "--maxfail=1", "-h"])
    (((module, pytest_, *options), more),) = ran
    assert more["extra"]["OPENBLAS_NUM_THREADS"] == "1"
    assert (module, pytest_) == ("-m", "pytest")
    assert options[-5:] == ["-k", "conv", "tests/unit", "--maxfail=1", "-h"]


def test_arguments_after_fuzz_go_to_the_fuzzer(monkeypatch):
    ran = []
    monkeypatch.setattr(setup, "for_browser", dict)
    monkeypatch.setattr(cli, "become", lambda *arguments, **_: ran.append(arguments))
    cli.main(["fuzz", "--device", "numpy", "--only", "Reduce*", "-h"])
    assert ran == [("-m", "tests.fuzz", "--device", "numpy", "--only", "Reduce*", "-h")]


@pytest.mark.parametrize(
    ("command", "names", "parse"),
    [
        ("run FILE.py", devices.DEVICES, lambda words: cli._parser().parse_args(["run", *words])),
        ("conformance", runners.DEVICES, conformance.arguments),
        ("fuzz", runners.DEVICES, fuzz.arguments),
    ],
)
def test_the_readme_names_the_devices_that_a_command_takes(command, names, parse):
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"build.py {command} [--device {'|'.join(names)}]" in readme
    for name in names:
        words = ["--device", name] + ["script.py"] * command.startswith("run")
        assert parse(words).device == name


def test_a_script_may_run_on_every_device():
    assert set(devices.DEVICES) == set(device.DEVICES)


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt"])
def test_python_packages_are_pinned_by_version_and_hash(name):
    text = (REQUIREMENTS / name).read_text()
    pins = re.findall(r"^[a-z].*?(?=^[a-z]|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(pins) > 5
    for pin in pins:
        assert re.match(r"[a-z0-9-]+==[0-9]", pin), pin
        assert "--hash=sha256:" in pin, pin
    assert "://" not in text
    assert not re.search(r"^\s*-", re.sub(r"^\s*--hash=.*$", "", text, flags=re.MULTILINE))


def test_npm_packages_are_pinned_by_version_and_hash():
    lock = json.loads((ROOT / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages["node_modules/pyodide"]["version"] == "314.0.4"
    for name, entry in packages.items():
        assert entry["integrity"].startswith("sha512-"), name
        assert "resolved" not in entry, name
    wanted = json.loads((ROOT / "package.json").read_text())
    for version in {**wanted["dependencies"], **wanted["devDependencies"]}.values():
        assert re.fullmatch(r"(npm:[\w@/-]+@)?[0-9.]+", version)


def test_the_browser_gets_the_protobuf_that_is_tested_here():
    pin = re.search(r"^protobuf==(\S+)", (REQUIREMENTS / "runtime.txt").read_text(), re.MULTILINE)
    assert pin is not None
    assert sources.pure_protobuf()[1].name == f"protobuf-{pin[1]}-py3-none-any.whl"


@pytest.mark.parametrize("command", ["test", "bench", "conformance", "fuzz"])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_of_a_command_that_passes_arguments_on_builds_nothing(monkeypatch, command, flag):
    prepared = []
    monkeypatch.setattr(setup, "for_tests", lambda **_: prepared.append("tests"))
    monkeypatch.setattr(setup, "for_browser", lambda **_: prepared.append("browser"))
    monkeypatch.setattr(setup, "for_checks", lambda: prepared.append("packages"))
    started = []
    monkeypatch.setattr(cli, "become", lambda *words, **_: started.append(words))
    cli.main([command, flag])
    assert prepared == ["packages"]
    assert started[0][-1] == flag
