"""Networks: names and sizes of the published ones, results of the right shapes, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from models.efficientnet_lite0.make import build

import tallow as tl
from tallow import nn, zoo
from tallow.errors import OptionError, ShapeError


def test_sizes_of_a_residual_network() -> None:
    """torchvision lists these numbers with its weights."""
    found = nn.summary(zoo.resnet18(), (1, 3, 224, 224))
    assert found.parameters == 11_689_512
    assert found.rows[0].outputs == ((1, 1000),)
    assert round(found.multiply_adds / 1e9, 3) == 1.814


def test_names_of_residual_networks() -> None:
    state = zoo.resnet18(width=4).state_dict()
    assert list(state)[:6] == [
        "conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var",
        "bn1.num_batches_tracked",
    ]  # fmt: skip
    assert state["layer2.0.downsample.0.weight"].shape == (8, 4, 1, 1)
    assert "layer2.0.downsample.1.running_var" in state
    assert "layer1.0.downsample.0.weight" not in state
    assert len(state) == 122
    deep = zoo.resnet50(width=4).state_dict()
    assert "layer1.0.downsample.0.weight" in deep
    assert "layer4.2.bn3.weight" in deep
    assert len(deep) == 320


def test_efficientnet_is_the_network_of_the_published_weights() -> None:
    """Their converter (models/efficientnet_lite0) makes ONNX of any weights of these names."""
    tl.manual_seed(3)
    net = zoo.EfficientNetLite0(num_classes=5).eval()
    assert nn.summary(zoo.EfficientNetLite0(), (1, 3, 224, 224)).parameters == 4_652_008
    rng = np.random.default_rng(3)
    state = {name: np.asarray(value.numpy()) for name, value in net.state_dict().items()}
    for name in state:
        if "_bn" in name and "num_batches" not in name:
            state[name] = rng.uniform(0.7, 1.3, state[name].shape).astype(np.float32)
    net.load_state_dict(state)
    x = rng.normal(size=(1, 3, 65, 65)).astype(np.float32)
    with tl.onnx.load(build(state, 65)).session(device="numpy") as session:
        (expected,) = session.run({session.plan.inputs[0].name: x}).values()
    np.testing.assert_allclose(net(tl.asarray(x)).numpy(), expected, rtol=1e-3, atol=1e-4)


def test_names_of_gpt2() -> None:
    state = zoo.GPT2(10, 8, 2, 2, 6).state_dict()
    block = ["ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias",
             "attn.c_proj.weight", "attn.c_proj.bias", "ln_2.weight", "ln_2.bias",
             "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight",
             "mlp.c_proj.bias"]  # fmt: skip
    assert set(state) == {
        "wte.weight", "wpe.weight", "ln_f.weight", "ln_f.bias",
        *(f"h.{layer}.{name}" for layer in range(2) for name in block),
    }  # fmt: skip
    assert state["h.0.attn.c_attn.weight"].shape == (8, 24)


def test_names_of_bert() -> None:
    state = zoo.BERT(10, 8, 2, 1, 6).state_dict()
    start = "encoder.layer.0."
    norms = ["attention.output.LayerNorm", "output.LayerNorm"]
    dense = ["attention.self.query", "attention.self.key", "attention.self.value",
             "attention.output.dense", "intermediate.dense", "output.dense"]  # fmt: skip
    layers = [start + name for name in [*norms, *dense]]
    assert set(state) == {
        *(f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")),
        *(f"{name}.{part}" for name in ["embeddings.LayerNorm", "pooler.dense", *layers]
          for part in ("weight", "bias")),
    }  # fmt: skip


def test_bert_ignores_padding() -> None:
    net = zoo.BERT(10, 8, 2, 2, 6).eval()
    seen = tl.asarray(np.array([[True, True, False]]))
    one, pooled = net(tl.asarray([[1, 2, 3]]), seen=seen)
    other, pooled_other = net(tl.asarray([[1, 2, 9]]), seen=seen)
    np.testing.assert_allclose(one.numpy()[:, :2], other.numpy()[:, :2], atol=1e-6)
    np.testing.assert_allclose(pooled.numpy(), pooled_other.numpy(), atol=1e-6)
    alone, _ = net(tl.asarray([[1, 2]]), tl.asarray([[0, 1]]))
    typed, _ = net(tl.asarray([[1, 2]]), tl.asarray([[0, 0]]))
    assert np.abs(alone.numpy() - typed.numpy()).max() > 1e-4


def test_the_smallest_gpt2_has_124_million_parameters() -> None:
    small = zoo.GPT2(50257 // 100, 768 // 16, 12, 12, 1024)
    width, block = 48, 12 * 48 * 48 + 13 * 48
    wanted = 502 * width + 1024 * width + 12 * block + 2 * width
    assert sum(p.size for p in small.parameters()) == wanted
    assert 50257 * 768 + 1024 * 768 + 12 * (12 * 768**2 + 13 * 768) + 2 * 768 == 124_439_808


def tokens(*shape: int) -> tl.Tensor:
    return tl.asarray(np.random.default_rng(0).integers(0, 10, shape).astype(np.int32))


NETWORKS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tl.Tensor], tuple[int, ...]]] = {
    "mlp": (lambda: zoo.MLP(4, [8, 3], norm=nn.BatchNorm1d, dropout=0.1),
            lambda: tl.randn(5, 4), (5, 3)),
    "lenet": (zoo.LeNet5, lambda: tl.randn(2, 1, 32, 32), (2, 10)),
    "lenet28": (lambda: zoo.LeNet5(padding=2), lambda: tl.randn(2, 1, 28, 28), (2, 10)),
    "resnet18": (lambda: zoo.resnet18(width=4, num_classes=5), lambda: tl.randn(2, 3, 32, 32),
                 (2, 5)),
    "resnet50": (lambda: zoo.resnet50(width=2, num_classes=5), lambda: tl.randn(2, 3, 32, 32),
                 (2, 5)),
    "encoder": (lambda: zoo.Encoder(10, 8, 2, 2, 6), lambda: tokens(2, 4), (2, 4, 8)),
    "classes": (lambda: zoo.Encoder(10, 8, 2, 2, 6, 3), lambda: tokens(2, 4), (2, 3)),
    "gpt2": (lambda: zoo.GPT2(10, 8, 2, 2, 6), lambda: tokens(2, 4), (2, 4, 10)),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_every_parameter_gets_a_gradient(name: str) -> None:
    make, example, shape = NETWORKS[name]
    net: Any = make()
    result = net(example())
    assert result.shape == shape
    (result * tl.randn(*shape)).sum().backward()
    for path, parameter in net.named_parameters():
        assert parameter.grad is not None, path
        assert np.isfinite(parameter.grad.numpy()).all(), path


def test_gpt2_does_not_see_what_comes_later() -> None:
    net = zoo.GPT2(10, 8, 2, 2, 6).eval()
    one = net(tl.asarray([[1, 2, 3]])).numpy()
    other = net(tl.asarray([[1, 2, 4]])).numpy()
    np.testing.assert_allclose(one[:, :2], other[:, :2], atol=1e-6)


def test_an_encoder_ignores_padding() -> None:
    net = zoo.Encoder(10, 8, 2, 2, 6, 3).eval()
    mask = tl.asarray(np.array([[False, False, True]]))
    one = net(tl.asarray([[1, 2, 3]]), mask).numpy()
    other = net(tl.asarray([[1, 2, 9]]), mask).numpy()
    np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(one, net(tl.asarray([[1, 2]])).numpy(), atol=1e-5)


def test_what_does_not_fit() -> None:
    with pytest.raises(OptionError, match="3 heads"):
        zoo.GPT2(10, 8, 3)
    with pytest.raises(OptionError, match="3 heads"):
        zoo.BERT(10, 8, 3)
    with pytest.raises(ShapeError, match="up to 6"):
        zoo.BERT(10, 8, 2, 1, 6)(tokens(1, 7))
    with pytest.raises(ShapeError, match="up to 6"):
        zoo.GPT2(10, 8, 2, 2, 6)(tokens(1, 7))


def test_a_causal_layer_sees_nothing_behind() -> None:
    tl.manual_seed(0)
    net = nn.Sequential(zoo.TokenEmbedding(7, 8, 6), zoo.CausalLayer(8, 2)).eval()
    tokens = np.array([[0, 1, 2, 3, 4, 5]], np.int32)
    other = np.array([[0, 1, 2, 6, 6, 6]], np.int32)
    one, two = (net(tl.asarray(x)).numpy() for x in (tokens, other))
    np.testing.assert_array_equal(one[:, :3], two[:, :3])
    assert np.abs(one[:, 3:] - two[:, 3:]).min(axis=-1).max() > 0
    # A shorter text has the same positions.
    np.testing.assert_allclose(net(tl.asarray(tokens[:, :2])).numpy(), one[:, :2], atol=1e-6)
    with pytest.raises(ShapeError, match="up to 6"):
        net(tl.asarray(np.zeros((1, 7), np.int32)))
