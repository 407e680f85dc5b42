"""Runs cases on a device of Tallow's, and on oracles that know the right answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..onnx.conformance import runners
from ..onnx.conformance.runners import ProcessRunner, Runner
from .case import Case
from .judgement import Verdict, judge
from .limits import PATIENCE

_HERE = Path(__file__).parent
ORACLES = ("onnxruntime", "reference")
WORKERS = (runners.WORKER, _HERE / "program_worker.py")


def _process(worker: str, argument: str) -> ProcessRunner:
    return ProcessRunner(argument, _HERE / worker, PATIENCE)


class Bench:
    """Judges cases on a device. Raises BuildError if a process that it needs does not start."""

    def __init__(self, device: Runner) -> None:
        self.device = device
        self._oracles = {name: _process("oracle_worker.py", name) for name in ORACLES}
        self._numpy = None if device.device == "numpy" else _process("device_worker.py", "numpy")

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """The verdict on each case. The second oracle is slow, so it is asked only if the first
        does not settle a case."""
        first, second = ORACLES
        with ThreadPoolExecutor(1) as other:
            asked = other.submit(self._answers, first, cases)
            said = self.device.ask(cases)
            answers = [{first: answer} for answer in asked.result()]
        verdicts = [self._verdict(*each) for each in zip(cases, said, answers, strict=True)]
        left = [i for i, verdict in enumerate(verdicts) if not verdict.settled]
        asked_again = self._answers(second, [cases[i] for i in left])
        for i, answer in zip(left, asked_again, strict=True):
            verdicts[i] = self._verdict(cases[i], said[i], {**answers[i], second: answer})
        return verdicts if self._numpy is None else self._beside_numpy(verdicts, said)

    def _verdict(self, case: Case, said: dict[str, Any], others: dict[str, Any]) -> Verdict:
        return judge(case, said, others, rough=self._numpy is not None)

    def _answers(self, oracle: str, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """The oracle's answer to each case; a case that crashes it has no answer."""
        answers = self._oracles[oracle].ask(cases)
        return [{"error": a["ended"]} if "ended" in a else a for a in answers]

    def _beside_numpy(
        self, verdicts: list[Verdict], said: Sequence[dict[str, Any]]
    ) -> list[Verdict]:
        """If no oracle answers, or they disagree, the devices must agree."""
        assert self._numpy
        open_ = [i for i, one in enumerate(verdicts) if one.status in ("unjudged", "disputed")]
        cases = [verdicts[i].case for i in open_]
        for i, answer in zip(open_, self._numpy.ask(cases), strict=True):
            if not answer.get("error", "ended"):
                numpy = {"Tallow on NumPy": {"outputs": answer["outputs"][0]}}
                beside = self._verdict(verdicts[i].case, said[i], numpy)
                if beside.status == "finding" or verdicts[i].status == "unjudged":
                    verdicts[i] = beside
        return verdicts

    def close(self) -> None:
        """Ends the processes, except the device's."""
        for runner in (*self._oracles.values(), self._numpy):
            if runner:
                runner.close()


@contextmanager
def started(device: str, inside: str | None = None) -> Iterator[Bench]:
    """The bench of a device by its name in `runners.DEVICES`, in this browser's Python or in this
    machine's; WebGPU's is in a browser."""
    with ExitStack() as stack:
        runner: Runner
        if inside or device == "webgpu":
            runner = stack.enter_context(runners.started(device, inside, WORKERS))
        else:
            runner = _process("device_worker.py", "webgpu" if device == "native" else device)
            stack.callback(runner.close)
        bench = Bench(runner)
        stack.callback(bench.close)
        yield bench
