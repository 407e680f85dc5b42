"""The tables of `bench --text`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from bench import text
from bench.text_files import ROWS


def figures(library: str, *milliseconds: float, answer: str = "same") -> text.Figures:
    """Of a library that took so long in each round."""
    rounds = [{"ms": each, "cpu_ms": 2 * each} for each in milliseconds]
    return {"library": library, "load_ms": 1.0, "first_ms": 9.0, "answer": answer, "rounds": rounds}


def test_a_line_has_the_ratio_to_the_best_peer(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        figures(text.TALLOW, 100, 120, 500),
        figures("transformers.js", 480),
        figures("wllama", 240, answer="another"),
        {"library": "third", "failed": "no memory", "rounds": []},
    ]
    text.tell([(ROWS["whisper"], "wasm", found)])
    printed = capsys.readouterr().out
    (ours,) = (line for line in printed.splitlines() if f"| {text.TALLOW}" in line)
    assert [cell.strip() for cell in ours.split("|")[5:9]] == [
        "9.00 ms",
        "120 ms",
        "1/2.0",
        "240 ms",
    ]
    assert "FAILED: no memory" in printed
    assert f"whisper, wasm: wllama says 'another', {text.TALLOW} 'same'" in printed


def test_the_processors_of_programs_that_were_started() -> None:
    code = "n = 0\nfor i in range(10**7): n += i\nprint(flush=True)\ninput()"
    before = text.processor_seconds()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as busy:
        assert busy.stdout is not None
        busy.stdout.readline()
        taken = text.processor_seconds() - before
        busy.communicate(b"\n")
    assert 0.05 < taken < 60
