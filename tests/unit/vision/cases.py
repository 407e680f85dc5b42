"""The networks that outputs are compared of, and weights that any program can make from the names
of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np


class Case(NamedTuple):
    """A network. build: makes it, of torchvision.models or of tl.vision.models. size: the side of
    its images, batch: how many. training: batch norm by the batch's statistics."""

    build: Callable[[Any], Any]
    size: int = 32
    training: bool = False
    batch: int = 2


def _vit(models: Any, **options: Any) -> Any:
    return models.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64,
        num_classes=10, **options,
    )  # fmt: skip


def _swin(models: Any, **options: Any) -> Any:
    """With images whose patches do not divide into windows, and then not into halves."""
    return models.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], num_classes=10, **options)


def _convnext(models: Any) -> Any:
    stage = models.convnext.CNBlockConfig
    setting = [stage(16, 32, 1), stage(32, 64, 2), stage(64, None, 1)]
    return models.ConvNeXt(setting, num_classes=10)


CASES: dict[str, Case] = {
    "alexnet": Case(lambda m: m.alexnet(num_classes=10), 63),
    "vgg11": Case(lambda m: m.vgg11(num_classes=10)),
    "resnet18": Case(lambda m: m.resnet18(num_classes=10)),
    "resnet18 training": Case(lambda m: m.resnet18(num_classes=10), 64, True, 4),
    "resnet50 dilated": Case(
        lambda m: m.resnet50(num_classes=10, replace_stride_with_dilation=[False, True, True])
    ),
    "resnext50_32x4d": Case(lambda m: m.resnext50_32x4d(num_classes=10)),
    "densenet121": Case(lambda m: m.densenet121(num_classes=10), batch=1),
    "googlenet": Case(lambda m: m.googlenet(num_classes=10, transform_input=True,
                                            init_weights=False)),
    "inception_v3": Case(lambda m: m.inception_v3(num_classes=10, init_weights=False), 75, batch=1),
    "mnasnet0_5": Case(lambda m: m.mnasnet0_5(num_classes=10)),
    "mobilenet_v2": Case(lambda m: m.mobilenet_v2(num_classes=10)),
    "mobilenet_v2 training": Case(lambda m: m.MobileNetV2(
        10, 0.25, [[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 1, 2]], dropout=0.0), 32, True, 4),
    "mobilenet_v3_small": Case(lambda m: m.mobilenet_v3_small(num_classes=10)),
    "efficientnet_b0": Case(lambda m: m.efficientnet_b0(num_classes=10)),
    "efficientnet_v2": Case(lambda m: m.EfficientNet(
        [m.efficientnet.FusedMBConvConfig(1, 3, 1, 16, 16, 1),
         m.efficientnet.FusedMBConvConfig(4, 3, 2, 16, 24, 2),
         m.efficientnet.MBConvConfig(4, 3, 2, 24, 32, 2)], 0.2, num_classes=10, last_channel=64)),
    "regnet_x_400mf": Case(lambda m: m.regnet_x_400mf(num_classes=10)),
    "regnet_y_400mf": Case(lambda m: m.regnet_y_400mf(num_classes=10)),
    "squeezenet1_0": Case(lambda m: m.squeezenet1_0(num_classes=10)),
    "squeezenet1_1": Case(lambda m: m.squeezenet1_1(num_classes=10)),
    "shufflenet_v2_x0_5": Case(lambda m: m.shufflenet_v2_x0_5(num_classes=10)),
    "convnext": Case(_convnext),
    "swin": Case(_swin, 60),
    "swin v2": Case(lambda m: _swin(m, block=m.swin_transformer.SwinTransformerBlockV2,
                                    downsample_layer=m.swin_transformer.PatchMergingV2), 60),
    "vit": Case(_vit),
    "vit with a stem": Case(lambda m: _vit(m, representation_size=12, conv_stem_configs=[
        m.vision_transformer.ConvStemConfig(8, 3, 2), m.vision_transformer.ConvStemConfig(16, 3, 4),
    ])),
}  # fmt: skip

OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("densenet121", {"bn_size": 2, "drop_rate": 0.1}),
    ("googlenet", {"aux_logits": False, "init_weights": False}),
    ("inception_v3", {"aux_logits": False, "init_weights": False}),
    ("mobilenet_v2", {"width_mult": 1.4}),
    ("mobilenet_v3_large", {"reduced_tail": True}),
    ("mobilenet_v3_small", {"reduced_tail": True, "dilated": True, "width_mult": 0.75}),
    ("vit_b_16", {"image_size": 32, "representation_size": 7}),
]
"""Networks with other arguments, whose names and shapes are compared."""

LARGE = 3_000_000
"""Parameters with more elements are frozen where gradients are compared."""


def numbers(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of mean 0 and variance 1 that follow from a name: 256 different ones, as they are
    fast to make."""
    drawn = np.random.RandomState(crc32(name.encode())).randint(0, 256, shape, np.uint8)
    return (drawn.astype(np.float32) - 127.5) / np.float32(73.9)


def weights(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """A state of these shapes: matrices by their fan in, factors and variances near 1, the rest
    near 0. Buffers of integers are left out."""
    found = {}
    for name, shape in shapes.items():
        drawn = numbers(name, shape)
        if name.endswith("running_var") or (name.endswith("weight") and len(shape) == 1):
            found[name] = 1 + drawn / 10
        elif name.endswith("weight"):
            found[name] = drawn * np.float32(1.4 / np.sqrt(np.prod(shape[1:])))
        else:
            found[name] = drawn / 10
    return found


def images(case: Case) -> np.ndarray:
    """Images (batch, 3, size, size)."""
    return numbers("images", (case.batch, 3, case.size, case.size))
