"""Files of weights that are cut short or changed at random: FormatError, and nothing else."""

from __future__ import annotations

import io
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tallow as tl
from tallow.errors import FormatError
from tallow.formats.blocks import BLOCKS

from .gguf_files import Raw, gguf
from .record_blocks import random_blocks
from .test_gguf import METADATA

DATA = Path(__file__).parent / "data"


def saved(format: str) -> bytes:
    target = io.BytesIO()
    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b.c": np.array([True, False]),
        "half": np.array([0.5], np.float16),
        "none": np.zeros((0, 2), np.uint8),
    }
    tl.save(target, arrays, format=format)
    return target.getvalue()


SOUND: dict[str, Callable[[], bytes]] = {
    "safetensors": lambda: saved("safetensors"),
    "npz": lambda: saved("npz"),
    "zip": (DATA / "zip.pt").read_bytes,
    "legacy": (DATA / "legacy.pt").read_bytes,
}


@pytest.mark.parametrize("name", SOUND)
def test_every_file_that_is_cut_short(name: str) -> None:
    data = SOUND[name]()
    for length in range(0, len(data), 7 if len(data) > 2000 else 1):
        with pytest.raises(FormatError):
            tl.load(data[:length])


@pytest.mark.parametrize("name", SOUND)
def test_files_with_changed_bytes(name: str) -> None:
    """They load, if the change is in the numbers, or raise FormatError, and nothing else."""
    data, rng = SOUND[name](), random.Random(1)
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 4])):
            changed[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0xFF, rng.randrange(256)])
        try:
            tl.load(bytes(changed))
        except FormatError as error:
            assert len(str(error)) < 1000


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 6])):
        at = rng.randrange(len(changed))
        if rng.random() < 0.3:
            changed[at:at] = bytes([rng.randrange(256)])
        else:
            changed[at] = rng.randrange(256)
    return bytes(changed)


def test_pickles_with_changed_bytes() -> None:
    """As above, with checksums that fit."""
    with zipfile.ZipFile(DATA / "zip.pt") as file:
        entries = {name: file.read(name) for name in file.namelist()}
    rng = random.Random(2)
    for _ in range(400):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as file:
            for name, content in entries.items():
                wanted = mutated(content, rng) if name.endswith("data.pkl") else content
                file.writestr(name, wanted)
        try:
            tl.load(target.getvalue())
        except FormatError as error:
            assert len(str(error)) < 1000


# ---- formats that are read by ranges -----------------------------------------------------------


def of_many_types() -> bytes:
    """A GGUF file with metadata of every type, and tensors of some; it ends with the last one."""
    plain = {"F32": 4, "F16": 2, "BF16": 2, "I8": 1, "I64": 8}
    tensors = {kind: Raw(kind, (2, 3), bytes(6 * size)) for kind, size in plain.items()}
    for block in (BLOCKS[3], BLOCKS[14]):
        content = random_blocks(block.name, block.nbytes, 2).tobytes()
        tensors[block.name] = Raw(block.name, (2, block.length), content)
    data = gguf(METADATA, tensors)
    weights = tl.open_weights(data)
    return data[: max(weights.info(key).start + weights.info(key).nbytes for key in weights)]


RANGED = {"safetensors": lambda: saved("safetensors"), "gguf": of_many_types}

_NUMBERS = [0, 1, 7, 8, 9, 31, 33, 255, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 63, -1]


def mutant(data: bytes, rng: random.Random) -> bytes:
    """A file with a few of: a changed byte, a hostile number, a piece that is missing, repeated, or
    taken from elsewhere, an end that is cut off."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, size = rng.randrange(len(changed) + 1), rng.choice([1, 4, 8, 30])
        kind = rng.randrange(6)
        if kind == 0:
            changed[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            width = rng.choice([4, 8])
            number = rng.choice(_NUMBERS) % (1 << 8 * width)
            changed[at : at + width] = number.to_bytes(width, "little")
        elif kind == 2:
            del changed[at : at + size]
        elif kind == 3:
            changed[at:at] = changed[at : at + size]
        elif kind == 4:
            start = rng.randrange(len(changed) + 1)
            changed[at : at + size] = changed[start : start + size]
        elif rng.random() < 0.3:
            del changed[at:]
    return bytes(changed)


@pytest.mark.parametrize("name", RANGED)
def test_two_thousand_mutants(name: str) -> None:
    """Each is refused in one line, or gives tensors of which the file has all bytes; none takes
    more memory than a small multiple of the file."""
    data, rng = RANGED[name](), random.Random(3)
    outcomes = {"sound": 0, "refused": 0}
    tl.load(data)
    tracemalloc.start()
    try:
        for _ in range(2000):
            changed = mutant(data, rng)
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            try:
                weights = tl.open_weights(changed)
                sizes = [weights.info(key).nbytes for key in weights]
                assert sum(sizes) <= len(changed)
                found = tl.load(changed)
            except FormatError as error:
                assert "\n" not in str(error)
                assert 10 < len(str(error)) < 500
                outcomes["refused"] += 1
            else:
                assert {key: found[key].shape for key in found} == {
                    key: weights.info(key).shape for key in weights
                }
                outcomes["sound"] += 1
            assert tracemalloc.get_traced_memory()[1] - before < 32 * len(data) + 200_000
    finally:
        tracemalloc.stop()
    assert min(outcomes.values()) > 20, outcomes


@pytest.mark.parametrize("name", RANGED)
def test_every_beginning_of_a_file(name: str) -> None:
    data = RANGED[name]()
    for length in range(0, len(data), 1 if len(data) < 2000 else 13):
        with pytest.raises(FormatError):
            tl.load(data[:length])
