"""The end of a run says which files took how much processor time."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tallow_build.paths import ROOT
from tallow_build.process import environment

SETTINGS = """[pytest]
addopts = -p no:cacheprovider -p no:hypothesispytest -p tests.processor_time
"""
HERE = """
import time

def test_one():
    until = time.process_time() + 0.6
    while time.process_time() < until:
        pass

def test_two():
    pass
"""
# It has not ended when it is counted.
ELSEWHERE = """
import subprocess, sys

WORK = "import time\\nwhile time.process_time() < 1.6: pass\\nprint(flush=True)\\ninput()"

def test_elsewhere():
    global busy
    pipe = subprocess.PIPE
    busy = subprocess.Popen([sys.executable, "-c", WORK], stdin=pipe, stdout=pipe)
    busy.stdout.readline()
"""


def test_a_run_says_which_files_took_how_much(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    for number, text in enumerate((HERE, ELSEWHERE, "def test_nothing():\n    pass\n")):
        (tmp_path / f"test_{number}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "--dist=loadfile"],
        cwd=tmp_path,
        env=environment({"PYTHONPATH": str(ROOT)}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.partition("processor seconds")[2]
    taken = {name: int(number) for number, name in re.findall(r"^ +(\d+)  (.+)$", said, re.M)}
    assert taken["test_0.py"] >= 1 and taken["test_1.py"] >= 2 and taken["test_2.py"] == 0
    assert taken["in all"] >= taken["test_0.py"] + taken["test_1.py"] - 1
