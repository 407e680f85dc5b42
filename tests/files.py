"""A model as the page has it: its graph, and the file with its weights, which is on its way."""

from __future__ import annotations

from pathlib import Path

from tallow_build.content import split_model


class Part:
    """As web/site/streamed.js has it; the bytes are there once somebody has waited for them."""

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self.here = False

    async def ready(self) -> None:
        self.here = True

    def take(self) -> memoryview:
        assert self.here
        return self._content


class Sender:
    """A file that is on its way."""

    def __init__(self, content: bytes) -> None:
        self.size = len(content)
        self.asked: list[tuple[int, int]] = []
        self._content = memoryview(content)

    def part(self, offset: int, length: int) -> Part:
        self.asked.append((offset, length))
        return Part(self._content[offset : offset + length])


class Files:
    """What the worker gives tallow_page.app of a model."""

    def __init__(self, path: Path, least: int = split_model.MIN_BYTES) -> None:
        content = path.read_bytes()
        self.graph = split_model.graph_of(content, path.name, least)
        self.weights = Sender(content)
