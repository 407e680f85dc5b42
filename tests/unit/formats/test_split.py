"""GGUF files in parts, as llama.cpp's gguf-split writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.files.serving import running

import tallow as tl
from tallow.errors import FormatError
from tallow.formats.gguf import parts_of

from .gguf_files import Raw, Value, gguf

ARRAYS = {name: np.full((2, 3), at, np.float32) for at, name in enumerate("abcd")}
NAMES = [f"m-{part:05}-of-00003.gguf" for part in (1, 2, 3)]


def split(**changes: Any) -> dict[str, bytes]:
    """Four tensors in three parts; the first has the metadata."""
    found = {}
    for part, own in enumerate(("a", "bc", "d")):
        said: dict[str, Any] = {}
        if part == 0:
            said |= {"general.architecture": "test", "general.name": "whole"}
        said |= {"split.no": Value("H", part), "split.count": Value("H", 3)}
        said |= {"split.tensors.count": Value("i", 4)} | changes
        tensors = {n: Raw("F32", ARRAYS[n].shape, ARRAYS[n].tobytes()) for n in own}
        found[NAMES[part]] = gguf(said, tensors)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in split().items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def check(weights: Any) -> None:
    assert list(weights) == list("abcd") and weights.metadata["general.name"] == "whole"
    for name, array in ARRAYS.items():
        assert (weights[name].numpy() == array).all()


def test_names_of_parts() -> None:
    assert parts_of("x/m-00002-of-00003.gguf") == [f"x/{name}" for name in NAMES]
    for name in ("m.gguf", "m-00004-of-00003.gguf", "m-00000-of-00003.gguf", "m-1-of-3.gguf", ""):
        assert parts_of(name) == [name]


def test_parts_are_one_file(folder: Path) -> None:
    for source in (folder, folder / NAMES[0], str(folder / NAMES[2])):
        check(tl.open_weights(source))
        assert tl.load(source).keys() == ARRAYS.keys()
    parts = split()
    check(tl.open_weights(parts))
    check(tl.open_weights({name: parts[name] for name in reversed(NAMES)}))


def test_parts_of_a_server(run_async: Callable[..., Any]) -> None:
    with running() as server:
        server.files = {f"/{name}": content for name, content in split().items()}

        async def opened() -> Any:
            return await tl.open_weights_async(f"{server.address}/{NAMES[2]}")

        check(tl.open_weights(f"{server.address}/{NAMES[1]}"))
        check(run_async(opened()))
        del server.files[f"/{NAMES[2]}"]
        with pytest.raises(FormatError, match=f"{NAMES[2]} is missing beside it"):
            tl.open_weights(f"{server.address}/{NAMES[0]}")


def test_parts_that_are_missing_or_do_not_fit(folder: Path) -> None:
    parts = split()
    del parts[NAMES[1]]
    with pytest.raises(FormatError, match=rf"{NAMES[1]} is missing, of 3 parts"):
        tl.open_weights(parts)
    with pytest.raises(FormatError, match="is one of 3 parts of a file"):
        tl.open_weights(split()[NAMES[0]])
    with pytest.raises(FormatError, match="have 4 tensors, and it says 5"):
        tl.open_weights(split(**{"split.tensors.count": Value("i", 5)}))
    (folder / NAMES[1]).write_bytes(split()[NAMES[0]])
    with pytest.raises(FormatError, match="is in two files"):
        tl.open_weights(folder)
    (folder / NAMES[1]).unlink()
    for source in (folder, folder / NAMES[0]):
        with pytest.raises(FormatError, match=f"{NAMES[1]} is missing"):
            tl.open_weights(source)
    (folder / NAMES[1]).write_bytes(split()[NAMES[1]][:30])
    with pytest.raises(FormatError):
        tl.open_weights(folder)
