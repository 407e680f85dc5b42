"""The contract between JavaScript and Python: its types in TypeScript are fresh, and what the
functions of the page are said to answer is what there is."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from typing import Any, TypedDict, get_type_hints

import pytest

from tallow.runtime.profile import KernelTime, Profile
from tallow_build import contract as written
from tallow_build.paths import ROOT, WEB
from tallow_page import app
from tallow_page import find as find_view
from tallow_page import listen as listen_view
from tallow_page import open as open_view
from tallow_page import train as train_view
from tallow_page import write as write_view
from tallow_page.contract import answers, devices

MODULES = {
    "": app, "find": find_view, "listen": listen_view, "open": open_view, "train": train_view,
    "write": write_view,
}  # fmt: skip

# The names that `App` is given: `app.call("name", ...)`, `app.stream(context, "name", ...)`.
CALLED = r'\bapp\s*\.(?:(?:call|ask|askWithNumpy)\(|stream(?:WithNumpy)?\(\s*\w+,)\s*"[\w.]+"'


def test_the_types_of_javascript_are_fresh() -> None:
    assert written.FILE.read_text("utf-8") == written.text(), (
        "run `PYTHONPATH=py python -m tallow_build.contract`"
    )


def test_every_function_that_the_page_awaits_has_its_answer_in_the_contract() -> None:
    functions = {name: getattr(of, name) for of in MODULES.values() for name in of.__all__}
    assert len(functions) == sum(len(of.__all__) for of in MODULES.values())
    # These answer with a buffer.
    awaited = {name for name, f in functions.items() if inspect.iscoroutinefunction(f)}
    buffers = {"first_filters", "model_file", "packed_run", "predict", "take_home"}
    assert awaited - buffers == get_type_hints(answers.Answers).keys()
    streamed = {name for name, f in functions.items() if inspect.isasyncgenfunction(f)}
    assert streamed == get_type_hints(answers.StreamedAnswers).keys()
    assert streamed == get_type_hints(answers.StreamedProgress).keys()


def test_every_function_that_the_worker_calls_is_there() -> None:
    """By its name: JavaScript would learn only as it calls one."""
    called = {
        (path.name, name)
        for path in WEB.rglob("*.js")
        for call in re.findall(CALLED, path.read_text("utf-8"))
        for name in re.findall(r'"([\w.]+)"', call)
    }
    assert len(called) > 15
    for file, name in called:
        view, _, own = name.rpartition(".")
        assert own in MODULES[view].__all__, f"{file} calls {name}"


def test_profiles_have_the_fields_that_the_contract_says() -> None:
    kernel = {*KernelTime.__dataclass_fields__, "gflops"}
    assert get_type_hints(devices.Kernel).keys() == kernel
    keys = re.findall(r'"(\w+)": (?:self|kernels)', inspect.getsource(Profile.to_dict))
    assert set(keys) == get_type_hints(devices.Profile).keys()


def test_a_type_that_json_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Strange(TypedDict):
        """Has bytes."""

        parts: bytes

    monkeypatch.setattr(written, "records", lambda: [Strange])
    monkeypatch.setattr(written, "get_type_hints", lambda *_, **more: {"parts": bytes})
    with pytest.raises(TypeError, match="JSON has no <class 'bytes'>"):
        written.text()


def test_no_other_file_of_the_page_states_what_python_answers() -> None:
    """A typedef that says "see py/tallow_page" would be a second statement."""
    second: list[Any] = [
        path
        for path in WEB.rglob("*.js")
        if re.search(r"@typedef [^\n]*see .*py/tallow_page", path.read_text("utf-8"))
    ]
    assert second == []


def test_the_page_does_not_load_the_contract() -> None:
    """It is types alone: its bytes would count in every first visit."""
    code = "import sys, tallow_page.app, tallow_page.open; "
    code += "sys.exit('tallow_page.contract' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "py")})
    assert done.returncode == 0
