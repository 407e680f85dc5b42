"""The plain route: a picture or a list of numbers in, labels and probabilities out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import FeedError, OptionError
from ..vision.io.decoding import decode_picture
from .bodies import json_of
from .datatypes import NUMPY, from_list
from .models import Arrays, Port

MOST_PIXELS = 1 << 26
"""Of a picture: a few kilobytes may say that they are gigabytes."""


@dataclass(frozen=True)
class Preparation:
    """What a model was trained to see. mean, std: of values 0 to 255, one or one per channel.
    crop: the share of the shorter side that is seen. labels: of the classes."""

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (255.0,)
    crop: float = 1.0
    labels: tuple[str, ...] = ()


def preparation_of(
    model: Path, mean: Sequence[float] | None, std: Sequence[float] | None, labels: str | None
) -> Preparation:
    """What the command line says; else what the model's card says, if card.json lies beside it.

    labels: a file with a list in JSON, or a label per line.
    Raises: OptionError for labels that are none and for a std of 0.
    """
    found = _of_card(model if model.is_dir() else model.parent)
    if mean is not None:
        found = replace(found, mean=tuple(mean))
    if std is not None:
        if not all(std):
            raise OptionError("--std: values are divided by it; it can't be 0")
        found = replace(found, std=tuple(std))
    return found if labels is None else replace(found, labels=_labels(Path(labels)))


def _of_card(folder: Path) -> Preparation:
    card = folder / "card.json"
    if not card.is_file():
        return Preparation()
    try:
        facts = json.loads(card.read_text("utf-8"))
        seen = facts.get("preprocess", {})
        file = folder.parent / facts["labels"] if "labels" in facts else None
        return Preparation(
            tuple(map(float, seen.get("mean", [0]))),
            tuple(map(float, seen.get("std", [255]))),
            float(seen.get("crop", 1)),
            _labels(file) if file is not None and file.is_file() else (),
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise OptionError(f"{card}: is no card of a model: {error}") from error


def _labels(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_text("utf-8")
        if path.suffix != ".json":
            return tuple(text.splitlines())
        found = json.loads(text)
    except ValueError as error:
        raise OptionError(f"{path}: is no list of labels: {error}") from error
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise OptionError(f"{path}: is no list of labels")
    return tuple(found)


def feeds_of(port: Port, body: bytes, content_type: str, how: Preparation, where: str) -> Arrays:
    """The model's only input, one row, of a picture's bytes or of JSON: a list of numbers, or
    {"data": list}.

    Raises: FeedError for what does not fit; DataError for bytes that are no picture.
    """
    if "json" in content_type:
        found = json_of(body)
        data = found.get("data") if isinstance(found, dict) else found
        if not isinstance(data, list):
            raise FeedError('give a list of numbers, or {"data": [...]}')
        if port.shape is None or -1 in port.shape[1:]:
            raise FeedError(f"the input {port.name!r} has open lengths; use the route infer")
        shape = (1, *port.shape[1:])
        return {port.name: from_list(port.name, port.datatype, shape, data)}
    return {port.name: _pixels(port, body, how, where)}


def _pixels(port: Port, body: bytes, how: Preparation, where: str) -> Any:
    import numpy as np
    from PIL import Image

    shape = port.shape or ()
    last = len(shape) == 4 and shape[3] in (1, 3) and shape[1] not in (1, 3)
    channels, sides = (
        (shape[3], shape[1:3]) if last else (shape[1] if len(shape) == 4 else 0, shape[2:])
    )
    if channels not in (1, 3) or -1 in sides or port.datatype == "BYTES":
        raise FeedError(f"the input {port.name!r}, {list(shape)}, takes no pictures")
    picture = decode_picture(body, where, MOST_PIXELS).convert("L" if channels == 1 else "RGB")
    height, width = sides
    scale = max(height / how.crop / picture.height, width / how.crop / picture.width)
    # Only what is seen is scaled: a line of 60,000 pixels would grow to gigabytes otherwise.
    left, right = _seen(picture.width, width, scale)
    top, bottom = _seen(picture.height, height, scale)
    picture = picture.resize((width, height), Image.Resampling.BICUBIC, (left, top, right, bottom))
    values: Any = np.asarray(picture, np.float32).reshape(height, width, channels)
    if any(len(each) not in (1, channels) for each in (how.mean, how.std)):
        raise FeedError(f"--mean and --std have one value or {channels}, one per channel")
    if port.datatype.startswith("FP"):
        values = (values - np.array(how.mean, np.float32)) / np.array(how.std, np.float32)
    values = values.astype(NUMPY[port.datatype])[None]
    return values if last else np.ascontiguousarray(values.transpose(0, 3, 1, 2))


def _seen(length: int, wanted: int, scale: float) -> tuple[float, float]:
    """Where the middle of a side begins and ends, if `wanted` pixels are seen after scaling."""
    grown = max(wanted, round(length * scale))
    start = (grown - wanted) // 2
    return start * length / grown, (start + wanted) * length / grown


def ranked(outputs: Mapping[str, Any], top: int, labels: Sequence[str]) -> list[dict[str, Any]]:
    """The most probable classes of the first output, one row: label, index, probability. What is
    not probabilities yet is put through softmax. Raises FeedError for NaN."""
    import numpy as np

    scores = next(iter(outputs.values())).astype(np.float64).ravel()
    if not np.isfinite(scores).all():
        raise FeedError("the model gives NaN or infinite values for these data")
    if scores.min() < 0 or not math.isclose(scores.sum(), 1, abs_tol=1e-3):
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
    best = np.argsort(-scores, kind="stable")[:top].tolist()
    return [
        {
            "label": labels[i] if i < len(labels) else str(i),
            "index": i,
            "probability": float(scores[i]),
        }
        for i in best
    ]
