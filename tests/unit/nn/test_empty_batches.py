"""An empty batch gives an empty result, and parameters a gradient of 0, as in PyTorch: all layers,
on each device and with a NumPy that has no BLAS, as in a browser.

The shapes of results are those of a batch of two, with 0 instead of 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812
from tallow import nn
from tallow.tensor import Tensor

BATCH = 2


def leaf(*shape: int) -> Tensor:
    values = np.linspace(-1, 1, math.prod(shape), dtype=np.float32).reshape(shape)
    return tl.asarray(values, requires_grad=True)


def whole(*shape: int) -> Tensor:
    return tl.asarray(np.zeros(shape, np.int64))


# Of a batch of n, in the order of nn: what makes the layer, and its inputs.
Layer = tuple[Callable[[], Any], Callable[[int], list[Tensor]]]
LINE = lambda n: [leaf(n, 3, 8)]  # noqa: E731
PLANE = lambda n: [leaf(n, 3, 6, 6)]  # noqa: E731
SPACE = lambda n: [leaf(n, 3, 4, 4, 4)]  # noqa: E731
ROWS = lambda n: [leaf(n, 4)]  # noqa: E731
PAIRS = lambda n: [leaf(n, 4), leaf(n, 4)]  # noqa: E731
STEPS = lambda n: [leaf(n, 5, 4)]  # noqa: E731


def simple(name: str, *args: Any, of: Callable[[int], list[Tensor]] = ROWS, **kwargs: Any) -> Layer:
    return lambda: getattr(nn, name)(*args, **kwargs), of


def unpooled(name: str, *spatial: int) -> Layer:
    return simple(name, 2, of=lambda n: [leaf(n, 3, *spatial), whole(n, 3, *spatial)])


LAYERS: dict[str, Layer] = {
    "Linear": simple("Linear", 4, 3), "Identity": simple("Identity"),
    "Bilinear": simple("Bilinear", 4, 4, 2, of=PAIRS),
    "Conv1d": simple("Conv1d", 3, 4, 3, of=LINE), "Conv2d": simple("Conv2d", 3, 4, 3, of=PLANE),
    "Conv2d, stride": simple("Conv2d", 3, 6, 3, 2, 1, groups=3, of=PLANE),
    "Conv2d, depthwise": simple("Conv2d", 3, 3, 3, 1, 1, groups=3, of=PLANE),
    "Conv3d": simple("Conv3d", 3, 4, 2, of=SPACE),
    "ConvTranspose1d": simple("ConvTranspose1d", 3, 4, 3, 2, of=LINE),
    "ConvTranspose2d": simple("ConvTranspose2d", 3, 4, 3, 2, of=PLANE),
    "ConvTranspose3d": simple("ConvTranspose3d", 3, 4, 2, of=SPACE),
    "DeformConv2d": simple("DeformConv2d", 3, 4, 3,
                           of=lambda n: [leaf(n, 3, 6, 6), leaf(n, 18, 4, 4)]),
    "Embedding": simple("Embedding", 5, 3, of=lambda n: [whole(n, 4)]),
    "EmbeddingBag": simple("EmbeddingBag", 5, 3, of=lambda n: [whole(n, 4)]),
    "EmbeddingBag, max": simple("EmbeddingBag", 5, 3, mode="max", of=lambda n: [whole(n, 4)]),
    "LSTM": simple("LSTM", 4, 3, batch_first=True, of=STEPS),
    "LSTM, two": simple("LSTM", 4, 3, 2, batch_first=True, bidirectional=True, of=STEPS),
    "LSTM, projected": simple("LSTM", 4, 3, proj_size=2, batch_first=True, of=STEPS),
    "GRU": simple("GRU", 4, 3, 2, batch_first=True, bidirectional=True, of=STEPS),
    "RNN": simple("RNN", 4, 3, batch_first=True, of=STEPS),
    "LSTMCell": simple("LSTMCell", 4, 3), "GRUCell": simple("GRUCell", 4, 3),
    "RNNCell": simple("RNNCell", 4, 3),
    "MultiheadAttention": simple("MultiheadAttention", 4, 2, batch_first=True,
                                 of=lambda n: [leaf(n, 5, 4), leaf(n, 3, 4), leaf(n, 3, 4)]),
    "TransformerEncoderLayer": simple("TransformerEncoderLayer", 4, 2, 8, batch_first=True,
                                      of=STEPS),
    "TransformerDecoderLayer": simple("TransformerDecoderLayer", 4, 2, 8, batch_first=True,
                                      of=lambda n: [leaf(n, 5, 4), leaf(n, 3, 4)]),
    "TransformerEncoder": (lambda: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2), STEPS),
    "TransformerDecoder": (lambda: nn.TransformerDecoder(
        nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), 1),
        lambda n: [leaf(n, 5, 4), leaf(n, 3, 4)]),
    "Transformer": simple("Transformer", 4, 2, 1, 1, 8, batch_first=True,
                          of=lambda n: [leaf(n, 5, 4), leaf(n, 3, 4)]),
    "PositionalEncoding": simple("PositionalEncoding", 4, of=STEPS),
    "RotaryEncoding": simple("RotaryEncoding", 4, of=lambda n: [leaf(n, 2, 5, 4)]),
    **{f"{kind}Pool{axes}d": simple(f"{kind}Pool{axes}d", 2, of=of)
       for kind in ("Max", "Avg", "AdaptiveAvg", "AdaptiveMax")
       for axes, of in ((1, LINE), (2, PLANE), (3, SPACE))},
    **{f"LPPool{axes}d": simple(f"LPPool{axes}d", 3, 2, of=of)
       for axes, of in ((1, LINE), (2, PLANE), (3, SPACE))},
    "MaxUnpool1d": unpooled("MaxUnpool1d", 4), "MaxUnpool2d": unpooled("MaxUnpool2d", 3, 3),
    "MaxUnpool3d": unpooled("MaxUnpool3d", 2, 2, 2),
    "BatchNorm1d": simple("BatchNorm1d", 4), "BatchNorm2d": simple("BatchNorm2d", 3, of=PLANE),
    "BatchNorm3d": simple("BatchNorm3d", 3, of=SPACE),
    "InstanceNorm1d": simple("InstanceNorm1d", 3, affine=True, of=LINE),
    "InstanceNorm2d": simple("InstanceNorm2d", 3, of=PLANE),
    "InstanceNorm3d": simple("InstanceNorm3d", 3, of=SPACE),
    "LayerNorm": simple("LayerNorm", 4), "RMSNorm": simple("RMSNorm", 4),
    "GroupNorm": simple("GroupNorm", 3, 3, of=PLANE),
    "LocalResponseNorm": simple("LocalResponseNorm", 2, of=PLANE),
    **{name: simple(name) for name in (
        "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
        "LeakyReLU", "LogSigmoid", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU",
        "Sigmoid", "Softplus", "Softshrink", "Softsign", "SwiGLU", "Tanh", "Tanhshrink",
        "AlphaDropout", "Dropout", "Flatten", "Sequential",
    )},
    "Threshold": simple("Threshold", 0.1, 2.0),
    **{name: simple(name, 1) for name in ("Softmax", "Softmin", "LogSoftmax")},
    "Softmax2d": simple("Softmax2d", of=PLANE),
    "Dropout1d": simple("Dropout1d", of=LINE), "Dropout2d": simple("Dropout2d", of=PLANE),
    "Dropout3d": simple("Dropout3d", of=SPACE),
    "FeatureAlphaDropout": simple("FeatureAlphaDropout", of=PLANE),
    "Unflatten": simple("Unflatten", 1, (2, 2)), "Unflatten, -1": simple("Unflatten", 1, (2, -1)),
    "PixelShuffle": simple("PixelShuffle", 2, of=lambda n: [leaf(n, 4, 3, 3)]),
    "PixelUnshuffle": simple("PixelUnshuffle", 2, of=PLANE),
    "ChannelShuffle": simple("ChannelShuffle", 3, of=PLANE),
    "Fold": simple("Fold", (4, 4), 2, of=lambda n: [leaf(n, 8, 9)]),
    "Unfold": simple("Unfold", 2, of=PLANE),
    "Upsample": simple("Upsample", scale_factor=2, mode="bicubic", of=PLANE),
    "Upsample, linear": simple("Upsample", scale_factor=2, mode="linear", of=LINE),
    "UpsamplingBilinear2d": simple("UpsamplingBilinear2d", scale_factor=2, of=PLANE),
    "UpsamplingNearest2d": simple("UpsamplingNearest2d", scale_factor=2, of=PLANE),
    **{f"{kind}Pad{axes}d": simple(f"{kind}Pad{axes}d", 1, of=of)
       for kind in ("Zero", "Reflection", "Replication", "Circular")
       for axes, of in ((1, LINE), (2, PLANE), (3, SPACE))},
    **{f"ConstantPad{axes}d": simple(f"ConstantPad{axes}d", 1, 2.0, of=of)
       for axes, of in ((1, LINE), (2, PLANE), (3, SPACE))},
    "CosineSimilarity": simple("CosineSimilarity", of=PAIRS),
    "PairwiseDistance": simple("PairwiseDistance", of=PAIRS),
}  # fmt: skip

LOSSES: dict[str, Layer] = {
    **{name: simple(name, of=lambda n: [leaf(n, 4), leaf(n, 4).detach().sigmoid()]) for name in (
        "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss", "KLDivLoss",
        "SoftMarginLoss", "MultiLabelSoftMarginLoss", "PoissonNLLLoss", "HingeEmbeddingLoss",
        "SigmoidFocalLoss",
    )},
    "BCELoss": simple("BCELoss", of=PAIRS),
    "CrossEntropyLoss": simple("CrossEntropyLoss", of=lambda n: [leaf(n, 4), whole(n)]),
    "CrossEntropyLoss, smooth": (
        lambda: nn.CrossEntropyLoss(weight=tl.ones((4,)), label_smoothing=0.1),
        lambda n: [leaf(n, 4), whole(n)]),
    "CrossEntropyLoss of probabilities": simple("CrossEntropyLoss", of=PAIRS),
    "NLLLoss": simple("NLLLoss", of=lambda n: [leaf(n, 4, 3), whole(n, 3)]),
    "MultiMarginLoss": simple("MultiMarginLoss", of=lambda n: [leaf(n, 4), whole(n)]),
    "MultiLabelMarginLoss": simple("MultiLabelMarginLoss", of=lambda n: [leaf(n, 4), whole(n, 4)]),
    "MarginRankingLoss": simple("MarginRankingLoss", of=lambda n: [*PAIRS(n), leaf(n, 4).detach()]),
    "TripletMarginLoss": simple("TripletMarginLoss", of=lambda n: [*PAIRS(n), leaf(n, 4)]),
    "TripletMarginWithDistanceLoss": simple(
        "TripletMarginWithDistanceLoss", of=lambda n: [*PAIRS(n), leaf(n, 4)]),
    "CosineEmbeddingLoss": simple(
        "CosineEmbeddingLoss", of=lambda n: [*PAIRS(n), tl.ones((n,))]),
    "GaussianNLLLoss": simple("GaussianNLLLoss", of=lambda n: [*PAIRS(n), tl.ones((n, 4))]),
}  # fmt: skip

OTHERS = {
    "AdaptiveLogSoftmaxWithLoss", "CTCLoss", "RNNTLoss",  # below, or refused by PyTorch
    "Buffer", "Module", "ModuleDict", "ModuleList", "Parameter", "ParameterDict", "ParameterList",
}  # fmt: skip


def test_all_layers_are_here() -> None:
    names = {name for name in dir(nn) if isinstance(getattr(nn, name), type) and name[0].isupper()}
    names = {name for name in names if getattr(nn, name).__module__.startswith("tallow.nn")}
    lazy = {name for name in names if name.startswith("Lazy")}
    here = {name.split()[0].rstrip(",") for name in [*LAYERS, *LOSSES]}
    assert names - lazy - here - OTHERS == set()


def shape_of(found: Any) -> tuple[int, ...]:
    whole: tuple[int, ...] = (found[0] if isinstance(found, tuple) else found).numpy().shape
    return whole


@cache
def shape_of_two(name: str) -> tuple[int, ...]:
    """The shape of a layer's result for a batch of two."""
    make, inputs = LAYERS[name]
    with tl.no_grad():
        found = make()(*inputs(BATCH))
    shape: tuple[int, ...] = (found[0] if isinstance(found, tuple) else found).shape
    assert shape[0] == BATCH
    return shape


@pytest.mark.parametrize("name", LAYERS)
def test_layers(place: str, name: str) -> None:
    make, inputs = LAYERS[name]
    layer, given = make(), inputs(0)
    found = layer(*given)
    first = found[0] if isinstance(found, tuple) else found
    first.sum().backward()
    assert shape_of(found) == (0, *shape_of_two(name)[1:])
    for x in given:
        if x.requires_grad:
            assert x.grad is None or x.grad.numpy().shape == x.shape
    for key, parameter in layer.named_parameters():
        if parameter.grad is not None:
            assert not parameter.grad.numpy().any(), key


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(place: str, name: str, reduction: str) -> None:
    make, inputs = LOSSES[name]
    loss, given = make(), inputs(0)
    loss.reduction = reduction
    found = loss(*given)
    found.sum().backward()
    if name == "KLDivLoss":
        assert np.isnan(nn.KLDivLoss("batchmean")(*inputs(0)).item())
    if reduction == "none":
        assert found.numpy().shape[0] == 0
    else:
        np.testing.assert_array_equal(found.numpy(), np.nan if reduction == "mean" else 0.0)
    assert given[0].grad is not None and given[0].grad.numpy().shape == given[0].shape


def test_running_statistics_stay(place: str) -> None:
    layer = nn.BatchNorm2d(3)
    layer(leaf(0, 3, 2, 2)).sum().backward()
    assert layer.running_mean.tolist() == [0, 0, 0] and layer.running_var.tolist() == [1, 1, 1]
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [0, 0, 0]


def test_attention_over_no_keys(place: str) -> None:
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    with tl.no_grad():
        layer.out_proj.bias.copy_(tl.asarray([0.5, 1, 1.5, 2]))
    query, key = leaf(2, 5, 4), leaf(2, 0, 4)
    found, weights = layer(query, key, key)
    found.sum().backward()
    assert found.tolist() == [[[0.5, 1, 1.5, 2]] * 5] * 2
    assert weights is not None and weights.numpy().shape == (2, 5, 0)
    assert query.grad is not None and not query.grad.numpy().any()
    assert layer.out_proj.bias.grad is not None and layer.out_proj.bias.grad.tolist() == [10] * 4
    heads = leaf(1, 2, 3, 4), leaf(1, 2, 0, 4)
    assert F.scaled_dot_product_attention(*heads, heads[1]).tolist() == [[[[0.0] * 4] * 3] * 2]


def test_states_of_an_empty_batch(place: str) -> None:
    for layer, count in ((nn.LSTM(4, 3, 2), 2), (nn.GRU(4, 3, 2), 1), (nn.RNN(4, 3, 2), 1)):
        states = tl.zeros((2, 0, 3))
        found, ends = layer(leaf(5, 0, 4), (states, states) if count == 2 else states)
        assert found.numpy().shape == (5, 0, 3)
        for end in ends if count == 2 else [ends]:
            assert end.numpy().shape == (2, 0, 3)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_transcripts_without_targets(place: str, reduction: str) -> None:
    x = leaf(5, 2, 3)
    lengths, none = tl.asarray([5, 5]), tl.asarray([0, 0])
    scores = F.log_softmax(x, -1)
    found = F.ctc_loss(scores, whole(2, 0), lengths, none, reduction=reduction)
    found.sum().backward()
    each = -scores.detach().numpy()[:, :, 0].sum(0)
    wanted = {"mean": each.mean(), "sum": each.sum(), "none": each}[reduction]
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)
    assert x.grad is not None and np.isfinite(x.grad.numpy()).all()
