"""Convolution, pooling, normalisation and resampling layers: errors, initial values, state.

That they compute what PyTorch computes is tested in tests/parity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError

F = tl.functional


def zeros(*shape: int) -> tl.Tensor:
    return tl.zeros(shape)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.Conv2d(3, 4, 3)(zeros(2, 2, 5, 5)), ["conv2d", "(2, 2, 5, 5)", "Conv2d("]),
        (lambda: nn.Conv1d(3, 4, 3)(zeros(2, 3, 2)), ["conv1d", "does not fit", "Conv1d("]),
        (lambda: nn.Conv3d(3, 4, 3)(zeros(3, 3)), ["conv3d", "(3, 3)"]),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ["Conv2d", "groups"]),
        (lambda: F.conv2d(zeros(1, 3, 4, 4), zeros(2, 3, 3, 3), zeros(3)), ["bias", "(3,)"]),
        (lambda: nn.ConvTranspose2d(3, 4, 3)(zeros(2, 2, 5, 5)), ["conv_transpose2d", "(2, 2, 5"]),
        (lambda: nn.ConvTranspose1d(1, 1, 3, output_padding=1)(zeros(1, 4)), ["output_padding"]),
        (lambda: nn.ConvTranspose1d(1, 1, 1, padding=3)(zeros(1, 4)), ["an output of (-2,)"]),
        (lambda: nn.ConvTranspose2d(1, 1, 3, stride=2)(zeros(1, 4, 4), (3, 9)), ["(9, 9)"]),
        (lambda: nn.DeformConv2d(2, 2, 3)(zeros(1, 2, 4, 4), zeros(1, 9, 2, 2)), ["(1, 9, 2, 2)"]),
        (lambda: nn.MaxPool2d(5)(zeros(2, 3, 4, 4)), ["max_pool2d", "(2, 3, 4, 4)"]),
        (lambda: nn.AvgPool1d(2)(zeros(4)), ["avg_pool1d", "(4,)"]),
        (lambda: nn.AdaptiveAvgPool2d((1, 2, 3))(zeros(1, 4, 4)), ["adaptive_avg_pool2d"]),
        (lambda: nn.BatchNorm2d(3)(zeros(2, 3, 4)), ["BatchNorm2d", "(2, 3, 4)"]),
        (lambda: nn.BatchNorm2d(3)(zeros(2, 4, 4, 4)), ["BatchNorm2d", "3 features"]),
        (lambda: nn.BatchNorm1d(3)(zeros(1, 3)), ["batch_norm", "(1, 3)"]),
        (lambda: nn.LayerNorm(3)(zeros(2, 4)), ["layer_norm", "(2, 4)", "LayerNorm("]),
        (lambda: nn.RMSNorm((2, 3))(zeros(3)), ["rms_norm", "(3,)"]),
        (lambda: nn.GroupNorm(3, 4), ["GroupNorm", "3 groups"]),
        (lambda: nn.GroupNorm(2, 4)(zeros(1, 6)), ["group_norm", "(1, 6)"]),
        (lambda: nn.InstanceNorm2d(2, affine=True)(zeros(3, 4, 4)), ["InstanceNorm2d"]),
        (lambda: F.interpolate(zeros(1, 2, 4), 3, mode="bilinear"), ["bilinear", "(1, 2, 4)"]),
        (lambda: nn.PixelShuffle(2)(zeros(3, 2, 2)), ["pixel_shuffle", "(3, 2, 2)"]),
        (lambda: F.fold(zeros(1, 5, 4), 3, 2), ["fold", "(1, 5, 4)"]),
        (lambda: F.pad(zeros(2, 3), (3, 0), "reflect"), ["pad", "axis 1", "(2, 3)"]),
        (lambda: nn.Unflatten(1, (2, 2))(zeros(2, 5)), ["Unflatten", "(2, 5)"]),
    ],
)
def test_shapes_that_do_not_fit(call: Callable[[], Any], words: list[str]) -> None:
    with pytest.raises(ShapeError) as caught:
        call()
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: nn.Conv2d(1, 1, 3, padding="full"), "'full'"),
        (lambda: nn.Conv2d(1, 1, 3, stride=2, padding="same"), "stride of 1"),
        (lambda: nn.Conv2d(1, 1, 3, padding_mode="mirror"), "'mirror'"),
        (lambda: nn.ConvTranspose2d(1, 1, 3, padding_mode="reflect"), "'reflect'"),
        (lambda: nn.MaxPool2d(2, padding=2)(zeros(1, 4, 4)), "the padding 2 is more than half"),
        (lambda: F.avg_pool1d(zeros(1, 4), 3, padding=2), "the padding 2 is more than half"),
        (
            lambda: F.max_unpool1d(zeros(1, 2), tl.zeros((1, 2), "int32"), 2, output_size=[9]),
            "output_size",
        ),
        (lambda: F.avg_pool2d(zeros(1, 4, 4), 2, divisor_override=0), "divisor_override"),
        (lambda: F.batch_norm(zeros(2, 3), zeros(3), zeros(3), training=True), "Variable"),
        (lambda: F.batch_norm(zeros(2, 3), None, None), "running_mean"),
        (lambda: F.interpolate(zeros(1, 2, 4)), "size or scale_factor"),
        (lambda: F.interpolate(zeros(1, 2, 4), 8, antialias=True, mode="linear"), "antialias"),
        (lambda: F.interpolate(zeros(1, 2, 4), 8, align_corners=True), "align_corners"),
        (lambda: F.pad(zeros(2), (1, 1), "mirror"), "'mirror'"),
    ],
)
def test_options_that_do_not_go(call: Callable[[], Any], word: str) -> None:
    with pytest.raises(OptionError, match=word):
        call()


@pytest.mark.parametrize(
    ("layer", "fan"),
    [
        (lambda: nn.Conv1d(8, 64, 5), 40),
        (lambda: nn.Conv2d(8, 64, 3, groups=2), 36),
        (lambda: nn.ConvTranspose2d(16, 64, 3), 64 * 9),
        (lambda: nn.DeformConv2d(8, 64, 3), 72),
    ],
)
def test_initial_values(layer: Callable[[], Any], fan: int) -> None:
    tl.manual_seed(3)
    made = layer()
    bound = fan**-0.5
    for value in (made.weight.numpy(), made.bias.numpy()):
        assert np.abs(value).max() <= bound
        assert np.abs(value).max() > 0.8 * bound
        assert abs(value.std() - bound / 3**0.5) < 0.2 * bound


def test_running_statistics_start_and_start_again() -> None:
    norm = nn.BatchNorm2d(2)
    assert list(norm.state_dict()) == [
        "weight", "bias", "running_mean", "running_var", "num_batches_tracked",
    ]  # fmt: skip
    norm(tl.asarray(np.arange(32, dtype=np.float32).reshape(2, 2, 2, 4)))
    assert norm.num_batches_tracked.item() == 1
    assert norm.running_mean.numpy()[0] > 1
    norm.reset_parameters()
    assert norm.num_batches_tracked.item() == 0
    assert norm.num_batches_tracked.dtype.name == "int64"
    assert norm.running_mean.numpy().tolist() == [0, 0]
    assert norm.running_var.numpy().tolist() == [1, 1]


def test_running_statistics_of_a_compiled_step() -> None:
    norm, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    step = tl.jit(lambda x: norm(x))
    x = tl.asarray(np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32))
    for _ in range(3):
        np.testing.assert_allclose(step(x).numpy(), other(x).numpy(), rtol=1e-5, atol=1e-5)
    for name, value in other.state_dict().items():
        np.testing.assert_allclose(norm.state_dict()[name].numpy(), value.numpy(), rtol=1e-5)


def test_a_border_that_crops_more_than_there_is() -> None:
    """output_padding puts back what padding cuts off beyond the last pixel."""
    x, weight = tl.asarray(np.full((1, 1, 1), 2.0, np.float32)), tl.ones((1, 1, 1))
    result = F.conv_transpose1d(x, weight, stride=6, padding=2, output_padding=5)
    assert result.numpy().tolist() == [[[0.0, 0.0]]]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_second_derivatives_pass_linear_maps(mode: str) -> None:
    x = tl.asarray(np.random.default_rng(1).normal(size=(1, 1, 3, 4)).astype(np.float32),
                   requires_grad=True)  # fmt: skip
    F.interpolate(x * x * x, (5, 6), mode=mode).sum().backward(create_graph=True)
    assert x.grad is not None
    first, x.grad = x.grad, None
    first.sum().backward()
    whole = tl.ones((1, 1, 3, 4)).requires_grad_()
    F.interpolate(whole, (5, 6), mode=mode).sum().backward()
    assert x.grad is not None and whole.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), (6 * x * whole.grad).numpy(), rtol=1e-4, atol=1e-5)


def test_second_derivatives_of_norms() -> None:
    """By differences of first ones."""
    rng = np.random.default_rng(2)
    start, way = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    weight = tl.asarray(rng.normal(size=(3, 4)))

    def first(at: Any) -> Any:
        x = tl.asarray(at, requires_grad=True)
        (F.layer_norm(x, (4,)) * weight).sum().backward(create_graph=True)
        return x, x.grad

    x, gradient = first(start)
    x.grad = None
    (gradient * tl.asarray(way)).sum().backward()
    step = 1e-5
    ends = [first(start + sign * step * way)[1].numpy() for sign in (1, -1)]
    np.testing.assert_allclose(x.grad.numpy(), (ends[0] - ends[1]) / (2 * step), atol=1e-6)
