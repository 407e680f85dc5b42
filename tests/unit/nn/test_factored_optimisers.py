"""SparseAdam changes the rows that have a gradient, and Adafactor keeps rows and columns."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import OptionError


def test_sparse_adam_leaves_other_rows() -> None:
    start = np.random.RandomState(0).standard_normal((5, 3)).astype(np.float32)
    table = nn.Embedding(5, 3, sparse=True)
    with tl.no_grad():
        table.weight.copy_(tl.asarray(start))
    optimizer = optim.SparseAdam(table.parameters(), lr=0.1)
    seen = []
    for i in range(5):
        optimizer.zero_grad()
        loss = (table(tl.asarray([i % 5, 2 * i % 5, 1])) ** 2).sum()
        loss.backward()
        optimizer.step()
        seen.append(float(loss.item()))
        if i == 0:
            assert (table.weight.numpy()[2:] == start[2:]).all()
            assert (table.weight.numpy()[:2] != start[:2]).all()
    # What PyTorch 2.13 prints, whose gradients are sparse tensors.
    assert seen == pytest.approx([17.924316, 17.890835, 9.140417, 15.821868, 8.689792], rel=1e-6)


def test_adafactor_keeps_rows_and_columns() -> None:
    matrix, vector = nn.Parameter(np.ones((4, 3), "f")), nn.Parameter(np.ones(2, "f"))
    optimizer = optim.Adafactor([matrix, vector])
    ((matrix**2).sum() + (vector**2).sum()).backward()
    optimizer.step()
    kept = optimizer.state[matrix]
    assert kept["row_var"].shape == (4, 1) and kept["col_var"].shape == (1, 3)
    assert set(optimizer.state[vector]) == {"step", "variance"}
    assert (matrix.numpy() < 1).all() and (vector.numpy() < 1).all()


def test_settings_out_of_range() -> None:
    p = nn.Parameter(np.ones(2, "f"))
    with pytest.raises(OptionError):
        optim.Adafactor([p], d=0.5)
    with pytest.raises(OptionError):
        optim.SparseAdam([p], betas=(1.5, 0.9))
