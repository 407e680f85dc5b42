"""Runs of the Train view, on a few pictures of three classes, and a storage that is a dict."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from random import Random
from typing import Any

from tallow_page.train import learning
from tallow_page.train.data_idx import data_of

SIDE = 8
LAYERS = [
    {"kind": "conv2d", "out": 4, "kernel": 3, "padding": 1}, {"kind": "tanh"},
    {"kind": "avgpool2d", "size": 2}, {"kind": "flatten"}, {"kind": "linear", "out": 10},
]  # fmt: skip
SETTINGS: dict[str, Any] = {
    "data": {"name": "mnist", "count": None},
    "layers": LAYERS,
    "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0},
    "schedule": "onecycle", "batch": 8, "epochs": 2, "augment": [], "seed": 3,
}  # fmt: skip


def idx(content: bytes, *shape: int) -> bytes:
    """A file in the idx format."""
    return bytes((0, 0, 8, len(shape))) + struct.pack(f">{len(shape)}I", *shape) + content


def contents(train: int = 80, valid: int = 20, side: int = SIDE) -> dict[str, bytes]:
    """The four files of a data set: bars, whose row is their class."""
    random = Random(0)
    files: dict[str, bytes] = {}
    for prefix, count in (("train", train), ("t10k", valid)):
        labels = bytes(number % 3 for number in range(count))
        pictures = bytearray()
        for label in labels:
            picture = bytearray(random.randrange(40) for _ in range(side * side))
            picture[2 * label * side : (2 * label + 1) * side] = bytes([250]) * side
            pictures += picture
        files[f"{prefix}-images-idx3-ubyte"] = idx(bytes(pictures), count, side, side)
        files[f"{prefix}-labels-idx1-ubyte"] = idx(labels, count)
    return files


class Kept:
    """The page's storage."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, bytes]] = {}
        self.room: int | None = None
        """Bytes of a file, at most."""
        self.order: list[str] = []

    async def files(self, run: str) -> list[str]:
        return sorted(self.runs.get(run, {}))

    async def read(self, run: str, file: str) -> bytes:
        return self.runs[run][file]

    async def write(self, run: str, file: str, content: bytes) -> str:
        if self.room is not None and len(content) > self.room:
            return "full"
        self.order.append(file)
        self.runs.setdefault(run, {})[file] = content
        return ""

    async def drop(self, run: str, file: str) -> None:
        self.runs[run].pop(file, None)

    def about(self, run: str = "r") -> Any:
        return json.loads(self.runs[run]["about.json"])


class Page:
    """What the worker does."""

    def __init__(self, run_async: Callable[..., Any], monkeypatch: Any) -> None:
        self._run_async = run_async
        self.kept = Kept()
        self.opened = 0
        self.breaks = 0
        """How often others could get in without a report."""

        async def opened(source: Any) -> Any:
            self.opened += 1
            yield {"stage": "fetch", "done": 1, "total": 1, "file": "a"}
            yield data_of("mnist", contents(**source.get("sizes", {})))

        monkeypatch.setattr(learning, "opened_data", opened)
        monkeypatch.setattr(learning, "_TOLD", 0.0)
        self.reload()

    def reload(self) -> None:
        """Another worker begins."""
        learning.close_lesson()
        learning._data = None

    def run(
        self,
        until: Callable[[Any], bool] = lambda _: False,
        source: dict[str, Any] | None = None,
        one: bool = False,
        run: str = "r",
        **settings: Any,
    ) -> tuple[list[Any], Any]:
        """Learns; until: the report at which the page pauses. The reports, and the answer."""
        options = {"run": run, "name": "Run", "settings": SETTINGS | settings, "one": one}

        async def learned() -> tuple[list[Any], Any]:
            reports: list[Any] = []
            action = learning.run_training(
                json.dumps(options), {"published": "mnist", **(source or {})}, self.kept
            )
            async for item in action:
                found = json.loads(item)
                if "answer" in found:
                    return reports, found["answer"]
                if found["progress"] is None:
                    self.breaks += 1
                    continue
                reports.append(found["progress"])
                if until(found["progress"]):
                    await action.aclose()
                    return reports, None
            raise AssertionError("no answer")

        return self._run_async(learned())


def at(stage: str) -> Callable[[Any], bool]:
    """Whether a report is of a stage."""
    return lambda report: report["stage"] == stage
