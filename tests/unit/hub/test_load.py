"""Published models are opened whole: `tl.zoo.load`."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from tests.unit.files.serving import running
from tests.unit.hub import tiny

import tallow as tl
from tallow.errors import FormatError, OptionError
from tallow.files import File, fetch

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    made.write_bytes(tiny.gguf_file())
    return made


@pytest.fixture(scope="module")
def model(path: Path) -> Any:
    return tl.zoo.load(path)


@pytest.fixture(scope="module")
def folder(path: Path) -> Path:
    return tiny.folder(path.parent / "folder")


def test_a_gguf_file_writes(model: Any) -> None:
    assert isinstance(model, tl.generation.LanguageModel)
    text = model.generate(MESSAGES, max_tokens=12)
    assert text == model.generate(MESSAGES, max_tokens=12)
    assert text == "".join(model.stream(MESSAGES, max_tokens=12))
    assert model.writer.context == tiny.CONTEXT
    assert model.ends == {tiny.ENDS}


def test_a_path_its_folder_and_its_bytes_are_the_same_model(
    path: Path, model: Any, run_async: Callable[..., Any]
) -> None:
    text = model.generate("abc", max_tokens=12)
    for source in (str(path), path.read_bytes(), {"any.gguf": path}):
        assert tl.zoo.load(source).generate("abc", max_tokens=12) == text

    async def awaited() -> str:
        loaded = await tl.zoo.load_async(path)
        return str(await loaded.generate_async("abc", max_tokens=12))

    assert run_async(awaited()) == text


def test_files_are_fetched_first(path: Path, model: Any, tmp_path: Path) -> None:
    wanted = File("tiny.gguf", (path.as_uri(),), tmp_path, size=path.stat().st_size)
    seen: list[tuple[int, int | None, str]] = []
    loaded = tl.zoo.load(wanted, progress=lambda *report: seen.append(report))
    text = model.generate("abc", max_tokens=12)
    assert loaded.generate("abc", max_tokens=12) == text
    assert seen[-1] == (wanted.size, wanted.size, "tiny.gguf")
    for source in ({"any.gguf": wanted}, fetch(wanted), {"a.gguf": fetch(wanted)}):
        assert tl.zoo.load(source).generate("abc", max_tokens=12) == text


def test_a_folder_of_safetensors_is_the_same_network(folder: Path, model: Any) -> None:
    text = model.generate(MESSAGES, max_tokens=12)
    files = {file.name: file for file in folder.iterdir()}
    sources: list[Any] = [folder, folder / "config.json", folder / "model.safetensors", files]
    for source in sources:
        loaded = tl.zoo.load(source)
        assert loaded.generate(MESSAGES, max_tokens=12) == text
        assert loaded.ends == {tiny.ENDS}


def test_weights_in_several_files(folder: Path, model: Any, tmp_path: Path) -> None:
    state = tl.load(folder / "model.safetensors")
    names = sorted(state)
    half = len(names) // 2
    parts = {"a.safetensors": names[:half], "b.safetensors": names[half:]}
    for file, own in parts.items():
        tl.save({name: state[name] for name in own}, tmp_path / file)
    where = {name: file for file, own in parts.items() for name in own}
    listed = tmp_path / "model.safetensors.index.json"
    listed.write_text(json.dumps({"weight_map": where}))
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    text = model.generate("abc", max_tokens=8)
    assert tl.zoo.load(tmp_path).generate("abc", max_tokens=8) == text
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(FormatError, match=r"'b\.safetensors' is missing"):
        tl.zoo.load(tmp_path)


def test_a_gguf_file_in_parts(model: Any, tmp_path: Path) -> None:
    text = model.generate("abc", max_tokens=8)
    parts = tiny.gguf_parts()
    names = list(parts)
    for name, content in parts.items():
        (tmp_path / name).write_bytes(content)
    sources: list[Any] = [tmp_path, tmp_path / names[0], tmp_path / names[1], parts]
    for source in sources:
        assert tl.zoo.load(source).generate("abc", max_tokens=8) == text
    with running() as server:
        server.files = {f"/m/{name}": content for name, content in parts.items()}
        address = f"{server.address}/m/{names[0]}"
        assert tl.zoo.load(address).generate("abc", max_tokens=8) == text
        del server.files[f"/m/{names[1]}"]
        with pytest.raises(FormatError, match=f"{names[1]} is missing, of 3 parts"):
            tl.zoo.load(address)
    (tmp_path / names[2]).unlink()
    del parts[names[1]]
    for source, lost in ((tmp_path, names[2]), (tmp_path / names[0], names[2]), (parts, names[1])):
        with pytest.raises(FormatError, match=f"{lost} is missing, of 3 parts"):
            tl.zoo.load(source)
    with pytest.raises(FormatError, match=f"{names[1]} is missing, of 3 parts"):
        tl.zoo.load({names[0]: parts[names[0]]})
    (tmp_path / "other.gguf").write_bytes(tiny.gguf_file())
    with pytest.raises(FormatError, match="has 3 GGUF files"):
        tl.zoo.load(tmp_path)


def test_what_is_missing_is_said(folder: Path, path: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no config\.json beside it"):
        tl.zoo.load(tmp_path)
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(FormatError, match="there are no weights"):
        tl.zoo.load(tmp_path)
    state = tl.load(folder / "model.safetensors")
    left = sorted(state)[0]
    tl.save({name: state[name] for name in state if name != left}, tmp_path / "model.safetensors")
    with pytest.raises(FormatError, match=f"no weights that fit 1 parameters: {left}"):
        tl.zoo.load(tmp_path)
    tl.save(state, tmp_path / "model.safetensors")
    with pytest.raises(FormatError, match=r"no tokenizer\.json beside"):
        tl.zoo.load(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(FormatError, match=r"config\.json: is not JSON"):
        tl.zoo.load(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "strange"}')
    with pytest.raises(OptionError, match="the configuration describes 'strange'"):
        tl.zoo.load(tmp_path)
    for name in ("one.gguf", "two.gguf"):
        (tmp_path / name).write_bytes(path.read_bytes())
    with pytest.raises(FormatError, match=r"2 GGUF files: one\.gguf, two\.gguf"):
        tl.zoo.load(tmp_path)
    with pytest.raises(FormatError, match="no GGUF file"):
        tl.zoo.load(b"something else")


def test_a_cache_in_8_bits(path: Path) -> None:
    assert tl.zoo.load(path, cache_dtype="int8").writer.cache.dtype == tl.int8
    with pytest.raises(OptionError, match="one of float32, float16, int8, not 'q4_0'"):
        tl.zoo.load("there-is-no-such-file", cache_dtype="q4_0")  # before anything is fetched


def test_a_model_is_freed_at_once(path: Path) -> None:
    """Its plans hold its weights on the device, and no cycle keeps them."""
    model = tl.zoo.load(path)
    model.generate("abc", max_tokens=2)
    gc.collect()
    gc.disable()
    try:
        network, plans = ref(model.network), ref(model.writer.plans)
        del model
        assert network() is None and plans() is None
    finally:
        gc.enable()
