"""`debug_nans`: the op that made the first NaN, in results, gradients and compiled steps."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import currentframe

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import NonFiniteError

HERE = "test_debug_nans.py"


@pytest.fixture(autouse=True)
def debugging(device: str) -> Iterator[None]:
    with tl.debug_nans(True):
        yield


WHERE = f"{HERE}:{currentframe().f_lineno + 5}"  # type: ignore[union-attr]


def test_the_first_op_is_named_with_its_line() -> None:
    x = tl.tensor([1.0, -1.0])
    y = tl.log(x) * 2 + 1
    with pytest.raises(NonFiniteError, match=rf"a NaN: log of \(float32 \(2,\)\).*{WHERE}"):
        y.numpy()
    with pytest.raises(NonFiniteError, match="a NaN: log of"):
        y.realize()
    with pytest.raises(NonFiniteError, match="an infinity: divide of"):
        (1 / tl.tensor([0.0, 1.0])).sum().item()
    assert (x * 2).numpy().tolist() == [2.0, -2.0]


def test_without_waiting_too(run_async) -> None:
    x = tl.tensor([0.0]).realize()

    async def looked_at() -> None:
        with tl.debug_nans(True):  # the thread that runs it does not see the fixture's block
            await (x / x + 1).numpy_async()

    with pytest.raises(NonFiniteError, match="a NaN: divide of"):
        run_async(looked_at())


def test_a_gradient() -> None:
    x = tl.asarray([0.0, 4.0], requires_grad=True)
    loss = tl.sqrt(x).sum()
    assert loss.item() == 2.0
    with pytest.raises(NonFiniteError, match="an infinity: divide of"):
        loss.backward()


def test_a_compiled_step_leaves_its_variables_as_they_were() -> None:
    model = nn.Linear(2, 1)
    optimizer = optim.Adam(model.parameters(), lr=0.1)

    @tl.jit
    def step(x: tl.Tensor) -> tl.Tensor:
        loss = tl.log(model(x) * 0.0 + x[:, :1]).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    assert step(np.ones((3, 2), np.float32)).item() == 0.0
    before = [x.numpy() for x in model.state_dict().values()]
    with pytest.raises(NonFiniteError, match=rf"a NaN: log of \(float32 \(3, 1\)\).*{HERE}:"):
        step(-np.ones((3, 2), np.float32))
    for old, new in zip(before, model.state_dict().values(), strict=True):
        assert np.array_equal(old, new.numpy())
    assert step(np.ones((3, 2), np.float32)).item() == 0.0


def test_an_eager_step_leaves_its_parameters_as_they_were() -> None:
    weight = nn.Parameter([1.0])
    optimizer = optim.SGD([weight], lr=0.1)
    with pytest.raises(NonFiniteError, match="a NaN: log of"):
        tl.log(weight - 2).sum().backward()
    optimizer.step()
    assert weight.numpy() == 1.0


def test_what_was_given_and_masks_of_infinity() -> None:
    scores = tl.tensor([[1.0, 2.0], [3.0, 4.0]])
    mask = tl.tensor([[False, True], [False, False]])
    masked = scores.masked_fill(mask, float("-inf"))
    assert nn.functional.softmax(masked, dim=-1).numpy()[0].tolist() == [1.0, 0.0]
    assert masked.numpy()[0, 1] == -np.inf  # nothing computed it
    given = np.full(100, 1, np.float32)
    given[3] = np.nan
    with pytest.raises(NonFiniteError, match=r"shape \(100,\) has a NaN from the beginning"):
        (tl.tensor(given) * 2).numpy()


def test_off_again() -> None:
    with tl.debug_nans(False):
        assert np.isnan(tl.log(tl.tensor([-1.0])).item())
    with pytest.raises(NonFiniteError):
        tl.log(tl.tensor([-1.0])).item()


def test_gradients_that_cannot_be_clipped() -> None:
    with tl.debug_nans(False):
        weight = nn.Parameter([0.0])
        tl.sqrt(weight).sum().backward()
        with pytest.raises(NonFiniteError, match="inf"):
            nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)
