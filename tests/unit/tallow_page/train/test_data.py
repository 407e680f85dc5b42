"""The Train view's data sets in the idx format."""

from __future__ import annotations

import statistics

import pytest
from tests.unit.tallow_page.train.lessons import SIDE, contents, idx

from tallow.errors import OptionError
from tallow_page.train.data import Data, some
from tallow_page.train.data_idx import PublishedDataError, data_of, moments
from tallow_page.train.sources import opened_data


def test_a_data_set_of_four_files() -> None:
    files = contents(80, 20)
    data = data_of("mnist", files)
    assert (data.kind, data.shape, list(data.classes)) == (
        "pictures", (1, SIDE, SIDE), [str(each) for each in range(10)]
    )  # fmt: skip
    assert (len(data.train), len(data.valid)) == (80, 20)
    assert list(data.labels["valid"]) == [number % 3 for number in range(20)]
    x, y = data.valid[4]
    pixels = files["t10k-images-idx3-ubyte"][16 + 4 * SIDE * SIDE :][: SIDE * SIDE]
    assert bytes(x.numpy().tobytes()) == pixels and y.item() == 1
    assert data.picture("valid", 4) == (SIDE, SIDE, 1, pixels)
    numbers = list(files["train-images-idx3-ubyte"][16:])
    assert data.mean == pytest.approx(statistics.fmean(numbers))
    assert data.deviation == pytest.approx(statistics.pstdev(numbers))


def test_colours_lie_beside_each_other_for_display() -> None:
    planes = bytes((1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24))
    pixels = {"train": memoryview(bytes(12) + planes)}
    data = Data("own", "pictures", ["a"], [], None, (3, 2, 2), pixels=pixels)
    expected = bytes((1, 11, 21, 2, 12, 22, 3, 13, 23, 4, 14, 24))
    assert data.picture("train", 1) == (2, 2, 3, expected)


def test_moments_of_many_are_those_of_some_that_are_spread() -> None:
    found = moments(memoryview(bytes(2000) + bytes([100]) * 2000), 1)
    assert found == (50.0, 50.0)
    assert moments(memoryview(bytes(10)), 1) == (0.0, 1.0)


def test_some_samples_are_spread_evenly() -> None:
    data = list(range(10))
    assert [*some(data, 4)] == [0, 2, 5, 7]
    assert some(data, 10) is data and some(data, None) is data
    with pytest.raises(OptionError, match="0 samples"):
        some(data, 0)


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("train-labels-idx1-ubyte", idx(bytes([10] * 80), 80), "label 0 is 10; there are 10"),
        ("train-labels-idx1-ubyte", idx(bytes(79), 79), "79 labels for 80 pictures"),
        ("t10k-images-idx3-ubyte", idx(b"", 0, 8, 8), "there is no picture"),
        ("train-images-idx3-ubyte", b"<html>", "no idx file"),
        ("train-images-idx3-ubyte", idx(bytes(9), 80, 8, 8), "damaged"),
    ],
)
def test_damaged_files(file: str, content: bytes, why: str) -> None:
    files = contents(80, 20)
    if not content[4:8].strip(b"\0"):  # the labels of no picture
        files["t10k-labels-idx1-ubyte"] = idx(b"", 0)
    with pytest.raises(PublishedDataError, match=why):
        data_of("mnist", files | {file: content})


def test_unknown_sources(run_async) -> None:
    async def first(source):
        return await anext(opened_data(source))

    with pytest.raises(OptionError, match="'cats' is no data set"):
        run_async(first({"published": "cats", "files": []}))
    with pytest.raises(OptionError, match="no data are known by kind"):
        run_async(first({"kind": "dream"}))
