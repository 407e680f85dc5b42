"""Files of weights that are cut short or changed at random: FormatError, and nothing else."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tallow as tl
from tallow.errors import FormatError

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
