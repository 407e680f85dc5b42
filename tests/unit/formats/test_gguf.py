"""GGUF: metadata and tensors of sound files, and one clear line for each of the others."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.errors import FormatError

from .gguf_files import Raw, Value, gguf, text

FLOATS = np.arange(6, dtype=np.float32).reshape(2, 3)


def floats(**more: Any) -> Raw:
    return Raw("F32", (2, 3), FLOATS.tobytes(), **more)


METADATA: dict[str, Any] = {
    "general.architecture": "llama",
    "empty": "",
    "yes": True,
    **{f"one.{code}": Value(code, 7) for code in "BbHhIiQqfd"},
    **{f"some.{code}": Value(code, [1, 2, 3]) for code in "BbHhIiQqfd"},
    "none": Value("i", []),
    "texts": ["a", "öß", ""],
    "truths": [True, False],
    "nested": [["a", "b"], ["c"]],
    "numbers": [Value("I", [1, 2]), Value("i", [-3])],
}


@pytest.mark.parametrize("version", [2, 3])
def test_metadata_of_every_type(version: int) -> None:
    found = tl.open_weights(gguf(METADATA, {"x": floats()}, version=version)).metadata
    assert list(found) == list(METADATA)
    assert (found["general.architecture"], found["empty"], found["yes"]) == ("llama", "", True)
    for code in "BbHhIiQqfd":
        assert found[f"one.{code}"] == 7
        assert list(found[f"some.{code}"]) == [1, 2, 3]
    assert list(found["none"]) == []
    assert found["texts"] == ["a", "öß", ""]
    assert found["truths"] == [True, False]
    assert found["nested"] == [["a", "b"], ["c"]]
    assert [list(each) for each in found["numbers"]] == [[1, 2], [-3]]


PLAIN = {
    "F16": np.float16, "F32": np.float32, "F64": np.float64, "I8": np.int8, "I16": np.int16,
    "I32": np.int32, "I64": np.int64,
}  # fmt: skip


@pytest.mark.parametrize("alignment", [1, 8, 32, 256])
def test_tensors_of_every_plain_type(alignment: int, tmp_path: Path) -> None:
    arrays = {
        kind: np.arange(-3, 9).reshape(3, 1, 4).astype(dtype) for kind, dtype in PLAIN.items()
    }
    tensors = {kind: Raw(kind, each.shape, each.tobytes()) for kind, each in arrays.items()}
    tensors["scalar"] = Raw("F32", (), np.float32(2.5).tobytes())
    path = tmp_path / "x.gguf"
    path.write_bytes(gguf({"general.alignment": alignment}, tensors, alignment=alignment))
    found = tl.load(path)
    assert list(found) == list(tensors)
    for kind, array in arrays.items():
        np.testing.assert_array_equal(found[kind].numpy(), array)
        assert found[kind].numpy().dtype == array.dtype
    assert found["scalar"].item() == 2.5


def test_bfloat16() -> None:
    content = np.array([0x3F80, 0xC000], np.uint16).tobytes()
    found = tl.load(gguf({}, {"x": Raw("BF16", (2,), content)}))
    assert found["x"].astype(tl.float32).tolist() == [1.0, -2.0]


def test_a_header_that_is_longer_than_what_is_read_at_first() -> None:
    words = [f"word {n}" for n in range(30_000)]
    weights = tl.open_weights(gguf({"words": words}, {"x": floats()}))
    assert weights.metadata["words"] == words
    np.testing.assert_array_equal(weights["x"].numpy(), FLOATS)


SOUND = gguf({"a": 1}, {"x": floats()})

AN_ENTRY = gguf({}, {}, counts=(0, 1))[:24] + text("x")
A_TENSOR = gguf({}, {}, counts=(1, 0))[:24] + text("x")

HOSTILE: dict[str, tuple[bytes, str]] = {
    "another file": (b"GGML" + SOUND[4:], "neither"),
    "big-endian": (b"GGUF" + struct.pack(">I", 3) + SOUND[8:], "big-endian"),
    "version 1": (gguf({}, {}, version=1), "version 1"),
    "version 9": (gguf({}, {}, version=9), "version 9"),
    "2^63 tensors": (gguf({}, {}, counts=(1 << 63, 0)), "the number of tensors"),
    "2^63 metadata": (gguf({}, {}, counts=(0, 1 << 63)), "the number of metadata"),
    "one tensor too many": (gguf({}, {}, counts=(1, 0)), "number of tensors"),
    "a text of 2^40": (
        gguf({}, {}, counts=(0, 1))[:24] + struct.pack("<Q", 1 << 40) + bytes(64), "more bytes"
    ),
    "a list of 2^63": (
        AN_ENTRY + struct.pack("<IIQ", 9, 0, 1 << 63) + bytes(64),
        "'x': 9223372036854775808",
    ),
    "texts, 2^62 of them": (
        AN_ENTRY + struct.pack("<IIQ", 9, 8, 1 << 62) + bytes(64),
        "more bytes",
    ),
    "lists in lists in lists": (gguf({"x": [[[[[["a"]]]]]]}, {}), "deep"),
    "a type of metadata": (
        AN_ENTRY + struct.pack("<I", 99) + bytes(64), "type 99"
    ),
    "a name twice": (gguf([("a", 1), ("a", 2)], {}), "twice"),
    "a tensor twice": (gguf({}, [("x", floats()), ("x", floats())]), "two tensors"),
    "no name": (gguf({"": 1}, {}), "0 letters"),
    "a long name": (gguf({"x" * 70_000: 1}, {}), "70,000 letters"),
    "no UTF-8": (gguf({"a": b"\xff"}, {}), "UTF-8"),
    "no truth": (
        AN_ENTRY + struct.pack("<IB", 7, 2) + bytes(64), "neither"
    ),
    "alignment 0": (gguf({"general.alignment": 0}, {"x": floats()}), "alignment is 0"),
    "alignment 24": (gguf({"general.alignment": 24}, {"x": floats()}), "power of two"),
    "alignment 2^31": (gguf({"general.alignment": 1 << 31}, {"x": floats()}), "power of two"),
    "alignment as a text": (gguf({"general.alignment": "32"}, {"x": floats()}), "power of two"),
    "five axes": (gguf({}, {"x": Raw("F32", (1, 1, 1, 1, 1), bytes(4))}), "5 axes"),
    "2^32 axes": (
        A_TENSOR + struct.pack("<I", 0xFFFFFFFF) + bytes(64),
        "4294967295 axes",
    ),
    "lengths whose product overflows": (
        gguf({}, {"x": Raw("F32", (1 << 32, 1 << 32), bytes(32))}), "fits no memory"
    ),
    "a length of 2^63": (gguf({}, {"x": Raw("F32", (1 << 63,), bytes(32))}), "not a length"),
    "longer than the file": (gguf({}, {"x": Raw("F32", (1 << 20,), bytes(32))}), "cut short"),
    "an offset of 2^63": (gguf({}, {"x": floats(offset=1 << 63)}), "cut short"),
    "an odd offset": (gguf({}, {"x": floats(offset=1)}), "no multiple of 32"),
    "overlapping": (gguf({}, {"x": floats(offset=0), "y": floats(offset=0)}), "overlaps"),
    "half a block": (gguf({}, {"x": Raw("Q4_0", (2, 48), bytes(64))}), "blocks of 32"),
    "blocks without an axis": (gguf({}, {"x": Raw("Q4_0", (), bytes(64))}), "blocks of 32"),
    "half a large block": (gguf({}, {"x": Raw("Q4_K", (128,), bytes(160))}), "blocks of 256"),
    "blocks that are not read": (gguf({}, {"x": Raw("IQ2_XXS", (256,), bytes(96))}), "IQ2_XXS"),
    "an unknown type": (gguf({}, {"x": Raw(77, (32,), bytes(64))}), "number 77"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str) -> None:
    data, words = HOSTILE[name]
    with pytest.raises(FormatError) as caught:
        tl.load(data)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_the_file_of_these_tests_is_sound() -> None:
    np.testing.assert_array_equal(tl.load(SOUND)["x"].numpy(), FLOATS)
