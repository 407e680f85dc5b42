"""Transforms: their inverses, and how they stretch volumes beside their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import distributions as d
from tallow.distributions import constraints, transforms
from tallow.errors import MissingError, OptionError, ShapeError


def made(value: Any) -> tl.Tensor:
    return tl.asarray(np.asarray(value, np.float64))


LINE = [-1.3, -0.2, 0.4, 1.1]

# A transform, one argument, and what of its result may change freely.
CASES: dict[str, tuple[Callable[[], d.Transform], Any, Callable[[np.ndarray], np.ndarray]]] = {
    "affine": (lambda: d.AffineTransform(made([1.0, 2.0, 0.0, -1.0]), -0.7), LINE, np.ravel),
    "affine-vector": (lambda: d.AffineTransform(1.5, 2.0, event_dim=1), LINE, np.ravel),
    "compose": (
        lambda: d.ComposeTransform([d.AffineTransform(0.5, 2.0), d.ExpTransform()]), LINE, np.ravel,
    ),
    "compose-vector": (
        lambda: d.ComposeTransform([d.AffineTransform(0.5, 2.0), d.StickBreakingTransform()]),
        LINE, lambda y: y[:-1],
    ),
    "corr_cholesky": (
        lambda: d.CorrCholeskyTransform(), [0.3, -0.5, 0.8],
        lambda y: y[np.tril_indices(3, -1)],
    ),
    "corr_cholesky-small": (
        lambda: d.CorrCholeskyTransform(), [0.3], lambda y: y[np.tril_indices(2, -1)],
    ),
    "cumulative": (
        lambda: d.CumulativeDistributionTransform(d.Normal(made(0.3), made(0.8))), LINE, np.ravel,
    ),
    "exp": (lambda: d.ExpTransform(), LINE, np.ravel),
    "identity": (lambda: transforms.identity_transform, LINE, np.ravel),
    "independent": (lambda: d.IndependentTransform(d.ExpTransform(), 1), LINE, np.ravel),
    "inverse": (lambda: d.SigmoidTransform().inv, [0.1, 0.5, 0.7], np.ravel),
    "power": (lambda: d.PowerTransform(-1.5), [0.3, 0.9, 2.0], np.ravel),
    "reshape": (lambda: d.ReshapeTransform((4,), (2, 2)), LINE, np.ravel),
    "sigmoid": (lambda: d.SigmoidTransform(), LINE, np.ravel),
    "softplus": (lambda: d.SoftplusTransform(), LINE, np.ravel),
    "stick": (lambda: d.StickBreakingTransform(), LINE, lambda y: y[:-1]),
    "tanh": (lambda: d.TanhTransform(), LINE, np.ravel),
    "cat": (
        lambda: d.CatTransform([d.ExpTransform(), d.TanhTransform()], lengths=[3, 1]), LINE,
        np.ravel,
    ),
    "stack": (
        lambda: d.StackTransform([d.ExpTransform(), d.AffineTransform(0.0, 3.0)], dim=-1),
        [[0.1, 0.4], [-0.3, 0.2]], np.ravel,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_inverse_and_volume(name: str) -> None:
    build, argument, free = CASES[name]
    transform, x = build(), made(argument)
    y = transform(x)
    assert transform.forward_shape(x.shape) == y.shape
    assert transform.inverse_shape(y.shape) == x.shape
    assert transform.bijective and transform.inv.inv is transform
    np.testing.assert_allclose(transform.inv(y).numpy(), x.numpy(), atol=1e-5)
    assert bool(transform.domain.check(x).all())
    if name != "corr_cholesky":
        assert bool(transform.codomain.check(y).all())
    columns = []
    for place in np.ndindex(*x.shape):
        step = np.zeros(x.shape)
        step[place] = 1e-6
        up, down = (free(transform(x + made(s)).numpy()) for s in (step, -step))
        columns.append((up - down) / 2e-6)
    jacobian = np.stack(columns, -1)
    found = transform.log_abs_det_jacobian(x, y)
    expected = np.linalg.slogdet(jacobian)[1]
    assert found.sum().item() == pytest.approx(expected, abs=1e-5)
    other = transform.inv.log_abs_det_jacobian(y, x)
    np.testing.assert_allclose(other.numpy(), -found.numpy())
    assert found.ndim == x.ndim - transform.domain.event_dim or name in ("cat", "stack")


def test_transforms_that_are_not_bijective() -> None:
    x = made(LINE)
    assert d.AbsTransform()(x).tolist() == [1.3, 0.2, 0.4, 1.1]
    soft = d.SoftmaxTransform()
    y = soft(x)
    np.testing.assert_allclose(soft(soft.inv(y)).numpy(), y.numpy())
    square = made([[0.3, 9.0], [0.7, -0.4]])
    lower = d.LowerCholeskyTransform()(square)
    np.testing.assert_allclose(lower.numpy(), [[np.exp(0.3), 0], [0.7, np.exp(-0.4)]])
    np.testing.assert_allclose(d.LowerCholeskyTransform().inv(lower).numpy(), np.tril(square))
    whole = d.PositiveDefiniteTransform()(square)
    np.testing.assert_allclose(whole.numpy(), lower.numpy() @ lower.numpy().T)
    np.testing.assert_allclose(d.PositiveDefiniteTransform().inv(whole).numpy(), np.tril(square))
    for each in (d.AbsTransform(), soft):
        assert not each.bijective
        with pytest.raises(MissingError, match="log_abs_det_jacobian"):
            each.log_abs_det_jacobian(x, x)


def test_equality_signs_and_caches() -> None:
    assert d.ExpTransform() == d.ExpTransform() != d.TanhTransform()
    assert d.AffineTransform(1.0, 2.0) == d.AffineTransform(1.0, 2.0)
    assert d.AffineTransform(1.0, 2.0) != d.AffineTransform(1.0, 3.0)
    assert d.AffineTransform(made([1.0]), 2.0) == d.AffineTransform(made([1.0]), 2.0)
    assert d.ComposeTransform([d.ExpTransform()]) == d.ComposeTransform([d.ExpTransform()])
    assert d.PowerTransform(2.0).inv == d.PowerTransform(2.0).inv != d.PowerTransform(2.0)
    assert d.ExpTransform().sign == 1 and d.AffineTransform(0.0, -2.0).sign == -1
    assert d.ComposeTransform([d.ExpTransform(), d.PowerTransform(-1.0)]).sign == -1
    with pytest.raises(MissingError, match="sign"):
        _ = d.StickBreakingTransform().sign
    kept = d.TanhTransform(cache_size=1)
    x = made([30.0])
    assert kept.inv(kept(x)) is x and kept(x) is kept(x)
    assert kept.with_cache(1) is kept and kept.with_cache(0) is not kept
    chain = d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)]).with_cache()
    assert chain.inv(chain(x)) is x
    one = d.CatTransform([d.ExpTransform()], cache_size=1)
    assert one.transforms[0](x) is one.transforms[0](x)


def test_mistakes_of_transforms() -> None:
    with pytest.raises(OptionError, match="cache_size 2"):
        d.ExpTransform(cache_size=2)
    with pytest.raises(OptionError, match="differ"):
        d.ReshapeTransform((3,), (2, 2))
    with pytest.raises(ShapeError, match="does not end with"):
        d.ReshapeTransform((4,), (2, 2))(made([1.0]))
    with pytest.raises(ShapeError, match="no triangle"):
        d.CorrCholeskyTransform().forward_shape((4,))
    with pytest.raises(ShapeError, match="not square"):
        d.CorrCholeskyTransform().inverse_shape((2, 3))
    with pytest.raises(ShapeError, match="fewer than 1"):
        d.SoftmaxTransform().forward_shape(())
    with pytest.raises(ShapeError, match="a value has 1 axes"):
        d.IndependentTransform(d.ExpTransform(), 1)(made(1.0))
    with pytest.raises(OptionError, match="2 lengths of 1"):
        d.CatTransform([d.ExpTransform()], lengths=[1, 2])
    with pytest.raises(ShapeError, match="CatTransform"):
        d.CatTransform([d.ExpTransform()], lengths=[2])(made([1.0]))
    with pytest.raises(ShapeError, match="StackTransform"):
        d.StackTransform([d.ExpTransform()])(made([1.0, 2.0]))
    with pytest.raises(OptionError, match=r"domain\.event_dim"):
        _ = d.CorrCholeskyTransform().event_dim


REGIONS: dict[str, tuple[constraints.Constraint, list[Any], list[Any]]] = {
    "boolean": (constraints.boolean, [0.0, 1.0], [0.5, 2.0]),
    "one_hot": (constraints.one_hot, [[0.0, 1.0]], [[1.0, 1.0], [0.0, 0.0], [0.5, 0.5]]),
    "integer_interval": (constraints.integer_interval(-1, 3), [-1.0, 3.0], [-2.0, 0.5, 4.0]),
    "nonnegative_integer": (constraints.nonnegative_integer, [0.0, 7.0], [-1.0, 0.5]),
    "positive_integer": (constraints.positive_integer, [1.0, 7.0], [0.0, 1.5]),
    "real": (constraints.real, [0.0, float("inf")], [float("nan")]),
    "real_vector": (constraints.real_vector, [[0.0, 1.0]], [[float("nan"), 1.0]]),
    "positive": (constraints.positive, [1e-3], [0.0, -1.0]),
    "nonnegative": (constraints.nonnegative, [0.0], [-1.0]),
    "greater_than": (constraints.greater_than(2.0), [2.1], [2.0]),
    "greater_than_eq": (constraints.greater_than_eq(2.0), [2.0], [1.9]),
    "less_than": (constraints.less_than(2.0), [1.9], [2.0]),
    "unit_interval": (constraints.unit_interval, [0.0, 1.0], [-0.1, 1.1]),
    "interval": (constraints.interval(1.0, 2.0), [1.0, 2.0], [0.9, 2.1]),
    "half_open_interval": (constraints.half_open_interval(1.0, 2.0), [1.0, 1.9], [2.0]),
    "simplex": (constraints.simplex, [[0.3, 0.7]], [[0.3, 0.6], [1.2, -0.2]]),
    "multinomial": (constraints.multinomial(3), [[1.0, 2.0]], [[2.0, 2.0], [-1.0, 2.0]]),
    "lower_triangular": (
        constraints.lower_triangular, [[[1.0, 0.0], [2.0, -1.0]]], [[[1.0, 2.0], [0.0, 1.0]]],
    ),
    "lower_cholesky": (
        constraints.lower_cholesky, [[[1.0, 0.0], [2.0, 1.0]]], [[[1.0, 0.0], [2.0, -1.0]]],
    ),
    "corr_cholesky": (
        constraints.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]]], [[[1.0, 0.0], [0.6, 0.9]]],
    ),
    "square": (constraints.square, [[[1.0, 0.0], [2.0, 1.0]]], [[[1.0, 0.0]]]),
    "symmetric": (
        constraints.symmetric, [[[1.0, 3.0], [3.0, 1.0]]], [[[1.0, 2.0], [3.0, 1.0]], [[1.0, 0.0]]],
    ),
    "positive_definite": (
        constraints.positive_definite, [[[1.0, 0.5], [0.5, 1.0]]],
        [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0]]],
    ),
    "positive_semidefinite": (
        constraints.positive_semidefinite, [[[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 2.0]]],
        [[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, -1.0]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REGIONS)
def test_regions(name: str) -> None:
    region, inside, outside = REGIONS[name]
    for value in inside:
        assert region.check(made(value)).tolist() is True
    for value in outside:
        assert region.check(made(value)).tolist() is False
    assert not constraints.is_dependent(region) and repr(region).endswith(")")
    shape = np.shape(inside[0])
    assert region.event_dim == len(shape)
    batch = np.stack([np.asarray(inside[0]), np.asarray(inside[-1])])
    assert region.check(made(batch)).tolist() == [True, True]


def test_regions_of_regions() -> None:
    both = constraints.cat([constraints.positive, constraints.boolean], dim=-1, lengths=[2, 1])
    assert both.check(made([0.5, -1.0, 1.0])).tolist() == [True, False, True]
    assert both.is_discrete and both.event_dim == 0
    piled = constraints.stack([constraints.simplex, constraints.real_vector])
    assert piled.check(made([[0.5, 0.5], [3.0, 1.0]])).tolist() == [True, True]
    assert piled.event_dim == 1
    assert constraints.stack([constraints.simplex], dim=-2).event_dim == 2
    with pytest.raises(OptionError, match="2 lengths of 1"):
        constraints.cat([constraints.real], lengths=[1, 2])
    several = constraints.independent(constraints.positive, 2)
    assert several.check(made([[1.0, 2.0], [3.0, -1.0]])).tolist() is False
    with pytest.raises(ShapeError, match="2 axes, not 1"):
        several.check(made([1.0]))
    assert constraints.is_dependent(constraints.dependent)
    known = constraints.dependent(is_discrete=True, event_dim=1)
    assert known.is_discrete and known.event_dim == 1
    with pytest.raises(NotImplementedError, match="event_dim"):
        _ = constraints.dependent.event_dim
    with pytest.raises(ValueError, match="dependent"):
        constraints.dependent.check(made(1.0))
    assert constraints.is_dependent(d.Uniform.support)
    assert repr(d.Uniform(0.0, 1.0).support).startswith("Interval(lower_bound=")


TO = [name for name in REGIONS if name in (
    "real", "real_vector", "positive", "nonnegative", "greater_than", "greater_than_eq",
    "less_than", "unit_interval", "interval", "half_open_interval", "simplex", "corr_cholesky",
)]  # fmt: skip


@pytest.mark.parametrize("name", TO)
def test_transforms_to_regions(name: str) -> None:
    region = REGIONS[name][0]
    x = made([0.3, -0.4, 1.2])
    for registry in (d.biject_to, d.transform_to):
        transform = registry(region)
        y = transform(x)
        assert bool(region.check(y.float() if name == "corr_cholesky" else y).all())
        if transform.bijective:
            np.testing.assert_allclose(transform.inv(y).numpy(), x.numpy(), atol=1e-6)
    assert d.biject_to(region).bijective


def test_registry() -> None:
    lower = d.transform_to(constraints.lower_cholesky)(made([[0.1, 0.0], [0.2, 0.3]]))
    assert bool(constraints.lower_cholesky.check(lower))
    whole = d.transform_to(constraints.positive_definite)(made([[0.1, 0.0], [0.2, 0.3]]))
    assert bool(constraints.positive_definite.check(whole))
    both = constraints.cat([constraints.positive, constraints.real], lengths=[1, 2])
    assert d.biject_to(both)(made([0.0, 3.0, -1.0])).tolist() == [1.0, 3.0, -1.0]
    piled = constraints.stack([constraints.positive, constraints.real])
    assert d.transform_to(piled)(made([0.0, 3.0])).tolist() == [1.0, 3.0]
    with pytest.raises(NotImplementedError, match="no transform"):
        d.biject_to(constraints.boolean)
    with pytest.raises(OptionError, match="no constraint"):
        d.biject_to.register(3, lambda region: d.ExpTransform())

    class _Odd(constraints.Constraint):
        pass

    d.biject_to.register(_Odd)(lambda region: d.ExpTransform())
    assert isinstance(d.biject_to(_Odd()), d.ExpTransform)
