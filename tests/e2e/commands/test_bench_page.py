"""`build.py bench --page` chooses photographs, asks the worker alone, and reports. Speed is not
tested."""

import json
import subprocess
import sys

import pytest
from bench import page

from tallow_build.paths import ROOT


@pytest.mark.browser
def test_photographs_are_answered_and_the_worker_alone(dist, tmp_path):
    figures = tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / "run.py"), "--page", "--devices", "wasm"]
    command += ["--photographs", "11", "--pause", "0", "--json", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr + done.stdout
    whole = json.loads(figures.read_text("utf-8"))
    assert [visit["visit"] for visit in whole["visits"]] == ["first", "second"]
    for visit in whole["visits"]:
        taken = visit["photographs"]
        assert len(taken) == 11
        assert len({one["label"] for one in taken}) > 4
        for one in taken:
            assert 0 < one["shown"] < one["chosen"]
            assert one["alone"] > 0
    assert "| squeezenet1_1 | wasm   | second | later " in done.stdout


def photograph(alone, shown, chosen, file="a.png", label="cat"):
    return {"file": file, "label": label, "alone": alone, "shown": shown, "chosen": chosen}


def visit(photographs, device="wasm"):
    about = {"model": "squeezenet1_1", "device": device, "visit": "first"}
    return {**about, "photographs": photographs}


def test_the_first_photographs_and_the_later_ones_are_apart():
    first = [photograph(10, 12, 30)] * page.FIRST
    later = [photograph(10, 11, 20), photograph(9, 13, 24), photograph(14, 15, 28)]
    one, other = page.rows([visit([*first, *later])])
    assert (one["part"], other["part"]) == (f"first {page.FIRST}", "later")
    assert (one["alone"], one["shown"], one["chosen"]) == (10, 12, 30)
    assert (other["alone"], other["shown"], other["chosen"]) == (10, 13, 24)
    assert one["of_later"] == 30 / 24
    assert other["of_later"] is None
    # The differences are those of each photograph, since they follow one another.
    assert (other["shown_more"], other["chosen_more"]) == (1, 14)
    table = page.tell([one, other]).splitlines()
    assert [cell.strip() for cell in table[2].split("|")][-2] == "1.25"


def test_two_answers_for_a_photograph_are_a_failure():
    on_wasm = [photograph(1, 1, 1), photograph(1, 1, 1, file="b.png")]
    on_webgpu = [photograph(1, 1, 1), photograph(1, 1, 1, file="b.png", label="dog")]
    found = [visit(on_wasm), visit(on_webgpu, "webgpu")]
    assert page.disagreements(found[:1]) == []
    assert page.disagreements(found) == ["FAILED: squeezenet1_1 calls b.png cat and dog"]
