"""`build.py bench` measures, reports and refuses wrong answers. Speed is not tested."""

import base64
import json
import subprocess
import sys

import numpy as np
import pytest
from bench import cases, engines, figures, table
from bench.answers import WrongAnswerError, deviation
from bench.memory import activation_bytes, largest_live
from bench.rounds import take_turns

from tallow.compile import Plan
from tallow.compile.plan import Port, Slot, Step
from tallow_build.paths import ROOT

TIMES = ("boot_ms", "create_ms", "first_ms", "warm_ms")


@pytest.fixture(scope="module")
def smoke(dist, tmp_path_factory):
    """The figures and the output of `bench --smoke`."""
    file = tmp_path_factory.mktemp("bench") / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / "run.py"), "--smoke", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text("utf-8")), done.stdout


@pytest.mark.browser
def test_every_engine_gave_the_same_answer(smoke):
    rows = [*smoke[0]["networks"], *smoke[0]["operators"]]
    assert [(row["case"], row["engine"]) for row in rows] == [
        (case, engine) for case in ("mnist", "conv3-8-16") for engine in engines.USUAL
    ]
    assert not any(row["failed"] for row in rows)
    assert len({row["class"] for row in smoke[0]["networks"]}) == 1
    assert all(0 <= row["deviation"] < 1e-3 for row in rows)


@pytest.mark.browser
def test_the_figures_are_complete(smoke):
    about = smoke[0]
    assert about["onnxruntime_web"] == "1.30.0"
    assert about["chromium"]
    for row in [*about["networks"], *about["operators"]]:
        assert all(row[time] > 0 for time in TIMES), row
        assert row["first_ms"] > row["create_ms"]
        assert len(row["first_each_ms"]) == 1
        assert row["warm_runs"] >= 2
        low, high = row["quartiles_ms"]
        assert low <= row["warm_ms"] <= high
        assert row["adapter"]
        peers = ["ort"] if row["engine"] in engines.PEERS else []
        assert list(row["warm_ms_of"]) == list(row["first_ms_of"]) == peers
        assert (row["gflops"] is not None) == (row["case"] != "mnist")


@pytest.mark.browser
def test_the_gpu_is_counted(smoke):
    rows = {(row["case"], row["engine"]): row for row in smoke[0]["networks"]}
    ours, peer = rows["mnist", "tallow-webgpu"], rows["mnist", "ort-webgpu"]
    assert smoke[0]["adapters"] == [ours["adapter"]] == [peer["adapter"]]
    for row in (ours, peer):
        assert row["kernels"] > 0
        assert row["dispatches"] > 0
        assert row["gpu_peak_bytes"] >= row["gpu_held_bytes"] > 0
    # The counts from outside agree with those of the runner itself.
    assert ours["gpu_held_bytes"] == ours["runner_bytes"]
    assert 0 < ours["live_bytes"] <= ours["activation_bytes"] < ours["gpu_held_bytes"]
    assert 0 < ours["python_ms"] < ours["warm_ms"]
    for engine in ("tallow-numpy", "ort-wasm"):
        assert rows["mnist", engine]["dispatches"] == 0


@pytest.mark.browser
def test_the_table(smoke):
    about, printed = smoke
    assert about["adapters"][0] in printed.splitlines()[0]
    for engine in engines.USUAL:
        assert f"| mnist   | {engine} " in printed


def test_dist_carries_nothing_of_it(dist):
    assert not [*dist.rglob("ort[-.]*"), *dist.rglob("litert*")]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([1.0, 2.0], "2 values, expected 3"),
        ([1.0, 2.0, 3.1], "off by"),
        ([1.0, np.nan, 3.0], "off by nan"),
        ([1.0, 3.0001, 3.0], "class 1, expected 2"),
    ],
)
def test_a_wrong_answer_is_refused(answer, words):
    expected = np.array([1.0, 2.9999, 3.0], np.float32)
    right = np.array([1.0, 2.9999, 3.001], np.float32)
    assert deviation(right, expected, classes=True) == pytest.approx(1 / 3000, rel=1e-3)
    with pytest.raises(WrongAnswerError, match=words):
        deviation(np.array(answer, np.float32), expected, classes=True)


class Fake:
    """An engine that gives this answer from its `lies`-th request on, before that the right one."""

    adapter, boot_ms = "none", 1.0

    def __init__(self, name, right, wrong, lies):
        self.name, self.answers = name, [right] * lies + [wrong] * 9

    def first(self, files):
        return {"create_ms": 1.0, "first_ms": 2.0, "answer": self._next()}

    def turn(self):
        return {"times": [3.0, 4.0], "answer": self._next()}

    def finish(self):
        return {"kernels": 1, "dispatches": 1}

    def _next(self):
        values = self.answers.pop(0)
        return [{"type": values.dtype.name, "data": base64.b64encode(values.tobytes()).decode()}]


@pytest.mark.parametrize("lies", [0, 1, 2])
def test_what_is_wrong_has_no_time(lies):
    case = cases.matmul(256)
    right = np.arange(4, dtype=np.float32)
    rows = {name: figures.Figures(case, right, name) for name in ("tallow-webgpu", "ort-webgpu")}
    liar, honest = Fake("tallow-webgpu", right, -right, lies), Fake("ort-webgpu", right, right, 9)
    take_turns([liar, honest], rows, dict.fromkeys(rows), 2)
    plain = [row.summary() for row in rows.values()]
    figures.compare(plain)
    assert "off by" in plain[0]["failed"]
    assert "warm_ms" not in plain[0]
    assert plain[1]["warm_ms"] == 3.5
    assert "FAILED" in table.micro(plain)
    assert plain[0]["failed"] in table.failures(plain)


def plan(slots, run):
    """A plan whose input is slot 0 and whose output is slot 1; run: (reads, write, numbers)."""
    steps = [
        Step("", [*reads, write], [], ((numbers,), "float32"), []) for reads, write, numbers in run
    ]
    ports = [Port("", slot, "float32", (4,), 16) for slot in (0, 1)]
    slots = [Slot(size, kind) for size, kind in slots]
    return Plan("", "webgpu", slots, ports[:1], ports[1:], [], [], steps)


@pytest.mark.parametrize(
    ("slots", "run", "live", "held"),
    [
        # one step: its input and its output
        ([(16, "input"), (32, "output")], [([0], 1, 8)], 48, 48),
        # the input is still to be read while 64 bytes are made; weights do not count
        (
            [(16, "input"), (32, "output"), (64, "scratch"), (999, "weight")],
            [([0, 3], 2, 16), ([0, 2], 1, 8)],
            112,
            112,
        ),
        # a slot with two tenants, only the first of which is large; a slot that no step uses
        (
            [(16, "input"), (16, "output"), (64, "scratch"), (32, "scratch"), (99, "scratch")],
            [([0], 2, 16), ([2], 3, 8), ([3], 2, 4), ([2], 1, 4)],
            96,
            128,
        ),
        # in place
        (
            [(16, "input"), (16, "output"), (64, "scratch")],
            [([0], 2, 16), ([2], 2, 16), ([2], 1, 4)],
            80,
            96,
        ),
    ],
)
def test_the_largest_live_set(slots, run, live, held):
    made = plan(slots, run)
    assert largest_live(made) == live
    assert activation_bytes(made) == held
