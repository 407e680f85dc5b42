"""Operators of images and boxes, beside what torchvision gave; devices; bad options."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError, TracingError
from tallow.vision import ops

from .op_cases import CASES, DATA, DIFFERENTIATED
from .record_ops import RECORDED
from .record_transforms import recorded

VALUES = recorded(RECORDED)


@pytest.mark.parametrize("name", CASES)
def test_as_torchvision(name: str) -> None:
    case = CASES[name]
    tensors = [tl.asarray(DATA[each]) for each in case.tensors]
    wanted = []
    for number, each in enumerate(case.tensors):
        if case.gradients and each in DIFFERENTIATED:
            tensors[number] = tl.tensor(DATA[each], requires_grad=True)
            wanted.append((each, tensors[number]))
    options = dict(case.options)
    if case.function == "deform_conv2d":
        options["mask"] = tensors.pop()
    result = getattr(ops, case.function)(*tensors, **options)
    expected = VALUES[f"{name}/value"]
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=2e-5, atol=2e-5)
    if not wanted:
        return
    weights = np.arange(expected.size).reshape(expected.shape) % 7 - 2.5
    (result * tl.asarray(weights.astype(np.float32))).sum().backward()
    for each, x in wanted:
        assert x.grad is not None
        gradient = VALUES[f"{name}/{each}"]
        scale = max(1.0, float(np.abs(gradient).max()))
        np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-4, atol=2e-5 * scale)


def test_every_recorded_value_is_compared() -> None:
    assert {name.rpartition("/")[0] for name in VALUES} == set(CASES)


def test_on_a_device(device: str) -> None:
    boxes, scores = (tl.asarray(DATA[each]).realize(device) for each in ("many", "scores"))
    kept = ops.nms(boxes, scores, 0.3)
    np.testing.assert_array_equal(
        kept.numpy(), VALUES["nms(many, scores, iou_threshold=0.3)/value"]
    )
    maps, rois = (tl.asarray(DATA[each]).realize(device) for each in ("maps", "rois"))
    found = tl.jit(lambda x, r: ops.roi_align(x, r, (3, 4), sampling_ratio=2))(maps, rois)
    name = "roi_align(maps, rois, output_size=(3, 4), sampling_ratio=2, aligned=False)/value"
    np.testing.assert_allclose(found.numpy(), VALUES[name], rtol=1e-4, atol=1e-5)
    pooled = tl.jit(lambda x, r: ops.roi_pool(x, r, (3, 4)))(maps, rois)
    expected = VALUES["roi_pool(maps, rois, output_size=(3, 4))/value"]
    np.testing.assert_allclose(pooled.numpy(), expected, rtol=1e-5)


def test_lists_of_boxes() -> None:
    maps, boxes = tl.asarray(DATA["maps"]), tl.asarray(DATA["wide"])
    listed = ops.roi_align(maps, [boxes[:2], boxes[2:]], 3, sampling_ratio=2)
    numbers = tl.asarray(np.array([[0], [0], [1], [1], [1], [1]], np.float32))
    rows = ops.roi_align(maps, tl.concat([numbers, boxes], axis=1), 3, sampling_ratio=2)
    np.testing.assert_array_equal(listed.numpy(), rows.numpy())
    np.testing.assert_array_equal(
        ops.RoIAlign(3, 1.0, 2)(maps, [boxes[:2], boxes[2:]]).numpy(), listed.numpy()
    )
    pooled = ops.RoIPool(2, 0.4)(maps, tl.asarray(DATA["rois"])).numpy()
    np.testing.assert_array_equal(
        pooled, VALUES["roi_pool(maps, rois, output_size=2, spatial_scale=0.4)/value"]
    )


def test_no_boxes() -> None:
    assert ops.nms(tl.zeros((0, 4)), tl.zeros(0), 0.5).shape == (0,)
    one = ops.nms(tl.asarray([[0.0, 0.0, 2.0, 2.0]]), tl.asarray([0.5]), 0.5)
    assert one.tolist() == [0]


def test_equal_scores_keep_the_first() -> None:
    boxes = tl.asarray([[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 9.0], [50.0, 50.0, 60.0, 60.0]])
    assert ops.nms(boxes, tl.ones(3), 0.5).tolist() == [0, 2]


def test_without_blocking() -> None:
    boxes, scores, classes = (tl.asarray(DATA[each]) for each in ("many", "scores", "classes"))
    kept = asyncio.run(ops.nms_async(boxes, scores, 0.3))
    assert kept.tolist() == ops.nms(boxes, scores, 0.3).tolist()
    kept = asyncio.run(ops.batched_nms_async(boxes, scores, classes, 0.3))
    assert kept.tolist() == ops.batched_nms(boxes, scores, classes, 0.3).tolist()


def test_drop_block_drops_squares() -> None:
    tl.manual_seed(0)
    layer = ops.DropBlock2d(0.1, 3)
    x = tl.ones((4, 8, 20, 20))
    found = layer(x).numpy()
    assert 0.05 < (found == 0).mean() < 0.15
    np.testing.assert_allclose(found.mean(), 1, atol=1e-3)
    gone: Any = found == 0
    inner = gone[:, :, 1:-1, 1:-1]
    square = np.lib.stride_tricks.sliding_window_view(gone, (3, 3), (2, 3)).all((-2, -1))
    padded = np.pad(square, ((0, 0), (0, 0), (2, 2), (2, 2)))
    reach: Any = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3)).any((-2, -1))
    np.testing.assert_array_equal(reach[:, :, 1:-1, 1:-1], inner)  # all belongs to a square
    np.testing.assert_array_equal(layer.eval()(x).numpy(), x.numpy())


def test_frozen_normalisation() -> None:
    frozen, plain = ops.FrozenBatchNorm2d(3), nn.BatchNorm2d(3)
    plain(tl.rand(8, 3, 4, 4) * 3 + 1)
    plain.weight.data = tl.asarray([0.5, 2.0, 1.0])
    plain.eval()
    frozen.load_state_dict({k: v for k, v in plain.state_dict().items() if "tracked" not in k})
    x = tl.rand(2, 3, 5, 5)
    np.testing.assert_allclose(frozen(x).numpy(), plain(x).numpy(), rtol=1e-5, atol=1e-5)
    assert not [*frozen.parameters()]


def test_a_pyramid() -> None:
    tl.manual_seed(0)
    pyramid = ops.FeaturePyramidNetwork([4, 6], 5, ops.LastLevelMaxPool(), nn.BatchNorm2d)
    maps = {"large": tl.rand(2, 4, 8, 8), "small": tl.rand(2, 6, 4, 4)}
    found = pyramid(maps)
    shapes = {name: each.shape for name, each in found.items()}
    assert shapes == {"large": (2, 5, 8, 8), "small": (2, 5, 4, 4), "pool": (2, 5, 2, 2)}
    assert "inner_blocks.0.0.weight" in pyramid.state_dict()
    np.testing.assert_array_equal(found["pool"].numpy(), found["small"].numpy()[..., ::2, ::2])
    plain = ops.FeaturePyramidNetwork([4, 6], 5)
    inner = plain.inner_blocks[1](maps["small"])
    lateral = plain.inner_blocks[0](maps["large"])
    larger = inner.numpy().repeat(2, 2)
    expected = plain.layer_blocks[0](lateral + tl.asarray(larger.repeat(2, 3)))
    np.testing.assert_allclose(plain(maps)["large"].numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


MAPS = tl.zeros((1, 2, 4, 4))
BOXES = tl.zeros((3, 4))
BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "format": (lambda: ops.box_convert(BOXES, "xyxy", "yxyx"), OptionError, "'yxyx'"),
    "boxes": (lambda: ops.box_area(tl.zeros((3, 5))), ShapeError, "no boxes"),
    "one box": (lambda: ops.box_iou(tl.zeros(4), BOXES), ShapeError, "are not"),
    "small boxes": (lambda: ops.remove_small_boxes(tl.zeros(4), 1), ShapeError, "is not"),
    "reduction": (
        lambda: ops.complete_box_iou_loss(BOXES, BOXES, "all"), OptionError, "'all'",
    ),
    "partners": (
        lambda: ops.distance_box_iou_loss(BOXES, BOXES[:2]), ShapeError, "beside",
    ),
    "scores": (lambda: ops.nms(BOXES, tl.zeros(2), 0.5), ShapeError, r"\(n, 4\) and \(n,\)"),
    "compiled": (
        lambda: tl.jit(lambda b, s: ops.nms(b, s, 0.5))(BOXES, tl.zeros(3)), TracingError, "jit",
    ),
    "masks": (lambda: ops.masks_to_boxes(BOXES), ShapeError, "no masks"),
    "map": (lambda: ops.roi_align(BOXES, BOXES, 3), ShapeError, "no feature map"),
    "rois": (lambda: ops.roi_align(MAPS, BOXES, 3), ShapeError, r"not \(n, 5\)"),
    "lists": (lambda: ops.roi_pool(MAPS, [BOXES, BOXES], 3), ShapeError, "2 lists"),
    "cells": (lambda: ops.RoIAlign(0, 1.0, 2), OptionError, "output_size=0"),
    "samples": (
        lambda: tl.jit(lambda x, r: ops.roi_align(x, r, 2))(MAPS, tl.zeros((1, 5))), TracingError,
        "sampling_ratio",
    ),
    "drop": (lambda: ops.DropBlock2d(1.2, 3), OptionError, "from 0 to 1"),
    "block": (lambda: ops.DropBlock2d(0.2, 0), OptionError, "block_size"),
    "drop of rows": (lambda: ops.drop_block2d(BOXES, 0.1, 2), ShapeError, "not"),
    "levels": (lambda: ops.FeaturePyramidNetwork([], 3), OptionError, "no channels"),
    "maps": (lambda: ops.FeaturePyramidNetwork([2, 2], 3)({"a": MAPS}), OptionError, "2 levels"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_options(name: str) -> None:
    call, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        call()
