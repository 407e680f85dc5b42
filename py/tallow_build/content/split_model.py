"""Splits a model, so that a page can start before all of it has loaded.

The graph, with its small weights, is a separate file: an ONNX model whose other weights are
external data in the .onnx file. That file is divided into pieces, each with its SHA-256, so that a
weight can be used as soon as its piece is loaded.
"""

from __future__ import annotations

import hashlib

from tallow.formats.onnx.read import wire

from ..errors import BuildError

MIN_BYTES = 1024
"""Smaller weights stay in the graph's file. Shapes and other values that are needed while a graph
is built are smaller."""

PIECE = 512 << 10
"""The minimum size of a piece, which ends where a weight ends."""


def graph_of(content: bytes, name: str, min_bytes: int = MIN_BYTES) -> bytes:
    """The model without its large weights, which are in a file of that name. Raises BuildError."""
    return _split(content, name, min_bytes)[0]


def pieces_of(content: bytes, name: str) -> list[tuple[int, str]]:
    """The end of each piece of the .onnx file, and its SHA-256; no weight spans two pieces. Raises
    BuildError."""
    pieces: list[tuple[int, str]] = []
    begin = 0
    ends = _split(content, name, MIN_BYTES)[1]
    for end in [*ends[:-1], len(content)]:  # not the rest alone
        if end - begin >= PIECE or end == len(content):
            pieces.append((end, hashlib.sha256(content[begin:end]).hexdigest()))
            begin = end
    return pieces


def _split(content: bytes, name: str, min_bytes: int) -> tuple[bytes, list[int]]:
    """The graph, and the end of each weight in the file."""
    ends: list[int] = []

    def external(_: int, offset: int, length: int) -> bytes:
        ends.append(offset + length)
        return wire.external(name, offset, length)

    graph = wire.replace_raw_data(memoryview(content), min_bytes, external)
    if graph is None:
        remedy = "let the model's make.py write it with the onnx package"
        raise BuildError(f"Splitting {name}", "it is not encoded like an ONNX file", remedy)
    return graph, ends
