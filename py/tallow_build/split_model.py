"""A model in parts, so that a page can begin before all of it has arrived.

The graph, with its small weights, is a file of its own: an ONNX model whose other weights are
external data, and lie in the .onnx file. That is divided into pieces, each with its SHA-256, so
that a weight is used when its piece is there.
"""

from __future__ import annotations

import hashlib

from tallow.formats.onnx.read import wire

from .errors import BuildError

LEAST = 1024
"""Bytes of a weight that the graph leaves to the .onnx file. Shapes, and what else is computed when
a graph is built, have fewer."""

PIECE = 512 << 10
"""Bytes after which a piece ends, where a weight does."""


def graph_of(content: bytes, name: str, least: int = LEAST) -> bytes:
    """The model without its large weights, which lie in a file of that name. Raises BuildError."""
    return _parted(content, name, least)[0]


def pieces_of(content: bytes, name: str) -> list[tuple[int, str]]:
    """Where each piece of the .onnx file ends, and its SHA-256; a weight lies in one alone. Raises
    BuildError."""
    pieces: list[tuple[int, str]] = []
    begin = 0
    ends = _parted(content, name, LEAST)[1]
    for end in [*ends[:-1], len(content)]:  # what is behind the last weight is of no use alone
        if end - begin >= PIECE or end == len(content):
            pieces.append((end, hashlib.sha256(content[begin:end]).hexdigest()))
            begin = end
    return pieces


def _parted(content: bytes, name: str, least: int) -> tuple[bytes, list[int]]:
    """The graph, and where each weight of the file ends."""
    ends: list[int] = []

    def elsewhere(_: int, offset: int, length: int) -> bytes:
        ends.append(offset + length)
        return wire.external(name, offset, length)

    graph = wire.parted(memoryview(content), least, elsewhere)
    if graph is None:
        remedy = "let the model's make.py write it with the onnx package"
        raise BuildError(f"Parting {name}", "it is not written as ONNX files are", remedy)
    return graph, ends
