"""Arguments out of their range are refused, with PyTorch's kinds of exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.core import context

with context.pytorch.override(True):  # its habits stay within
    from tallow import torch

Make = Callable[[], Any]


def line() -> Any:
    return tl.asarray([0.0, 1.0, 2.0])


def matrix() -> Any:
    return tl.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


REFUSED: dict[str, tuple[type[Exception], Make]] = {
    "index_fill": (IndexError, lambda: line().index_fill(0, tl.asarray([3]), 1.0).numpy()),
    "index_fill, negative": (
        IndexError,
        lambda: line().index_fill(0, tl.asarray([-4]), 1.0).numpy(),
    ),
    "put": (IndexError, lambda: line().put_(tl.asarray([3]), tl.asarray([1.0])).numpy()),
    "tensordot, shapes": (tl.ShapeError, lambda: torch.tensordot(matrix(), matrix(), 1)),
    "tensordot, too many": (tl.ShapeError, lambda: torch.tensordot(matrix(), matrix(), 3)),
    "tensordot, negative": (tl.ShapeError, lambda: torch.tensordot(matrix(), matrix(), -1)),
    "hstack": (tl.ShapeError, lambda: torch.hstack([])),
    "rot90, one axis": (tl.ShapeError, lambda: torch.rot90(matrix(), 1, (0,))),
    "rot90, one axis twice": (tl.ShapeError, lambda: torch.rot90(matrix(), 1, (0, 0))),
    "index_reduce": (
        tl.OptionError,
        lambda: line().index_reduce(0, tl.asarray([0]), tl.asarray([1.0]), "sum"),
    ),
    "stride": (IndexError, lambda: matrix().stride(2)),
    "flip": (TypeError, lambda: matrix().flip()),
    "fill_diagonal_, a vector": (tl.ShapeError, lambda: line().fill_diagonal_(1.0)),
    "fill_diagonal_, lengths": (tl.ShapeError, lambda: tl.zeros((2, 3, 2)).fill_diagonal_(1.0)),
    "uniform_, integers": (tl.DTypeError, lambda: tl.asarray([1, 2]).uniform_(0, 10)),
    "uniform_": (tl.OptionError, lambda: line().uniform_(3, 1)),
    "normal_": (tl.OptionError, lambda: line().normal_(0, -1)),
    "exponential_": (tl.OptionError, lambda: line().exponential_(0.0)),
    "cauchy_": (tl.OptionError, lambda: line().cauchy_(0, -1)),
    "log_normal_": (tl.OptionError, lambda: line().log_normal_(0, 0)),
    "bernoulli_": (tl.OptionError, lambda: line().bernoulli_(1.5)),
    "geometric_": (tl.OptionError, lambda: line().geometric_(1.0)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    kind, call = REFUSED[name]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, tl.TallowError)


def test_negative_indices_count_from_the_end() -> None:
    filled = line().index_fill(0, tl.asarray([-1, 0]), 7.0)
    assert filled.tolist() == [7.0, 1.0, 7.0]
    assert line().put_(tl.asarray([-3]), tl.asarray([5.0])).tolist() == [5.0, 1.0, 2.0]


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(5, 2), (2, 5), (4, 3), (7, 3), (3, 3)])
def test_diagonals_are_filled_as_numpy_fills_them(shape: tuple[int, int], wrap: bool) -> None:
    expected = np.zeros(shape, "float32")
    np.fill_diagonal(expected, 2, wrap=wrap)
    assert tl.zeros(shape).fill_diagonal_(2.0, wrap=wrap).numpy().tolist() == expected.tolist()


def test_a_diagonal_of_three_axes() -> None:
    expected = np.zeros((3, 3, 3), "float32")
    np.fill_diagonal(expected, 1)
    assert tl.zeros((3, 3, 3)).fill_diagonal_(1.0).numpy().tolist() == expected.tolist()


def test_numbers_come_first_or_second_in_xlogy() -> None:
    x = np.array([0.5, 1.0, 2.0], "float32")
    np.testing.assert_allclose(torch.xlogy(2.0, tl.asarray(x)).numpy(), 2 * np.log(x), rtol=1e-6)
    np.testing.assert_allclose(torch.xlogy(tl.asarray(x), 2.0).numpy(), x * np.log(2), rtol=1e-6)
