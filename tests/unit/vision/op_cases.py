"""Operators that torchvision and Tallow compute alike, and what of: see record_ops.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


def _boxes(rng: np.random.Generator, count: int, size: float = 20) -> np.ndarray:
    corner = rng.random((count, 2)) * size
    return np.concatenate([corner, corner + rng.random((count, 2)) * size + 0.5], 1).astype("f4")


def _data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    wide = _boxes(rng, 6, 30) - 5
    rois = np.concatenate([rng.integers(0, 2, (6, 1)), wide], 1).astype("f4")
    return {
        "boxes": _boxes(rng, 9),
        "others": _boxes(rng, 7),
        "partners": _boxes(rng, 9),
        "wide": wide,
        "many": _boxes(rng, 150),
        "scores": (rng.integers(0, 60, 150) / 60 + np.arange(150) * 1e-5).astype("f4"),
        "classes": rng.integers(0, 3, 150),
        "maps": rng.normal(size=(2, 3, 15, 18)).astype("f4"),
        "rois": rois,
        "logits": rng.normal(size=(5, 4)).astype("f4"),
        "targets": rng.integers(0, 2, (5, 4)).astype("f4"),
        "masks": (rng.random((4, 9, 8)) > 0.9).astype("f4"),
        "offset": rng.normal(size=(2, 18, 13, 16)).astype("f4"),
        "mask": rng.random((2, 9, 13, 16)).astype("f4"),
        "kernel": rng.normal(size=(4, 3, 3, 3)).astype("f4"),
    }


DATA = _data()


class Case(NamedTuple):
    """A function by its name, the names of its tensors, and its other options."""

    function: str
    tensors: tuple[str, ...]
    options: dict[str, Any]
    gradients: bool = True

    @property
    def name(self) -> str:
        listed = ", ".join([*self.tensors, *(f"{k}={v}" for k, v in self.options.items())])
        return f"{self.function}({listed})"


def _cases() -> list[Case]:
    found: list[Case] = []

    def add(function: str, tensors: str, gradients: bool = True, **options: Any) -> None:
        found.append(Case(function, tuple(tensors.split()), options, gradients))

    for before in ("xyxy", "xywh", "cxcywh"):
        add("box_area", "boxes", fmt=before)
        add("box_iou", "boxes others", fmt=before)
        for after in ("xyxy", "xywh", "cxcywh"):
            add("box_convert", "boxes", in_fmt=before, out_fmt=after)
    for kind in ("generalized", "distance", "complete"):
        add(f"{kind}_box_iou", "boxes others")
        for reduction in ("none", "mean", "sum"):
            add(f"{kind}_box_iou_loss", "boxes partners", reduction=reduction)
    add("clip_boxes_to_image", "wide", size=(20, 25))
    add("remove_small_boxes", "boxes", False, min_size=8.0)
    add("masks_to_boxes", "masks", False)
    for threshold in (0.1, 0.3, 0.7):
        add("nms", "many scores", False, iou_threshold=threshold)
        add("batched_nms", "many scores classes", False, iou_threshold=threshold)
    for aligned in (False, True):
        for ratio in (-1, 1, 2):
            options = {"sampling_ratio": ratio, "aligned": aligned}
            add("roi_align", "maps rois", output_size=(3, 4), **options)
            add("roi_align", "maps rois", output_size=2, spatial_scale=0.4, **options)
    add("roi_pool", "maps rois", output_size=(3, 4))
    add("roi_pool", "maps rois", output_size=2, spatial_scale=0.4)
    add("sigmoid_focal_loss", "logits targets")
    add("sigmoid_focal_loss", "logits targets", alpha=-1, gamma=1.5, reduction="mean")
    add("deform_conv2d", "maps offset kernel mask")
    return found


CASES = {case.name: case for case in _cases()}
DIFFERENTIATED = ("boxes", "others", "partners", "wide", "maps", "logits", "kernel", "offset")
"""What results are differentiated by."""
