"""Weights that are opened and read one by one: in one file or several, from every source."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.files.serving import running

import tallow as tl
from tallow.errors import FetchError, FormatError
from tallow.graph import Graph, input_node
from tallow.runtime.session import compile_session
from tallow.tensor import Tensor

from .gguf_files import Raw, gguf
from .record_blocks import random_blocks

A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(4, dtype=np.float16)


def safetensors(**arrays: Any) -> bytes:
    target = io.BytesIO()
    tl.save(target, arrays)
    return target.getvalue()


INDEX = "model.safetensors.index.json"


def sharded(**changes: Any) -> dict[str, bytes]:
    """The files of a model in two parts."""
    weight_map = {"a": "one.safetensors", "b": "two.safetensors", **changes}
    return {
        "one.safetensors": safetensors(a=A),
        "two.safetensors": safetensors(b=B),
        INDEX: json.dumps({"metadata": {"total_size": 32}, "weight_map": weight_map}).encode(),
    }


def written(files: dict[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def check(found: Any) -> None:
    assert set(found) == {"a", "b"}
    np.testing.assert_array_equal(found["a"].numpy(), A)
    np.testing.assert_array_equal(found["b"].numpy(), B)


def test_what_is_known_without_reading() -> None:
    weights = tl.open_weights(safetensors(a=A, b=B))
    assert (len(weights), list(weights), "a" in weights, "c" in weights) == (
        2, ["a", "b"], True, False,
    )  # fmt: skip
    info = weights.info("b")
    assert (info.name, info.kind, info.dtype, info.shape, info.nbytes) == (
        "b", "F16", tl.float16, (4,), 8,
    )  # fmt: skip
    assert "2 tensors, 32 bytes" in repr(weights)
    check(weights)
    with pytest.raises(KeyError):
        weights["c"]


def test_reading_without_blocking(tmp_path: Path, run_async: Any) -> None:
    path = written(sharded(), tmp_path) / "one.safetensors"

    async def read() -> Any:
        weights = await tl.open_weights_async(path)
        return await weights.read_async("a"), await tl.load_async(path)

    alone, all_of_it = run_async(read())
    for found in (alone, all_of_it["a"]):
        np.testing.assert_array_equal(found.numpy(), A)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("how", ["folder", "text", "index", "address", "files", "joined"])
def test_weights_in_several_files(how: str, opened: bool, tmp_path: Path) -> None:
    files = sharded()
    folder = written(files, tmp_path)
    get = tl.open_weights if opened else tl.load
    if how == "address":
        with running() as server:
            server.files = {f"/m/{name}": content for name, content in files.items()}
            check(get(f"{server.address}/m/{INDEX}?download=true"))
        return
    sources: dict[str, Any] = {
        "folder": folder,
        "text": str(folder),
        "index": folder / INDEX,
        "files": files,
        "joined": {name: files[name] for name in files if name != INDEX},
    }
    check(get(sources[how]))


@pytest.mark.parametrize("name", ["model.safetensors", "other.safetensors", "x.gguf"])
def test_a_folder_with_one_file(name: str, tmp_path: Path) -> None:
    content = gguf({}, {"a": Raw("F32", (2, 3), A.tobytes())})
    (tmp_path / name).write_bytes(content if name.endswith("gguf") else safetensors(a=A))
    (tmp_path / "config.json").write_text("{}")
    np.testing.assert_array_equal(tl.load(tmp_path)["a"].numpy(), A)


WRONG: dict[str, tuple[Any, str]] = {
    "no list": ({INDEX: b"[]"}, "no list of files"),
    "no JSON": ({INDEX: b"{"}, "no list of files"),
    "no files": ({INDEX: b'{"weight_map": {}}'}, "no list of files"),
    "numbers": ({INDEX: b'{"weight_map": {"a": 1}}'}, "does not name files"),
    "deep JSON": ({INDEX: b"[" * 100_000}, "no list of files"),
    "another folder": (sharded(b="../two.safetensors"), "no name of a file"),
    "an absolute path": (sharded(b="/etc/passwd"), "no name of a file"),
    "Windows' path": (sharded(b="C:\\two"), "no name of a file"),
    "an address": (sharded(b="http://host/two"), "no name of a file"),
    "a missing tensor": (sharded(c="one.safetensors"), "'c' is not in 'one.safetensors'"),
    "a tensor in two files": (
        {"x": safetensors(a=A), "y": safetensors(a=A)}, "'a' is in two files"
    ),
    "two formats": (
        {"x": safetensors(a=A), "y": gguf({}, {"b": Raw("F32", (1,), bytes(4))})}, "beside"
    ),
    "nothing": ({}, "0 files"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_lists_that_are_wrong(name: str) -> None:
    files, words = WRONG[name]
    with pytest.raises(FormatError, match=words):
        tl.open_weights(files)


def test_a_missing_file(tmp_path: Path) -> None:
    files = sharded()
    del files["two.safetensors"]
    with pytest.raises(FormatError, match=r"'two\.safetensors' is missing"):
        tl.open_weights(files)
    with pytest.raises(FileNotFoundError):
        tl.open_weights(written(files, tmp_path))
    with pytest.raises(FormatError, match="2 files with 2 indices"):
        tl.open_weights({"a" + INDEX: b"{}", "b" + INDEX: b"{}"})
    with pytest.raises(FileNotFoundError):
        tl.load(tmp_path / "none.gguf")


def test_folders_of_which_nobody_knows_the_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="a folder with 0 files of weights"):
        tl.load(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.safetensors").write_bytes(safetensors(a=A))
    with pytest.raises(FormatError, match="a folder with 2 files of weights"):
        tl.load(tmp_path)


def test_what_is_no_file_of_weights() -> None:
    with pytest.raises(FormatError, match="neither safetensors nor GGUF"):
        tl.open_weights(b"1234567")


def test_only_what_is_wanted_is_asked_for() -> None:
    """Of a file of 8 MB on a server: its beginning, and one tensor."""
    large = np.zeros((1 << 20,), np.float32)
    with running() as server:
        server.files["/x"] = safetensors(a=A, large=large, other=large)
        weights = tl.open_weights(f"{server.address}/x")
        np.testing.assert_array_equal(weights["a"].numpy(), A)
        asked = [wanted.removeprefix("bytes=").split("-") for _, wanted in server.asked if wanted]
        assert sum(int(last) - int(first) + 1 for first, last in asked) < 70_000
        server.ranges = False
        with pytest.raises(FetchError, match="ignores ranges"):
            weights["large"]


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
def test_a_tensor_that_is_read_later(device: str, tmp_path: Path, request: Any) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    path = tmp_path / "x"
    path.write_bytes(safetensors(a=A, b=B, yes=np.array([True, False])))
    weights = tl.open_weights(path)
    for name, wanted in (("a", A), ("b", B), ("yes", np.array([True, False]))):
        found, info = weights.later(name), weights.info(name)
        assert (found.shape, found.dtype) == (info.shape, info.dtype)
        np.testing.assert_array_equal(found.to(device).numpy(), wanted)
    with pytest.raises(KeyError):
        weights.later("c")
    late = weights.later("a")
    path.write_bytes(safetensors(a=A + 1, b=B))
    with pytest.raises(FetchError, match="another file"):
        late.numpy()


def test_a_network_is_loaded_weight_by_weight(tmp_path: Path) -> None:
    """16 weights of 1 MB, of which WebAssembly's memory has all, and Python's a few at most."""
    path = tmp_path / "x.gguf"
    raw = Raw("Q8_0", (1024, 1024), random_blocks("Q8_0", 34, 32 * 1024).tobytes())
    path.write_bytes(gguf({}, {f"{n}": raw for n in range(16)}))
    weights = tl.open_weights(path)
    x = input_node("x", (1, 1024), tl.float32)

    def peak(names: Sequence[str]) -> int:
        y = Tensor(x)
        for name in names:
            y = y @ weights.later(name).T
        tracemalloc.start()
        try:
            with compile_session(Graph((x,), {"y": y.node}, "deep"), "wasm") as session:
                assert session.stats["weights"] >= len(names) * len(raw.data)
                return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(list(weights)[:1])  # imports
    assert peak(list(weights)) < peak(list(weights)[:1]) + 4 * len(raw.data)


@pytest.mark.parametrize("kind", ["safetensors", "gguf"])
def test_a_large_file_is_never_in_memory(kind: str, tmp_path: Path) -> None:
    """One tensor of 4 MB, of a file of 64 MB."""
    rows, count = 1 << 20, 16
    path = tmp_path / "x"
    if kind == "gguf":
        raw = Raw("F32", (rows,), bytes(4 * rows))
        path.write_bytes(gguf({}, {f"{n}": raw for n in range(count)}))
    else:
        array = np.zeros((rows,), np.float32)
        tl.save(path, {f"{n}": array for n in range(count)}, format="safetensors")
    tracemalloc.start()
    try:
        weights = tl.open_weights(path)
        assert weights["7"].shape == (rows,)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * 4 * rows
