"""A service in a process of its own, and small models for it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

import onnx
from onnx import TensorProto as T
from onnx import helper

ROOT = Path(__file__).resolve().parents[3]
MNIST = ROOT / "models" / "mnist" / "mnist.onnx"


class Service:
    """`python -m tallow serve` with arguments, on ports that are free unless `port` is given.

    lines: what it has logged. http, grpc: its addresses.
    """

    def __init__(
        self, *arguments: object, port: int = 0, environment: dict[str, str] | None = None
    ) -> None:
        ports = ("--host", "127.0.0.1", "--port", str(port), "--grpc-port", "0")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tallow", "serve", *map(str, arguments), *ports],
            stderr=subprocess.PIPE, text=True, cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT / "py")} | (environment or {}),
        )  # fmt: skip
        self.lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        found = re.search(r"http://(\S+) and grpc://(\S+)", self.line("serving on"))
        assert found
        self.http, self.grpc = found.groups()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            with self._more:
                self.lines.append(line.rstrip())
                self._more.notify_all()
        with self._more:
            self.lines.append("(end)")
            self._more.notify_all()

    def line(self, part: str) -> str:
        """Waits for a line with these words."""
        found: list[str] = []

        def there() -> bool:
            found[:] = [each for each in self.lines if part in each]
            return bool(found) or "(end)" in self.lines

        with self._more:
            assert self._more.wait_for(there, 60), self.lines
        assert found, self.lines
        return found[-1]

    def ask(
        self, path: str, body: bytes | None = None, method: str | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Status and body of an answer over HTTP."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        if body is not None and "content-type" not in named:
            named["content-type"] = "application/json"
        request = urllib.request.Request(f"http://{self.http}{path}", body, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def figure(self, name: str, **labels: str) -> float:
        """A measure of /metrics; 0 if there is none yet."""
        for line in self.ask("/metrics")[1].decode().splitlines():
            if line.startswith(f"{name}{{") and all(
                f'{key}="{value}"' in line for key, value in labels.items()
            ):
                return float(line.rpartition(" ")[2])
        return 0.0

    def end(self) -> int:
        """Ends it by SIGTERM; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self._reader.join()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        assert self.process.stderr
        self.process.stderr.close()


def _saved(path: Path, nodes: Any, inputs: Any, outputs: Any, constants: Any = ()) -> Path:
    def infos(records: Any) -> list[Any]:
        return [helper.make_tensor_value_info(*each) for each in records]

    graph = helper.make_graph(
        nodes, path.stem, infos(inputs), infos(outputs), [helper.make_tensor(*x) for x in constants]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    opsets = [helper.make_opsetid("", 21)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return path


def scaled(path: Path, factor: float) -> Path:
    """A model of one input: y = factor · x, rows of two."""
    return _saved(
        path, [helper.make_node("Mul", ["x", "f"], ["y"])], [("x", T.FLOAT, ["N", 2])],
        [("y", T.FLOAT, ["N", 2])], [("f", T.FLOAT, [], [factor])],
    )  # fmt: skip


def kinds(path: Path) -> Path:
    """A model of several inputs and outputs, of several types; without a batch."""
    types = {"h": T.FLOAT16, "i": T.INT8, "b": T.BOOL, "s": T.STRING}
    node = helper.make_node
    nodes = [node("Add", ["h", "h"], ["h2"]), node("Neg", ["i"], ["i2"]),
             node("Not", ["b"], ["b2"]), node("Identity", ["s"], ["s2"])]  # fmt: skip
    return _saved(path, nodes, [(name, kind, [3]) for name, kind in types.items()],
                  [(f"{name}2", kind, [3]) for name, kind in types.items()])  # fmt: skip


def picked(path: Path) -> Path:
    """A model of rows that picks one of five numbers; an index beyond them is an error."""
    return _saved(
        path, [helper.make_node("Gather", ["table", "i"], ["y"])], [("i", T.INT64, ["N"])],
        [("y", T.FLOAT, ["N"])], [("table", T.FLOAT, [5], [0.0, 1.0, 2.0, 3.0, 4.0])],
    )  # fmt: skip


def counted(path: Path) -> Path:
    """A model that counts to `turns`, one after the other: it takes as long as one wants."""
    body = helper.make_graph(
        [helper.make_node("Add", ["x", "one"], ["y"]), helper.make_node("Identity", ["c"], ["d"])],
        "turn",
        [helper.make_tensor_value_info("i", T.INT64, []),
         helper.make_tensor_value_info("c", T.BOOL, []),
         helper.make_tensor_value_info("x", T.FLOAT, [])],
        [helper.make_tensor_value_info("d", T.BOOL, []),
         helper.make_tensor_value_info("y", T.FLOAT, [])],
        [helper.make_tensor("one", T.FLOAT, [], [1.0])],
    )  # fmt: skip
    loop = helper.make_node("Loop", ["turns", "", "zero"], ["count"], body=body)
    return _saved(path, [loop], [("turns", T.INT64, [])], [("count", T.FLOAT, [])],
                  [("zero", T.FLOAT, [], [0.0])])  # fmt: skip
