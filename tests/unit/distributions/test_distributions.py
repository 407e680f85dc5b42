"""Distributions, against integrals over their own densities, and draws against both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import distributions as d
from tallow.errors import OptionError, ShapeError

from .cases import CASES, MATRICES


def number(value: float) -> tl.Tensor:
    return tl.asarray(value, "float64")


def gradient(x: tl.Tensor) -> np.ndarray:
    assert x.grad is not None
    found: np.ndarray = x.grad.numpy()
    return found


# A distribution, another one of the family, and where nearly all of both is.
CONTINUOUS: dict[str, tuple[Callable[..., Any], tuple[float, ...], tuple[float, ...], Any]] = {
    "normal": (d.Normal, (0.3, 0.8), (-0.2, 1.1), (-12, 12)),
    "laplace": (d.Laplace, (0.3, 0.8), (-0.2, 1.1), (-40, 40)),
    "gumbel": (d.Gumbel, (0.3, 0.8), (0.1, 0.9), (-12, 40)),
    "log_normal": (d.LogNormal, (0.1, 0.4), (0.2, 0.5), (1e-6, 40)),
    "uniform": (d.Uniform, (-1.0, 2.5), (-1.5, 3.0), (-1.0, 2.5)),
    "exponential": (d.Exponential, (1.7,), (0.9,), (0.0, 40)),
}


def made(name: str, other: bool = False) -> Any:
    family, parameters, others, _ = CONTINUOUS[name]
    return family(*map(number, others if other else parameters))


def points(name: str) -> np.ndarray:
    """The middles of many small intervals."""
    low, high = CONTINUOUS[name][3]
    count = 400_000
    return low + (np.arange(count) + 0.5) * ((high - low) / count)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_what_follows_from_the_density(name: str) -> None:
    one, x = made(name), points(name)
    step = x[1] - x[0]
    logs = one.log_prob(tl.asarray(x)).numpy()
    density = np.exp(logs)
    assert (density * step).sum() == pytest.approx(1, abs=1e-5)
    mean = (x * density * step).sum()
    assert one.mean.item() == pytest.approx(mean, abs=1e-4)
    spread = ((x - mean) ** 2 * density * step).sum()
    assert one.variance.item() == pytest.approx(spread, rel=1e-3)
    assert one.stddev.item() == pytest.approx(spread**0.5, rel=1e-3)
    assert one.entropy().item() == pytest.approx(-(logs * density * step).sum(), abs=1e-4)
    assert one.perplexity().item() == pytest.approx(np.exp(one.entropy().item()))
    if name != "uniform":
        assert one.mode.item() == pytest.approx(x[density.argmax()], abs=1e-3)
    below = np.cumsum(density) * step
    some = (
        np.array([20_000, 150_000, 200_000, 230_000]) if name != "log_normal" else [5_000, 20_000]
    )
    found = one.cdf(tl.asarray(x[some])).numpy()
    np.testing.assert_allclose(found, below[some], atol=2e-4)
    inside = (found > 1e-3) & (found < 1 - 1e-3)
    back = one.icdf(tl.asarray(found)).numpy()
    np.testing.assert_allclose(back[inside], x[some][inside], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_divergence(name: str) -> None:
    one, other, x = made(name), made(name, True), points(name)
    logs = [each.log_prob(tl.asarray(x)).numpy() for each in (one, other)]
    expected = (np.exp(logs[0]) * (logs[0] - logs[1])).sum() * (x[1] - x[0])
    assert d.kl_divergence(one, other).item() == pytest.approx(expected, abs=1e-4)
    assert d.kl_divergence(one, one).item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_draws(name: str) -> None:
    family, parameters, _, _ = CONTINUOUS[name]
    tl.manual_seed(11)
    given = [tl.asarray([value, value]).requires_grad_() for value in parameters]
    one = family(*given)
    assert one.batch_shape == (2,) and one.event_shape == ()
    drawn = one.sample((50_000,))
    assert drawn.shape == (50_000, 2) and not drawn.requires_grad
    deviation = one.stddev.numpy()
    np.testing.assert_allclose(drawn.numpy().mean(0), one.mean.numpy(), atol=0.02 * deviation.max())
    np.testing.assert_allclose(drawn.numpy().std(0), deviation, rtol=0.04)
    # The gradient of the draws' mean is that of the mean itself.
    one.rsample((50_000,)).mean().backward()
    found = [gradient(each) for each in given]
    for each in given:
        each.grad = None
    one.mean.mean().backward()
    for each, grad in zip(given, found, strict=True):
        if each.grad is not None:
            np.testing.assert_allclose(grad, gradient(each), atol=0.03)


def test_bernoulli() -> None:
    probs = np.array([0.1, 0.5, 0.8])
    for one in (
        d.Bernoulli(tl.asarray(probs)),
        d.Bernoulli(logits=tl.asarray(np.log(probs / (1 - probs)))),
    ):
        for value in (0.0, 1.0):
            expected = np.log(probs if value else 1 - probs)
            np.testing.assert_allclose(one.log_prob(value).numpy(), expected)
        entropy = -probs * np.log(probs) - (1 - probs) * np.log(1 - probs)
        np.testing.assert_allclose(one.entropy().numpy(), entropy)
        np.testing.assert_allclose(one.variance.numpy(), probs * (1 - probs))
        assert one.mode.tolist()[::2] == [0, 1] and np.isnan(one.mode.numpy()[1])
    tl.manual_seed(3)
    one = d.Bernoulli(tl.asarray(probs, "float32"))
    drawn = one.sample((20_000,)).numpy()
    assert set(np.unique(drawn)) == {0.0, 1.0}
    np.testing.assert_allclose(drawn.mean(0), probs, atol=0.02)
    other = d.Bernoulli(0.4)
    expected = probs * np.log(probs / 0.4) + (1 - probs) * np.log((1 - probs) / 0.6)
    np.testing.assert_allclose(d.kl_divergence(one, other).numpy(), expected, atol=1e-5)


def test_categorical() -> None:
    weights = np.array([[1.0, 3.0, 4.0], [2.0, 2.0, 4.0]])
    probs = weights / weights.sum(1, keepdims=True)
    for one in (
        d.Categorical(tl.asarray(weights)),
        d.Categorical(logits=tl.asarray(np.log(weights))),
    ):
        np.testing.assert_allclose(one.probs.numpy(), probs)
        values = tl.asarray([[0, 1], [2, 2], [1, 0]])
        expected = np.log(probs[[0, 1], values.numpy()])
        np.testing.assert_allclose(one.log_prob(values).numpy(), expected)
        np.testing.assert_allclose(one.log_prob(2).numpy(), np.log(probs[:, 2]))
        np.testing.assert_allclose(one.entropy().numpy(), -(probs * np.log(probs)).sum(1))
        assert one.mode.tolist() == [2, 2]
        assert one.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
        assert one.enumerate_support(expand=False).shape == (3, 1)
    tl.manual_seed(4)
    drawn = one.sample((20_000,))
    assert drawn.shape == (20_000, 2) and drawn.dtype == tl.int32
    shares = np.stack([np.bincount(column, minlength=3) for column in drawn.numpy().T]) / 20_000
    np.testing.assert_allclose(shares, probs, atol=0.015)
    other = d.Categorical(tl.asarray([0.2, 0.3, 0.5], "float64"))
    expected = (probs * np.log(probs / [0.2, 0.3, 0.5])).sum(1)
    np.testing.assert_allclose(d.kl_divergence(one, other).numpy(), expected)
    hot = d.OneHotCategorical(tl.asarray(weights))
    assert (hot.batch_shape, hot.event_shape) == ((2,), (3,))
    draw = hot.sample()
    assert draw.shape == (2, 3) and draw.sum(1).tolist() == [1, 1]
    np.testing.assert_allclose(hot.log_prob(draw).numpy(), np.log((probs * draw.numpy()).sum(1)))
    assert hot.mode.tolist() == [[0, 0, 1], [0, 0, 1]]


def test_a_policys_gradient() -> None:
    logits = tl.asarray([0.2, -0.4, 0.1], requires_grad=True)
    policy = d.Categorical(logits=logits)
    (-policy.log_prob(tl.asarray(1))).backward()
    probs = np.exp(logits.numpy()) / np.exp(logits.numpy()).sum()
    np.testing.assert_allclose(gradient(logits), probs - [0, 1, 0], atol=1e-6)


def test_several_variables_as_one() -> None:
    base = d.Normal(tl.zeros(4, 3), tl.ones(4, 3))
    one = d.Independent(base, 1)
    assert (one.batch_shape, one.event_shape) == ((4,), (3,))
    x = tl.randn(4, 3)
    np.testing.assert_allclose(one.log_prob(x).numpy(), base.log_prob(x).numpy().sum(1), rtol=1e-6)
    assert one.sample((2,)).shape == (2, 4, 3) and one.rsample().shape == (4, 3)
    shifted = d.Independent(d.Normal(tl.ones(4, 3), tl.ones(4, 3)), 1)
    np.testing.assert_allclose(d.kl_divergence(one, shifted).numpy(), np.full(4, 1.5))
    with pytest.raises(OptionError, match="of 1 and of 2 axes"):
        d.kl_divergence(one, d.Independent(base, 2))
    with pytest.raises(OptionError, match="reinterpreted_batch_ndims=3"):
        d.Independent(base, 3)


def test_draws_under_jit_differ_from_call_to_call() -> None:
    @tl.jit
    def draw(scale: tl.Tensor) -> tl.Tensor:
        return d.Normal(0.0, scale).sample((3,))

    scale = tl.ones(2)
    assert draw(scale).shape == (3, 2)
    assert draw(scale).tolist() != draw(scale).tolist()
    assert draw.plans == 1


def test_mistakes() -> None:
    with pytest.raises(OptionError, match="either probs or logits"):
        d.Bernoulli()
    with pytest.raises(OptionError, match="either probs or logits"):
        d.Categorical(tl.ones(3), logits=tl.ones(3))
    with pytest.raises(ShapeError, match="no axis of categories"):
        d.Categorical(tl.asarray(1.0))
    with pytest.raises(ShapeError):
        d.Normal(tl.zeros(3), tl.ones(2))
    with pytest.raises(OptionError, match="no rsample"):
        d.Bernoulli(0.5).rsample()
    with pytest.raises(NotImplementedError, match="Uniform and Laplace"):
        d.kl_divergence(d.Uniform(0.0, 1.0), d.Laplace(0.0, 1.0))


def test_a_formula_of_ones_own() -> None:
    class Odd(d.Normal):
        pass

    @d.register_kl(Odd, d.Uniform)
    def _odd(p: Odd, q: d.Uniform) -> tl.Tensor:
        return p.loc + 7.0

    assert d.kl_divergence(Odd(0.0, 1.0), d.Uniform(0.0, 1.0)).item() == 7
    assert repr(d.Normal(tl.zeros(2), 1.0)) == "Normal(batch_shape=(2,), event_shape=())"


@pytest.mark.parametrize(
    "make",
    [
        lambda: d.Normal(0.0, -1.0),
        lambda: d.Normal(tl.asarray([0.0, float("nan")]), 1.0),
        lambda: d.Gamma(tl.asarray([1.0, 0.0]), 1.0),
        lambda: d.Chi2(-1.0),
        lambda: d.Bernoulli(1.5),
        lambda: d.Bernoulli(tl.asarray([0.5, -0.1])),
        lambda: d.Categorical(tl.asarray([0.5, -0.1])),
        lambda: d.Multinomial(3, tl.asarray([0.5, -0.1])),
        lambda: d.Dirichlet(tl.asarray([0.5, -0.1])),
        lambda: d.Uniform(1.0, 1.0),
        lambda: d.Geometric(0.0),
        lambda: d.Binomial(-1, 0.5),
        lambda: d.Binomial(1.5, 0.5),
        lambda: d.NegativeBinomial(1.0, 1.0),
        lambda: d.HalfNormal(-1.0),
        lambda: d.LogNormal(0.0, -1.0),
        lambda: d.Pareto(1.0, -1.0),
        lambda: d.RelaxedBernoulli(0.5, 1.5),
        lambda: d.MultivariateNormal(tl.zeros(2), tl.asarray([[1.0, 2.0], [2.0, 1.0]])),
        lambda: d.MultivariateNormal(tl.zeros(2), scale_tril=tl.asarray([[1.0, 2.0], [2.0, 1.0]])),
        lambda: d.Wishart(0.5, tl.eye(2, dtype="float32")),
        lambda: d.LKJCholesky(3, -1.0),
        lambda: d.LKJCholesky(1),
        lambda: d.Normal(0.0, 1.0).log_prob(tl.asarray(float("nan"))),
        lambda: d.Exponential(1.0).log_prob(-1.0),
        lambda: d.Poisson(1.0).log_prob(0.5),
        lambda: d.Uniform(0.0, 1.0).cdf(2.0),
        lambda: d.Beta(1.0, 2.0).log_prob(tl.asarray([0.5, 1.5])),
        lambda: d.Categorical(tl.asarray([0.5, 0.5])).log_prob(2),
        lambda: d.Dirichlet(tl.asarray([0.5, 0.1])).log_prob(tl.asarray([0.5, 0.1])),
        lambda: d.OneHotCategorical(tl.asarray([0.5, 0.5])).log_prob(tl.asarray([1.0, 1.0])),
        lambda: d.Normal(tl.zeros(3), 1.0).log_prob(tl.zeros(2)),
        lambda: d.Dirichlet(tl.ones(3)).log_prob(tl.ones(2)),
        lambda: d.Dirichlet(tl.asarray(1.0)),
        lambda: d.Normal("a", 1.0),
        lambda: d.Multinomial(-1, tl.ones(2)),
        lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), [3]),  # type: ignore[list-item]
        lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), d.StickBreakingTransform()),
        lambda: d.MixtureSameFamily(d.Normal(0.0, 1.0), d.Normal(0.0, 1.0)),
        lambda: d.MixtureSameFamily(d.Categorical(tl.ones(2)), tl.ones(2)),
        lambda: d.MixtureSameFamily(d.Categorical(tl.ones(2)), d.Normal(tl.zeros(3), 1.0)),
        lambda: d.MultivariateNormal(tl.zeros(2)),
        lambda: d.MultivariateNormal(tl.asarray(0.0), tl.eye(2)),
        lambda: d.MultivariateNormal(tl.zeros(2), tl.ones(2)),
        lambda: d.LowRankMultivariateNormal(tl.zeros(2), tl.ones(3, 1), tl.ones(2)),
        lambda: d.LowRankMultivariateNormal(tl.zeros(2), tl.ones(2), tl.ones(2)),
        lambda: d.Distribution.set_default_validate_args(3),
        lambda: d.register_kl(int, d.Normal),
        lambda: d.kl_divergence(
            d.MultivariateNormal(tl.zeros(2), tl.eye(2, dtype="float32")),
            d.MultivariateNormal(tl.zeros(3), tl.eye(3, dtype="float32")),
        ),
    ],
)
def test_values_that_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert isinstance(caught.value, tl.TallowError)


def test_what_is_looked_at() -> None:
    scale = tl.ones(3) - 2.0 * (tl.arange(3).float() - 0.5)  # what is computed is not
    d.Normal(0.0, scale.exp().log()).log_prob(1.0)
    with pytest.raises(ValueError, match=r"scale must lie in GreaterThan\(lower_bound=0.0\)"):
        d.Normal(0.0, scale.exp().log(), validate_args=True)
    one = d.Exponential(1.0, validate_args=False)
    assert one.log_prob(-1.0).item() == 1
    assert d.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    drawn = d.Exponential(1.0).sample((3,)) - 9.0
    d.Exponential(1.0).log_prob(drawn)
    with pytest.raises(ValueError, match="a value must lie in"):
        d.Exponential(1.0, validate_args=True).log_prob(drawn)
    try:
        d.Distribution.set_default_validate_args(False)
        d.Normal(0.0, -1.0)
        d.Distribution.set_default_validate_args(True)
        with pytest.raises(ValueError, match="scale"):
            d.Normal(0.0, scale.exp().log())
    finally:
        d.Distribution.set_default_validate_args(None)


@pytest.mark.parametrize("name", [*CASES, *MATRICES])
def test_expand(name: str) -> None:
    build, _ = {**CASES, **MATRICES}[name]
    one = build(d, lambda value: tl.asarray(np.asarray(value, np.float32)))
    wide = one.expand((4, *one.batch_shape))
    assert type(wide) is type(one)
    assert (wide.batch_shape, wide.event_shape) == ((4, *one.batch_shape), one.event_shape)
    drawn = wide.sample((2,))
    assert drawn.shape == (2, 4, *one.batch_shape, *one.event_shape)
    expected = one.log_prob(drawn).numpy()
    np.testing.assert_allclose(wide.log_prob(drawn).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert drawn.dtype == (tl.int32 if name.startswith("Categorical") else tl.float32)


@pytest.mark.parametrize(
    "one",
    [
        d.Bernoulli(0.3), d.Beta(1.5, 2.5), d.ContinuousBernoulli(0.3), d.Exponential(1.5),
        d.Dirichlet(tl.asarray([0.5, 1.5, 2.0])), d.Gamma(1.5, 2.5), d.Normal(0.5, 1.5),
    ],
)  # fmt: skip
def test_normalizers(one: Any) -> None:
    """Entropy and divergence by them, where their formulas are known too."""
    if not isinstance(one, (d.Beta, d.Dirichlet)):
        found = d.ExponentialFamily.entropy(one)
        assert found.item() == pytest.approx(one.entropy().item(), abs=1e-5)
    family = d.divergence._FORMULAS[d.ExponentialFamily, d.ExponentialFamily]
    other = type(one)(*[value * 1.3 for value in (
        (one.probs,) if hasattr(one, "probs") else (one.rate,) if type(one) is d.Exponential
        else [getattr(one, name) for name in one.arg_constraints]
    )])  # fmt: skip
    expected = d.kl_divergence(one, other).item()
    assert family(one, other).item() == pytest.approx(expected, abs=1e-5)


def test_shared_helpers() -> None:
    from tallow.distributions import utils

    lower = utils.vec_to_tril_matrix(tl.asarray([1.0, 2.0, 3.0]))
    assert lower.tolist() == [[1, 0], [2, 3]]
    assert utils.tril_matrix_to_vec(lower).tolist() == [1, 2, 3]
    strict = utils.vec_to_tril_matrix(tl.asarray([[1.0, 2.0, 3.0]]), -1)
    assert strict.tolist() == [[[0, 0, 0], [1, 0, 0], [2, 3, 0]]]
    assert utils.tril_matrix_to_vec(strict, -1).tolist() == [[1, 2, 3]]
    with pytest.raises(ShapeError, match="no triangle"):
        utils.vec_to_tril_matrix(tl.ones(4))
    with pytest.raises(OptionError, match="no diagonal"):
        utils.tril_matrix_to_vec(lower, 2)
    a, b = utils.broadcast_all(1.0, tl.zeros(3, dtype=tl.float64))
    assert a.shape == b.shape == (3,) and a.dtype == tl.float64
    odds = utils.probs_to_logits(tl.asarray([0.25, 1.0]), is_binary=True)
    np.testing.assert_allclose(odds.numpy()[0], np.log(1 / 3), rtol=1e-6)
    back = utils.logits_to_probs(odds, is_binary=True)
    np.testing.assert_allclose(back.numpy(), [0.25, 1.0], rtol=1e-6)
