"""One more model for the site, which is as good as free: it says which colour there is most of in
a picture. For tests of a view for which it doesn't matter what a network has learned."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, Route
from tests.onnx import graphs

from tallow_build.content import split_model

LABELS = ("red", "green", "blue")
LABELS_IN_CHINESE = ("红", "绿", "蓝")
SIDE = 32  # of its input


def add_colours(page: Page) -> None:
    """Has the site carry it, after its other models."""
    network = graphs.model(
        [
            graphs.node("GlobalAveragePool", "image", "mean"),
            graphs.node("Reshape", "mean flat", "logits"),
        ],
        [graphs.value("image", (1, 3, SIDE, SIDE))],
        [graphs.value("logits", (1, 3))],
        [graphs.weight("flat", np.int64([1, 3]))],
    ).SerializeToString()
    graph = split_model.graph_of(network, "colours.onnx")
    entry = {
        "name": "colours",
        "title": "Colours",
        "task": "image",
        "file": "colours.onnx",
        "card": "colours.json",
        "bytes": len(network),
        "sha256": hashlib.sha256(network).hexdigest(),
        "graph": {
            "file": "colours.graph",
            "bytes": len(graph),
            "sha256": hashlib.sha256(graph).hexdigest(),
        },
        "pieces": split_model.pieces_of(network, "colours.onnx"),
    }
    card = {
        **entry,
        "preprocess": {
            "size": SIDE,
            "crop": 1,
            "channels": "RGB",
            "mean": [0] * 3,
            "std": [0.1] * 3,
        },
        "input": {"name": "image"},
        "output": {"name": "logits", "kind": "logits"},
        "labels": "colours.labels.json",
        "labels_in": {"zh": "colours.labels.zh.json"},
    }
    files = {
        "colours.json": json.dumps(card),
        "colours.labels.json": json.dumps(LABELS),
        "colours.labels.zh.json": json.dumps(LABELS_IN_CHINESE),
        "colours.graph": graph,
        "colours.onnx": network,
    }
    for name, body in files.items():
        page.route(f"**/models/{name}", lambda route, _, body=body: route.fulfill(body=body))

    def list_it(route: Route) -> None:
        response = route.fetch()
        manifest = response.json()
        manifest["models"].append(entry)
        route.fulfill(response=response, json=manifest)

    page.route("**/models/manifest.json", list_it)


def colour(number: int) -> tuple[int, int, int]:
    """A colour whose three components differ."""
    return (number * 5 % 256 // 3 * 3, number * 11 % 256 // 3 * 3 + 1, 92)


def most(number: int) -> str:
    """The strongest component in the picture of this number."""
    parts = colour(number)
    return LABELS[parts.index(max(parts))]


def small(number: int) -> dict[str, Any]:
    """A picture of one colour, as a file to choose."""
    file = io.BytesIO()
    Image.new("RGB", (40, 30), colour(number)).save(file, "PNG")
    return {"name": f"{number}.png", "mimeType": "image/png", "buffer": file.getvalue()}
