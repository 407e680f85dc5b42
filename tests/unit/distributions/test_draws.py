"""Draws, by their moments, and the gradients that pass them. Seeds are fixed; bounds are several
standard errors wide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import distributions as d

COUNT = 20_000


def made(value: Any) -> tl.Tensor:
    return tl.asarray(np.asarray(value, np.float32))


FAMILIES: dict[str, Callable[[], Any]] = {
    "Beta": lambda: d.Beta(made([0.5, 2.0, 30.0]), made([1.5, 0.7, 4.0])),
    "Binomial-few": lambda: d.Binomial(9, made([0.0, 0.1, 0.6, 1.0])),
    "Binomial-many": lambda: d.Binomial(made([25.0, 100.0, 1e4]), made([0.45, 0.9, 0.2])),
    "Chi2": lambda: d.Chi2(made([0.7, 4.0])),
    "ContinuousBernoulli": lambda: d.ContinuousBernoulli(made([0.1, 0.5, 0.9])),
    "Dirichlet": lambda: d.Dirichlet(made([[0.5, 2.0, 3.0], [0.3, 0.7, 0.2]])),
    "FisherSnedecor": lambda: d.FisherSnedecor(made([3.0, 8.0]), made([12.0, 20.0])),
    "Gamma": lambda: d.Gamma(made([0.05, 0.6, 1.0, 3.0, 500.0]), made([0.5, 1.0, 2.0, 1.0, 9.0])),
    "GeneralizedPareto": lambda: d.GeneralizedPareto(made([1.0, 0.0]), 2.0, made([0.1, -0.3])),
    "Geometric": lambda: d.Geometric(made([0.1, 0.5, 1.0])),
    "HalfNormal": lambda: d.HalfNormal(made([0.5, 3.0])),
    "InverseGamma": lambda: d.InverseGamma(made([5.0, 9.0]), made([1.0, 3.0])),
    "Kumaraswamy": lambda: d.Kumaraswamy(made([0.5, 3.0]), made([2.0, 4.0])),
    "LowRankMultivariateNormal": lambda: d.LowRankMultivariateNormal(
        made([0.0, 1.0]), made([[1.0], [-2.0]]), made([0.3, 0.5])
    ),
    "MixtureSameFamily": lambda: d.MixtureSameFamily(
        d.Categorical(made([0.3, 0.7])), d.Normal(made([-2.0, 1.0]), made([0.5, 1.0]))
    ),
    "Multinomial": lambda: d.Multinomial(5, made([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])),
    "MultivariateNormal": lambda: d.MultivariateNormal(
        made([[0.0, 1.0]]), made([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.9], [-0.9, 1.0]]])
    ),
    "NegativeBinomial": lambda: d.NegativeBinomial(made([2.0, 20.0]), made([0.3, 0.6])),
    "OneHotCategorical": lambda: d.OneHotCategoricalStraightThrough(made([0.2, 0.3, 0.5])),
    "Pareto": lambda: d.Pareto(made([1.0, 2.0]), made([6.0, 9.0])),
    "Poisson": lambda: d.Poisson(made([0.0, 0.3, 4.0, 9.9, 10.0, 33.0, 2e4])),
    "StudentT": lambda: d.StudentT(made([8.0, 30.0]), made([0.0, 1.0]), made([1.0, 0.5])),
    "Weibull": lambda: d.Weibull(made([1.0, 2.0]), made([0.9, 3.0])),
    "Wishart": lambda: d.Wishart(made([4.5, 7.0]), made([[2.0, 0.5], [0.5, 1.0]])),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_moments(name: str) -> None:
    tl.manual_seed(5)
    one = FAMILIES[name]()
    drawn = one.sample((COUNT,))
    assert drawn.shape == (COUNT, *one.batch_shape, *one.event_shape)
    assert not drawn.requires_grad
    assert bool(one.support.check(drawn).all()) or name in ("Dirichlet", "Wishart")
    mean, spread = one.mean.numpy(), one.stddev.numpy()
    x = drawn.numpy().astype(np.float64)
    error = spread / COUNT**0.5
    assert (np.abs(x.mean(0) - mean) <= 6 * error + 1e-5 * np.abs(mean)).all()
    np.testing.assert_allclose(x.std(0), spread, rtol=0.12, atol=1e-6)


def test_moments_of_the_other_families() -> None:
    tl.manual_seed(6)
    halves = d.HalfCauchy(made(2.0)).sample((COUNT,)).numpy()
    assert np.median(halves) == pytest.approx(2.0, rel=0.05)
    line = d.Cauchy(made(1.0), made(2.0)).sample((COUNT,)).numpy()
    assert np.quantile(line, [0.25, 0.5, 0.75]) == pytest.approx([-1, 1, 3], abs=0.15)
    for concentration in (0.01, 0.5, 4.0, 1e4):
        one = d.VonMises(made(3.0), made(concentration))
        angles = one.sample((COUNT,)).numpy().astype(np.float64)
        assert (np.abs(angles) <= np.pi + 1e-6).all()
        length = 1 - one.variance.item()
        assert np.cos(angles - 3.0).mean() == pytest.approx(length, abs=0.03)
        assert np.sin(angles - 3.0).mean() == pytest.approx(0.0, abs=0.03)
    sharp = d.VonMises(made(0.0), made(1e4)).sample((COUNT,)).numpy()
    assert sharp.std() == pytest.approx(0.01, rel=0.05)
    factors = d.LKJCholesky(3, made([0.7, 5.0])).sample((4000,))
    assert bool(d.constraints.corr_cholesky.check(factors).all())
    correlations = (factors @ factors.mT).numpy()[..., 0, 2]
    # Each is 2 Beta(a, a) - 1, of a = concentration + (dim - 2) / 2.
    for number, a in enumerate((1.2, 5.5)):
        assert correlations[:, number].var() == pytest.approx(1 / (2 * a + 1), rel=0.1)
    cold = d.RelaxedOneHotCategorical(made(0.1), made([0.2, 0.3, 0.5])).sample((COUNT,)).numpy()
    np.testing.assert_allclose(cold.sum(-1), 1, atol=1e-4)
    shares = np.bincount(cold.argmax(-1), minlength=3) / COUNT
    np.testing.assert_allclose(shares, [0.2, 0.3, 0.5], atol=0.015)
    near = d.RelaxedBernoulli(made(0.1), made(0.3)).sample((COUNT,)).numpy()
    assert (near > 0.5).mean() == pytest.approx(0.3, abs=0.015)
    broken = d.LogisticNormal(made([0.0, 1.0]), made([1.0, 0.3])).sample((50,)).numpy()
    np.testing.assert_allclose(broken.sum(-1), 1, atol=1e-5)


def test_counts_have_the_shares_of_their_probabilities() -> None:
    tl.manual_seed(7)
    for one, most in (
        (d.Poisson(made(12.5)), 40), (d.Poisson(made(3.0)), 20), (d.Binomial(40, made(0.3)), 40),
        (d.Binomial(60, made(0.7)), 60), (d.NegativeBinomial(3.0, made(0.4)), 30),
    ):  # fmt: skip
        drawn = one.sample((50_000,)).numpy().astype(int)
        found = np.bincount(drawn, minlength=most + 1)[: most + 1] / 50_000
        expected = np.exp(one.log_prob(tl.arange(most + 1).float()).numpy())
        np.testing.assert_allclose(found, expected, atol=0.008)


# How the mean of draws, or of their squares, moves with each parameter.
SLOPES: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "Beta": (d.Beta, (1.5, 2.5)),
    "ContinuousBernoulli": (d.ContinuousBernoulli, (0.3,)),
    "FisherSnedecor": (d.FisherSnedecor, (6.0, 14.0)),
    "Gamma-small": (d.Gamma, (0.3, 1.5)),
    "Gamma": (d.Gamma, (4.0, 1.5)),
    "Gamma-large": (d.Gamma, (60.0, 8.0)),
    "HalfNormal": (d.HalfNormal, (1.5,)),
    "InverseGamma": (d.InverseGamma, (9.0, 2.0)),
    "Kumaraswamy": (d.Kumaraswamy, (1.5, 2.5)),
    "Pareto": (d.Pareto, (1.0, 8.0)),
    "Weibull": (d.Weibull, (1.5, 2.5)),
}


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_of_draws(name: str) -> None:
    family, numbers = SLOPES[name]
    tl.manual_seed(8)
    given = [tl.asarray(value).requires_grad_() for value in numbers]
    one = family(*given)
    assert one.has_rsample
    moments = (one.mean, one.variance + one.mean * one.mean)
    drawn = one.rsample((40_000,))
    for moment, estimate in zip(moments, (drawn, drawn * drawn), strict=True):
        expected = tl.autograd.grad(moment, given, retain_graph=True, materialize_grads=True)
        found = tl.autograd.grad(estimate.mean(), given, retain_graph=True)
        for left, right in zip(found, expected, strict=True):
            assert left is not None and right is not None
            assert left.item() == pytest.approx(right.item(), rel=0.08, abs=0.01)


def test_implicit_gradients_are_those_of_the_quantile() -> None:
    """Beside differences of the distribution function in double precision."""
    from tallow.functions.gamma import gamma_slope, gammainc

    a = np.array([0.05, 0.3, 1.0, 2.5, 9.0, 80.0])[:, None]
    x = np.maximum(a * np.array([0.05, 0.4, 0.9, 1.01, 1.1, 1.9]), 1e-12)
    a = np.broadcast_to(a, x.shape)
    step = 1e-4 * a
    upper, lower = (gammainc(tl.asarray(a + s), tl.asarray(x)).numpy() for s in (step, -step))
    one = d.Gamma(tl.asarray(a), tl.asarray(np.ones_like(a)))
    density = np.exp(one.log_prob(tl.asarray(x)).numpy())
    expected = -(upper - lower) / (2 * step) / density
    found = gamma_slope(tl.asarray(a), tl.asarray(x)).numpy()
    np.testing.assert_allclose(found, expected, rtol=5e-4)
    single = gamma_slope(made(a), made(x)).numpy()
    np.testing.assert_allclose(single, found, rtol=3e-4)


def test_gradients_pass_parts_of_one() -> None:
    tl.manual_seed(9)
    a = made([0.6, 2.0, 3.0]).requires_grad_()
    one = d.Dirichlet(a)
    one.rsample((20_000,))[:, 0].mean().backward()
    assert a.grad is not None
    drawn = a.grad.numpy()
    a.grad = None
    one.mean[0].backward()
    np.testing.assert_allclose(drawn, a.grad.numpy(), atol=0.01)


def test_gradients_pass_a_choice_as_if_it_were_its_probability() -> None:
    logits = made([0.1, 0.5, -0.4]).requires_grad_()
    one = d.OneHotCategoricalStraightThrough(logits=logits)
    drawn = one.rsample()
    assert sorted(drawn.tolist()) == [0, 0, 1]
    weights = made([1.0, 2.0, 3.0])
    found = tl.autograd.grad((drawn * weights).sum(), logits)[0]
    expected = tl.autograd.grad((one.probs * weights).sum(), logits)[0]
    assert found is not None and expected is not None
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5)


def test_draws_under_jit() -> None:
    @tl.jit
    def draw(a: tl.Tensor) -> tl.Tensor:
        return d.Gamma(a, 1.0).sample((500,)) + d.Poisson(a).sample((500,))

    first, second = draw(made([2.0, 20.0])).numpy(), draw(made([2.0, 20.0])).numpy()
    assert first.shape == (500, 2) and not np.array_equal(first, second)
    assert draw.plans == 1
