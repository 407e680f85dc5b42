"""torch._foreach_add and the like, which optimisers of public programs call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def lists(torch: Any) -> tuple[list[Any], list[Any]]:
    x = [torch.tensor([0.25, 0.5]), torch.tensor([[0.75], [0.125], [0.875]])]
    return x, [torch.tensor([2.0, 3.0]), torch.tensor([[4.0], [5.0], [6.0]])]


def same(found: Any, wanted: Any) -> None:
    for x, y in zip(found, wanted, strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-6)


BINARY = {"add", "clamp_max", "clamp_min", "copy", "div", "lerp", "maximum", "minimum", "mul",
          "pow", "sub"}  # fmt: skip


def test_a_method_of_each_tensor(torch: Any) -> None:
    for name in torch.foreach.NAMES:
        check(torch, name)


def check(torch: Any, name: str) -> None:
    """What a name gives is what the function without `_foreach_` gives, tensor by tensor."""
    x, y = lists(torch)
    plain = name.rstrip("_")
    count = 1 if plain in BINARY else 2 if plain.startswith("addc") else 0
    more = (0.25,) if plain == "lerp" else ()
    if plain in ("copy", "zero"):
        wanted = y if count else [torch.zeros(2), torch.zeros(3, 1)]
    else:
        wanted = [getattr(torch, plain)(a, *[b] * count, *more) for a, b in zip(x, y, strict=True)]
    found = getattr(torch, f"_foreach_{name}")(x, *[y] * count, *more)
    assert type(found) is (list if name.endswith("_") else tuple)
    same(found, wanted)
    same(x, wanted if name.endswith("_") else lists(torch)[0])
    if name.endswith("_"):
        assert found[0] is x[0]


def test_numbers_for_all_and_for_each(torch: Any) -> None:
    x, y = lists(torch)
    for number in (2.0, [2.0, 2.0], torch.tensor(2.0)):
        same(torch._foreach_add(x, number), [each + 2.0 for each in x])
    same(torch._foreach_mul(x, [2.0, 3.0]), [x[0] * 2.0, x[1] * 3.0])
    same(torch._foreach_maximum(x, 0.5), [each.clamp(min=0.5) for each in x])
    same(torch._foreach_add(x, y, alpha=2), [a + 2 * b for a, b in zip(x, y, strict=True)])
    wanted = [x[0] + 1.0, x[1] + 2.0]
    same(torch._foreach_addcdiv(x, y, y, [1.0, 2.0]), wanted)
    same(torch._foreach_addcdiv(x, y, y, scalars=[1.0, 2.0]), wanted)
    same(torch._foreach_addcdiv(x, y, y, value=2.0), [each + 2.0 for each in x])
    same(torch._foreach_lerp(x, y, weight=0.5), [(a + b) / 2 for a, b in zip(x, y, strict=True)])
    same(torch._foreach_norm(y, 1), [torch.tensor(5.0), torch.tensor(15.0)])
    same(torch._foreach_pow(2.0, y), [2.0**each for each in y])
    with pytest.raises(RuntimeError, match="lists of"):
        torch._foreach_add(x, y[:1])
    with pytest.raises(AttributeError):
        torch._foreach_reshape  # noqa: B018


def test_a_step_of_parameters(torch: Any) -> None:
    p = torch.nn.Parameter(torch.ones(2))
    (p * p).sum().backward()
    with pytest.raises(RuntimeError, match="no_grad"):
        torch._foreach_add_([p], [p.grad], alpha=-0.1)
    with torch.no_grad():
        torch._foreach_add_([p], [p.grad], alpha=-0.25)
    assert p.tolist() == [0.5, 0.5] and p.requires_grad
