"""Networks beside torchvision's: names, shapes, outputs, gradients; what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError
from tallow.vision import models

from .cases import CASES, LARGE, OPTIONS, Case, images, numbers, weights
from .record import digest, recorded
from .table import PAGE, row

RECORDED = recorded()

FLOAT32 = ["resnet18", "mobilenet_v2", "shufflenet_v2_x0_5", "vit", "swin v2"]
"""Cases whose outputs are compared in float32, too."""


@pytest.mark.parametrize("name", models.list_models())
def test_names_and_shapes_are_torchvisions(name: str) -> None:
    """`python -m tests.unit.vision.record NAME` shows a difference, where torchvision is installed.
    Nothing is computed: initial values are drawn when they are read."""
    net = models.get_model(name)
    theirs, count = RECORDED["networks"][name]
    assert sum(p.size for p in net.parameters()) == count
    assert digest(net.state_dict(keep_vars=True)) == theirs


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_arguments_mean_what_they_mean_in_torchvision(number: int) -> None:
    name, options = OPTIONS[number]
    net = models.get_model(name, **options)
    assert digest(net.state_dict(keep_vars=True)) == RECORDED["options"][number]


def with_weights(case: Case) -> Any:
    """A case's network, with the weights that follow from its names."""
    net = case.build(models)
    state = net.state_dict(keep_vars=True)
    shapes = {k: tuple(v.shape) for k, v in state.items() if v.dtype.name == "float32"}
    report = net.load_state_dict(weights(shapes), strict=False)
    assert not report.unexpected_keys
    return net.train(case.training)


def close(found: Any, name: str) -> None:
    """These are torchvision's outputs of a case."""
    expected = np.array(RECORDED["cases"][name]["outputs"])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def check_outputs(name: str) -> None:
    case = CASES[name]
    with tl.no_grad():
        found = with_weights(case)(tl.asarray(images(case)))
    close(found.numpy(), name)


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("vgg11", "numpy"),
        *((name, "numpy") for name in FLOAT32),
        *((name, "wasm") for name in FLOAT32),
    ],
    indirect=["device"],
)
def test_outputs_are_torchvisions(name: str, device: str) -> None:
    check_outputs(name)


@pytest.mark.parametrize("device", ["numpy"], indirect=True)
@pytest.mark.parametrize("name", [name for name in CASES if name != "vgg11"])
def test_outputs_and_gradients_are_torchvisions(name: str, device: str) -> None:
    """Each parameter's gradient, as one number: its product with numbers that follow from its name.

    In float64: in float32, the order in which a BLAS adds up decides the signs of a few of a
    million inputs of ReLUs, and one of them may be a hundredth of a gradient. Gradients before a
    batch norm that sees the batch cancel, so the gradient's size is the measure. vgg11 has no layer
    that alexnet lacks, and ten times its convolutions' work: its outputs are compared alone."""
    case = CASES[name]
    net = with_weights(case).double()
    parameters = {path: p for path, p in net.named_parameters() if p.size <= LARGE}
    for path, parameter in net.named_parameters():
        parameter.requires_grad = path in parameters
    result = net(tl.asarray(images(case).astype(np.float64)))
    (result * tl.asarray(numbers("scores", result.shape))).sum().backward()
    close(result.numpy(), name)
    found, sizes = [], []
    for path, parameter in parameters.items():
        if parameter.grad is None:
            continue
        gradient = parameter.grad.numpy()
        found.append((gradient * numbers(f"{path} gradient", gradient.shape)).sum())
        sizes.append(np.linalg.norm(gradient))
    expected = np.array(RECORDED["cases"][name]["gradients"])
    assert len(found) == len(expected)
    difference = np.abs(np.array(found) - expected)
    worst = (difference / (1e-7 * np.array(sizes) + 1e-9)).argmax()
    assert difference[worst] <= 1e-7 * sizes[worst] + 1e-9, list(parameters)[worst]


def test_a_step_leaves_samples_out_anew() -> None:
    tl.manual_seed(0)
    layer = tl.vision.ops.StochasticDepth(0.5, "row")
    x = tl.ones((64, 2, 3))

    @tl.jit
    def step(x: tl.Tensor) -> tl.Tensor:
        return layer(x)

    first, second = step(x).numpy(), step(x).numpy()
    assert {*np.unique(first)} == {0.0, 2.0}
    np.testing.assert_array_equal(first, np.broadcast_to(first[:, :1, :1], first.shape))
    assert 16 < (first[:, 0, 0] > 0).sum() < 48
    assert not np.array_equal(first, second)
    tl.manual_seed(0)
    np.testing.assert_array_equal(step(x).numpy(), first)


def test_samples_that_are_left_out() -> None:
    x = tl.ones((32, 2))
    drop = tl.vision.ops.stochastic_depth
    assert drop(x, 0.3, "row", training=False) is x
    assert drop(x, 0.0, "row") is x
    np.testing.assert_array_equal(drop(x, 1.0, "row").numpy(), np.zeros((32, 2)))
    values = {float(drop(x, 0.2, "batch").numpy().mean()) for _ in range(40)}
    assert {round(value, 4) for value in values} == {0.0, 1.25}
    with pytest.raises(OptionError, match=r"from 0 to 1, not 1\.5"):
        drop(x, 1.5, "row")
    with pytest.raises(OptionError, match="'rows' is neither"):
        drop(x, 0.5, "rows")
    with pytest.raises(ShapeError, match="no axes"):
        drop(tl.asarray(1.0), 0.5, "row")
    assert repr(tl.vision.ops.StochasticDepth(0.5, "row")) == "StochasticDepth(p=0.5, mode=row)"


def test_parts() -> None:
    ops = tl.vision.ops
    made = ops.Conv2dNormActivation(3, 8, 5, dilation=2, activation_layer=None)
    assert [type(each).__name__ for each in made] == ["Conv2d", "BatchNorm2d"]
    assert made[0].padding == (4, 4)
    assert made[0].bias is None
    assert made.out_channels == 8
    assert ops.Conv2dNormActivation(3, 8, norm_layer=None)[0].bias is not None
    solid = ops.Conv3dNormActivation(2, 4, (1, 3, 5))
    assert solid(tl.ones((1, 2, 3, 5, 7))).shape == (1, 4, 3, 5, 7)
    layers = ops.MLP(4, [8, 2], norm_layer=nn.LayerNorm, activation_layer=nn.GELU, dropout=0.5)
    assert [type(each).__name__ for each in layers] == [
        "Linear", "LayerNorm", "GELU", "Dropout", "Linear", "Dropout",
    ]  # fmt: skip
    with pytest.raises(OptionError, match="hidden_channels is empty"):
        ops.MLP(4, [])
    assert ops.Permute([0, 2, 1])(tl.ones((2, 3, 4))).shape == (2, 4, 3)
    squeezed = ops.SqueezeExcitation(4, 2)
    with tl.no_grad():
        for parameter in squeezed.parameters():
            parameter.fill_(0.0)
    np.testing.assert_allclose(squeezed(tl.ones((1, 4, 2, 2))).numpy(), np.full((1, 4, 2, 2), 0.5))


def test_names_find_networks() -> None:
    assert models.list_models(models) == models.list_models()
    assert models.list_models(models.resnet, exclude="*101*") == [
        "resnet152", "resnet18", "resnet34", "resnet50", "resnext50_32x4d", "wide_resnet50_2",
    ]  # fmt: skip
    assert models.list_models(include=["vit_b*", "alex*"]) == ["alexnet", "vit_b_16", "vit_b_32"]
    assert models.get_model_builder("ResNet18") is models.resnet18
    assert isinstance(models.get_model("mobilenet_v2", width_mult=0.1), models.MobileNetV2)
    with pytest.raises(OptionError, match="'resnet19'; close to it: resnet1"):
        models.get_model("resnet19")


def test_weights_are_a_file_of_the_users() -> None:
    assert models.squeezenet1_1(weights=None, progress=False).num_classes == 1000
    with pytest.raises(OptionError, match=r"tl\.load\('weights\.pth'\)"):
        models.resnet18(weights="DEFAULT")
    with pytest.raises(OptionError, match=r"mobilenet_v2: no weights come with Tallow"):
        models.get_model("mobilenet_v2", weights="IMAGENET1K_V1")


def test_weights_from_a_file(tmp_path: Path) -> None:
    source = models.shufflenet_v2_x0_5(num_classes=3).eval()
    tl.save(source.state_dict(), tmp_path / "weights.safetensors")
    other = models.shufflenet_v2_x0_5(num_classes=3).eval()
    other.load_state_dict(tl.load(tmp_path / "weights.safetensors"))
    x = tl.rand(1, 3, 32, 32).realize()
    np.testing.assert_array_equal(other(x).numpy(), source(x).numpy())


def deviation(parameter: Any) -> float:
    return float(np.std(parameter.numpy()))


def test_initial_values() -> None:
    """As torchvision's: what they are drawn from is written in its files."""
    tl.manual_seed(1)
    convolution = models.resnet18().layer1[0].conv1.weight
    assert abs(deviation(convolution) / np.sqrt(2 / (64 * 9)) - 1) < 0.03
    assert abs(deviation(models.mobilenet_v2().classifier[1].weight) / 0.01 - 1) < 0.01
    vit = models.VisionTransformer(32, 8, 1, 4, 64, 128)
    assert not vit.heads.head.weight.numpy().any()
    assert not vit.class_token.numpy().any()
    assert abs(deviation(vit.encoder.pos_embedding) / 0.02 - 1) < 0.1
    assert abs(deviation(vit.conv_proj.weight) / np.sqrt(1 / (3 * 64)) - 1) < 0.15
    linear = models.efficientnet_b0(num_classes=100).classifier[1].weight.numpy()
    assert 0.098 < np.abs(linear).max() <= 0.1
    zeroed = models.resnet18(zero_init_residual=True)
    assert not zeroed.layer1[0].bn2.weight.numpy().any()
    assert zeroed.layer1[0].bn1.weight.numpy().all()


def test_other_normalisations() -> None:
    def groups(channels: int) -> nn.Module:
        return nn.GroupNorm(1, channels)

    x = tl.rand(1, 3, 32, 32)
    for name in ("resnet18", "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0"):
        net = models.get_model(name, norm_layer=groups, num_classes=2)
        assert not [name for name, _ in net.named_buffers()]
        assert net(x).shape == (1, 2)


def test_densenet_that_computes_twice() -> None:
    """The same gradients, from less memory."""
    setting = {"growth_rate": 4, "block_config": (2, 2), "num_init_features": 4, "num_classes": 2}
    x = tl.rand(2, 3, 32, 32).realize()
    found = []
    for efficient in (False, True):
        tl.manual_seed(0)
        net = models.DenseNet(**setting, memory_efficient=efficient)
        net(x).sum().backward()
        gradients = [p.grad for p in net.parameters()]
        found.append([g.numpy() for g in gradients if g is not None])
        assert len(found[-1]) == len(gradients)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: models.squeezenet.SqueezeNet("2_0"), "version '2_0' is not one of"),
        (lambda: models.mobilenetv2.InvertedResidual(8, 8, 3, 6), "stride must be 1 or 2, not 3"),
        (lambda: models.mobilenet_v2(inverted_residual_setting=[[1, 2, 3]]), "four numbers"),
        (lambda: models.MobileNetV3([], 8), "needs blocks"),
        (lambda: models.EfficientNet([], 0.1), "needs stages"),
        (lambda: models.ConvNeXt([]), "needs stages"),
        (lambda: models.shufflenetv2.InvertedResidual(8, 16, 1), "8 to 16 channels with stride 1"),
        (lambda: models.ShuffleNetV2([1], [1]), "three and five numbers"),
        (lambda: models.SwinTransformer([4, 4], 8, [1, 1], [1], [4, 4]), "for each stage"),
        (lambda: models.GoogLeNet(blocks=[nn.Conv2d]), "three classes, not 1"),
        (lambda: models.Inception3(inception_blocks=[nn.Conv2d]), "seven classes, not 1"),
        (lambda: models.MNASNet(0.0), "must be positive"),
        (lambda: models.mnasnet._InvertedResidual(8, 8, 4, 1, 3), "kernel_size 4 3 or 5"),
        (lambda: models.regnet.BlockParams.from_init_params(4, 20, 1.0, 2.0, 8), "w_0 20 must be"),
        (lambda: models.vit_b_16(image_size=100), "patches of 16 pixels do not divide"),
        (lambda: models.resnet50(replace_stride_with_dilation=[True]), "need 3 of True or False"),
        (lambda: models.resnet18(width_per_group=128), "Bottleneck takes others"),
    ],
)
def test_what_does_not_fit(make: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        make()


def test_training_gives_the_scores_of_classifiers_on_the_way() -> None:
    """Shapes alone: nothing is computed."""
    net = models.googlenet(num_classes=2).train()
    with tl.no_grad():
        found = net(tl.ones((2, 3, 64, 64)))
    assert found._fields == ("logits", "aux_logits2", "aux_logits1")
    assert [scores.shape for scores in found] == [(2, 2)] * 3
    deep = models.inception_v3(num_classes=2).train()
    with tl.no_grad():
        found = deep(tl.ones((2, 3, 299, 299)))
    assert found._fields == ("logits", "aux_logits")
    assert [scores.shape for scores in found] == [(2, 2)] * 2
    without = models.googlenet(num_classes=2, aux_logits=False).train()
    with tl.no_grad():
        assert without(tl.ones((2, 3, 64, 64))).shape == (2, 2)


def test_images_of_another_size() -> None:
    net = models.VisionTransformer(32, 8, 1, 4, 64, 128)
    with pytest.raises(ShapeError, match=r"for images \(n, 3, 32, 32\)"):
        net(tl.ones((1, 3, 40, 40)))


def test_the_page_lists_all_networks() -> None:
    """`python -m tests.unit.vision.table` writes the table."""
    page = PAGE.read_text("utf-8")
    for name in models.list_models():
        assert f"| `{name}` | {RECORDED['networks'][name][1]:,} |" in page


@pytest.mark.parametrize("name", ["alexnet", "vit_h_14", "mobilenet_v3_small", "resnext50_32x4d"])
def test_the_page_counts_multiplications(name: str) -> None:
    assert row(name) in PAGE.read_text("utf-8").splitlines()
