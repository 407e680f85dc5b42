"""Masks over parameters, as PyTorch's pruning tutorial has them."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import OptionError
from tallow.nn.utils import prune


def layer() -> nn.Linear:
    made = nn.Linear(4, 3)
    with tl.no_grad():
        made.weight.copy_(tl.asarray(np.arange(12, dtype=np.float32).reshape(3, 4) - 5.2))
    return made


def test_elements_of_least_values() -> None:
    pruned = layer()
    before = pruned.weight.numpy()
    prune.l1_unstructured(pruned, "weight", amount=0.25)
    hidden = np.sort(np.abs(before).ravel())[2]
    np.testing.assert_allclose(pruned.weight.numpy(), np.where(np.abs(before) > hidden, before, 0))
    assert sorted(dict(pruned.named_parameters())) == ["bias", "weight_orig"]
    assert list(dict(pruned.named_buffers())) == ["weight_mask"] and prune.is_pruned(pruned)
    assert sorted(pruned.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    prune.l1_unstructured(pruned, "weight", amount=2)  # of those that are left
    assert int(pruned.get_buffer("weight_mask").sum()) == 7


def test_what_is_hidden_stays_hidden_while_others_learn() -> None:
    pruned = layer()
    prune.l1_unstructured(pruned, "weight", amount=4)
    mask = pruned.get_buffer("weight_mask").numpy()
    optimizer = optim.SGD(pruned.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (pruned(tl.ones(2, 4)) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)
    pruned(tl.ones(1, 4))
    prune.remove(pruned, "weight")
    assert not (pruned.weight.numpy()[mask == 0]).any() and not prune.is_pruned(pruned)
    assert isinstance(pruned.weight, nn.Parameter)


def test_slices_and_masks_and_draws() -> None:
    rows = prune.ln_structured(layer(), "weight", amount=1, n=2, dim=0)
    assert rows.get_buffer("weight_mask").numpy().tolist() == [[1] * 4, [0] * 4, [1] * 4]
    columns = prune.random_structured(layer(), "weight", amount=0.5, dim=1)
    assert columns.get_buffer("weight_mask").numpy().sum() == 6
    drawn = prune.random_unstructured(layer(), "bias", amount=1)
    assert drawn.get_buffer("bias_mask").numpy().sum() == 2
    given = prune.custom_from_mask(layer(), "bias", tl.asarray([1, 0, 1]))
    assert given.get_buffer("bias_mask").numpy().tolist() == [1, 0, 1]
    assert prune.is_pruned(nn.Sequential(prune.identity(layer(), "weight")))


def test_several_layers_as_one() -> None:
    first, second = layer(), layer()
    with tl.no_grad():
        second.weight.mul_(0.01)
    parameters = [(first, "weight"), (second, "weight")]
    prune.global_unstructured(parameters, prune.L1Unstructured, amount=0.5)
    counts = [int(each.get_buffer("weight_mask").sum()) for each in (first, second)]
    assert counts == [12, 0]
    with pytest.raises(OptionError, match="single elements"):
        prune.global_unstructured(parameters, prune.LnStructured, amount=0.5, n=2)


def test_what_cannot_be_pruned() -> None:
    with pytest.raises(OptionError, match="'weigth' is no parameter of Linear"):
        prune.identity(layer(), "weigth")
    with pytest.raises(OptionError, match=r"amount 1\.5 of 12"):
        prune.l1_unstructured(layer(), "weight", amount=1.5)
    with pytest.raises(OptionError, match="not pruned"):
        prune.remove(layer(), "weight")
    with pytest.raises(NotImplementedError):
        prune.BasePruningMethod.apply(layer(), "weight")
