"""Networks that other people published in packages of PyPI and npm: `bench --networks`.

others.json has where each is from, and its inputs: random numbers of a normal distribution, whole
numbers `below` a bound, or one `value`.
"""

from __future__ import annotations

import json
import zlib
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from bench.cases import Case
from tallow_build.environment.sources import fetch, origin
from tallow_build.paths import CACHE

LIST = Path(__file__).with_name("others.json")
FOLDER = CACHE / "networks"


@cache
def records() -> dict[str, dict[str, Any]]:
    """The networks by their names."""
    return {each["name"]: each for each in json.loads(LIST.read_text("utf-8"))["networks"]}


def case(name: str) -> Case:
    """One of them."""
    record = records()[name]
    return Case(
        name,
        record["title"],
        make=partial(content, record),
        inputs=partial(values, record),
        tolerance=record.get("tolerance", 1e-3),
    )


def content(record: dict[str, Any]) -> bytes:
    """The ONNX file, with its weights. Raises BuildError."""
    parts = [record[key] for key in ("made_from", "data") if key in record]
    paths = [FOLDER / record["name"] / Path(part["member"]).name for part in parts]
    fetch([(origin(part, str(LIST)), path) for part, path in zip(parts, paths, strict=True)])
    return onnx.load(paths[0]).SerializeToString() if len(parts) > 1 else paths[0].read_bytes()


def values(record: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """What it is given, the same every time."""
    random = np.random.default_rng(zlib.crc32(record["name"].encode()))
    found: dict[str, NDArray[Any]] = {}
    for each in record["inputs"]:
        shape, type_ = each.get("shape", ()), each.get("type", "float32")
        if "below" in each:
            numbers: Any = random.integers(0, each["below"], shape)
        elif "value" in each:
            numbers = np.full(shape, each["value"])
        else:
            numbers = random.standard_normal(shape)
        found[each["name"]] = np.asarray(numbers, type_)
    return found
