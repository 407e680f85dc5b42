"""The networks that are served, with random weights, exported from Tallow's modules.

The first axis of their inputs is open, so that requests share batches.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tallow as tl
from tallow_build.paths import BUILD, MODELS

MADE = BUILD / "bench" / "service"
TOKENS = 128
Arrays = dict[str, Any]


class _Encoder(tl.nn.Module):
    """BERT with the sizes of MiniLM-L6, and the inputs of its exports: a vector per token."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = tl.zoo.BERT(width=384, layers=6, heads=12)

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        return self.bert(input_ids, token_type_ids, attention_mask != 0)[0]


def _resnet50(path: Path) -> None:
    shape = (("N", 3, 224, 224), "float32")
    tl.onnx.save(tl.zoo.resnet50().eval(), path, inputs={"x": shape}, fold=True)


def _minilm(path: Path) -> None:
    names = ("input_ids", "attention_mask", "token_type_ids")
    tl.onnx.save(_Encoder().eval(), path, inputs=dict.fromkeys(names, (("N", TOKENS), "int64")))


_MAKERS: dict[str, Callable[[Path], None]] = {"resnet50": _resnet50, "minilm": _minilm}
NAMES = ("resnet50", "minilm", "mnist")


def prepare(name: str) -> Path:
    """The file of a network, made if it is missing."""
    if name not in _MAKERS:
        return MODELS / name / f"{name}.onnx"
    path = MADE / f"{name}.onnx"
    if not path.exists():
        MADE.mkdir(parents=True, exist_ok=True)
        tl.set_default_device("numpy")
        tl.manual_seed(0)
        part = path.with_suffix(".part")
        _MAKERS[name](part)
        part.rename(path)
    return path


def feeds(name: str, seed: int) -> Arrays:
    """The inputs of a request: one row."""
    random = np.random.default_rng(seed)
    if name == "mnist":
        return {"image": random.random((1, 1, 28, 28), np.float32)}
    if name == "resnet50":
        return {"x": random.standard_normal((1, 3, 224, 224), np.float32)}
    return {
        "input_ids": random.integers(0, 30522, (1, TOKENS)),
        "attention_mask": np.ones((1, TOKENS), np.int64),
        "token_type_ids": np.zeros((1, TOKENS), np.int64),
    }


def times(path: Path, factor: int) -> None:
    """A model of one input x, rows of two, which it multiplies."""
    path.parent.mkdir(parents=True)
    tl.onnx.save(lambda x: {"y": x * factor}, path, inputs={"x": (("N", 2), "float32")})


def digits(count: int) -> list[tuple[Any, Any]]:
    """Inputs of mnist, with the logits that NumPy finds."""
    with tl.onnx.load(prepare("mnist")).session("numpy") as session:
        images = [feeds("mnist", seed)["image"] for seed in range(count)]
        return [(image, session.run({"image": image})["logits"]) for image in images]
