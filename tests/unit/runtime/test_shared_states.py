"""States that several programs of WebAssembly have in one memory."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest
from tests.unit.runtime.test_shared_weights import BYTES, WIDTH, table, used

import tallow as tl
from tallow.runtime.buffer import state_moves
from tallow.runtime.jit import Jitted

__all__ = ["table"]

ROWS = 256
STATE = 4 * ROWS * WIDTH
"""Bytes of a state."""

Row = Callable[[int], np.ndarray]


def kept() -> tl.Variable:
    return tl.Variable(tl.zeros((ROWS, WIDTH)), device="wasm")


@pytest.fixture
def row(table: tl.Tensor) -> Row:
    values = table.numpy().astype(np.float32)
    return lambda number: values[number]


def writing(table: tl.Tensor, plus: int, *states: tl.Variable) -> Jitted:
    """Writes a row of the table, plus a number, in the place of the same row of each state."""

    @tl.jit(device="wasm")
    def write(at: tl.Tensor) -> tl.Tensor:
        new = tl.take(table, tl.reshape(at, (1,)), axis=0).astype("float32") + plus
        for state in states:
            state.assign(tl.update_at(state, (at, 0), new))
        return at + 1

    return write


def at(number: int) -> tl.Tensor:
    return tl.asarray(number, dtype="int32")


def test_programs_have_one_state_in_one_place(table: tl.Tensor, row: Row) -> None:
    before, state = used(), kept()
    functions = [writing(table, plus, state) for plus in range(3)]
    for turn in range(3):
        moves = state_moves()
        for plus, write in enumerate(functions):
            write(at(3 * turn + plus))
        assert turn == 0 or state_moves() == moves  # nothing is moved between them
    assert used() - before < BYTES + 1.1 * STATE
    values = state.numpy()
    for number in range(9):
        np.testing.assert_array_equal(values[number], row(number) + number % 3)
    assert not values[9:].any()


def test_what_else_a_program_has_stays_its_own(table: tl.Tensor, row: Row) -> None:
    before, state, other = used(), kept(), kept()
    first, second = writing(table, 0, state), writing(table, 1, state, other)
    for number in (5, 6):
        first(at(number))
        second(at(number + 2))
    assert used() - before < BYTES + 2.1 * STATE
    for values, numbers in ((state.numpy(), (5, 6, 7, 8)), (other.numpy(), (7, 8))):
        for number in numbers:
            np.testing.assert_array_equal(values[number], row(number) + (number > 6))
        assert np.count_nonzero(values.any(axis=1)) == len(numbers)


def test_an_older_value_is_kept_when_the_other_program_writes(table: tl.Tensor, row: Row) -> None:
    state = kept()
    first, second = writing(table, 0, state), writing(table, 1, state)
    first(at(1))
    second(at(2))
    old = tl.permute_dims(state, (1, 0))
    second(at(1))
    first(at(2))
    np.testing.assert_array_equal(old.numpy()[:, 1:3].T, [row(1), row(2) + 1])
    np.testing.assert_array_equal(state.numpy()[1:3], [row(1) + 1, row(2)])


def test_an_assigned_value_comes_to_both(table: tl.Tensor, row: Row) -> None:
    state = kept()
    first, second = writing(table, 0, state), writing(table, 1, state)
    first(at(1))
    second(at(2))
    state.assign(tl.ones((ROWS, WIDTH)))
    second(at(3))
    first(at(4))
    values = state.numpy()
    np.testing.assert_array_equal(values[3:5], [row(3) + 1, row(4)])
    assert (np.delete(values, (3, 4), axis=0) == 1).all()


@pytest.mark.parametrize("gone", [0, 1])
def test_a_state_outlives_a_program_that_had_it(table: tl.Tensor, row: Row, gone: int) -> None:
    before, state = used(), kept()
    functions = [writing(table, plus, state) for plus in range(2)]
    for number, write in enumerate(functions):
        write(at(number))
    functions.pop(gone).clear()
    del write
    gc.collect()
    functions[0](at(5))
    for last in (False, True):
        if last:
            functions.pop().clear()
        values = state.numpy()
        np.testing.assert_array_equal(values[[0, 1]], [row(0), row(1) + 1])
        np.testing.assert_array_equal(values[5], row(5) + 1 - gone)
    del state
    assert used() - before < 0.1 * STATE
