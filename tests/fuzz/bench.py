"""What runs cases: a device of Tallow's, and beside it those that know the right answer."""

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
_ORACLES = ("onnxruntime", "reference")
WORKERS = (runners.WORKER, _HERE / "program_worker.py")


def _process(worker: str, argument: str) -> ProcessRunner:
    return ProcessRunner(argument, _HERE / worker, PATIENCE)


class Bench:
    """Judges cases of a device. Raises BuildError where what it needs does not start."""

    def __init__(self, device: Runner) -> None:
        self.device = device
        self._oracles = _process("oracle_worker.py", ",".join(_ORACLES))
        self._alone = {name: _process("oracle_worker.py", name) for name in _ORACLES}
        self._numpy = None if device.device == "numpy" else _process("device_worker.py", "numpy")

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        """The verdict of each case."""
        with ThreadPoolExecutor(1) as other:
            asked = other.submit(self._others, cases)
            said = self.device.ask(cases)
            others = asked.result()
        rough = self._numpy is not None
        verdicts = [judge(*each, rough=rough) for each in zip(cases, said, others, strict=True)]
        return verdicts if self._numpy is None else self._beside_numpy(verdicts, said)

    def _others(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        answers = self._oracles.ask(cases)
        for i, answer in enumerate(answers):
            if "ended" in answer:  # one of them did: ask each alone
                answers[i] = {
                    name: said.get(name, {"error": "it ended the process"})
                    for name, runner in self._alone.items()
                    for said in runner.ask(cases[i : i + 1])
                }
        return answers

    def _beside_numpy(
        self, verdicts: list[Verdict], said: Sequence[dict[str, Any]]
    ) -> list[Verdict]:
        """Where nobody else answers, or not with one voice, the devices must agree."""
        assert self._numpy
        open_ = [i for i, one in enumerate(verdicts) if one.status in ("unjudged", "disputed")]
        cases = [verdicts[i].case for i in open_]
        for i, answer in zip(open_, self._numpy.ask(cases), strict=True):
            if not answer.get("error", "ended"):
                numpy = {"Tallow on NumPy": {"outputs": answer["outputs"][0]}}
                beside = judge(verdicts[i].case, said[i], numpy, rough=True)
                if beside.status == "finding" or verdicts[i].status == "unjudged":
                    verdicts[i] = beside
        return verdicts

    def close(self) -> None:
        """Ends the processes, but not the device's."""
        for runner in (self._oracles, *self._alone.values(), self._numpy):
            if runner:
                runner.close()


@contextmanager
def started(device: str) -> Iterator[Bench]:
    """The bench of a device as the command line knows it: numpy, native or webgpu."""
    with ExitStack() as stack:
        runner: Runner
        if device == "webgpu":
            runner = stack.enter_context(runners.started(device, WORKERS))
        else:
            runner = _process("device_worker.py", "numpy" if device == "numpy" else "webgpu")
            stack.callback(runner.close)
        bench = Bench(runner)
        stack.callback(bench.close)
        yield bench
