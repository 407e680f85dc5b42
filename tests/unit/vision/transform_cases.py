"""Transforms that torchvision and Tallow compute alike, and what of: see record_transforms.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


def _smooth(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """An image with edges and gentle slopes, from 0 to 1."""
    y, x = np.mgrid[: shape[-2], : shape[-1]]
    waves = np.sin(x * 0.3 + rng.random((*shape[:-2], 1, 1)) * 6) + np.cos(y * 0.2)
    return np.clip(0.25 * waves + 0.5 + 0.15 * (rng.random(shape) - 0.5), 0, 1)


def _images() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    color = _smooth(rng, 3, 23, 31)
    return {
        "float": color.astype(np.float32),
        "bytes": (color * 255).astype(np.uint8),
        "batch": _smooth(rng, 2, 3, 16, 12).astype(np.float32),
        "gray": (_smooth(rng, 1, 14, 15) * 255).astype(np.uint8),
    }


IMAGES = _images()


class Case(NamedTuple):
    """A function by its name, the image's name, and what it is given besides."""

    function: str
    image: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    pil: bool = False

    @property
    def name(self) -> str:
        listed = [*map(str, self.args), *(f"{k}={v}" for k, v in self.options.items())]
        return f"{self.function}({', '.join(listed)}) of {self.image}{' in Pillow' * self.pil}"


def _cases() -> list[Case]:
    found: list[Case] = []

    def add(function: str, images: str, *args: Any, **options: Any) -> None:
        for image in images.split():
            pil = image.startswith("pil-")
            found.append(Case(function, image.removeprefix("pil-"), args, options, pil))

    both, pil = "float bytes", "pil-bytes"
    for mode in ("bilinear", "bicubic", "nearest", "nearest-exact"):
        add("resize", f"{both} batch", [11, 40], interpolation=mode)
        add("resize", "float", [40, 50], interpolation=mode)
        if mode.startswith("b"):
            add("resize", "float", [11, 40], interpolation=mode, antialias=False)
            add("resized_crop", both, 2, 3, 17, 20, [8, 30], interpolation=mode)
            add("resized_crop", both, 2, 3, 17, 20, [8, 30], interpolation=mode, antialias=False)
            add("resize", pil, [11, 40], interpolation=mode)
    add("resize", f"float {pil}", [15])
    add("resize", "float", [20], max_size=25)
    add("resized_crop", f"float {pil}", 0, 5, 20, 9, [12, 12], interpolation="nearest")
    add("resized_crop", "float", -3, -2, 20, 20, [9, 12])
    for size in ([10, 13], [30, 13], [25, 40]):
        add("center_crop", f"{both} {pil} batch", size)
    for place in ((2, 3, 10, 12), (-4, 5, 12, 40), (20, 28, 9, 9)):
        add("crop", f"float {pil}", *place)
    add("hflip", f"bytes batch {pil}")
    add("vflip", f"bytes batch {pil}")
    for padding in ([3], [2, 4], [1, 2, 3, 4]):
        add("pad", f"{both} {pil}", padding)
        for mode in ("edge", "reflect", "symmetric"):
            add("pad", f"{both} {pil}", padding, padding_mode=mode)
    add("pad", "float", [2], fill=0.5)
    add("pad", pil, [2], fill=(10, 20, 30))
    add("five_crop", f"float {pil}", [9, 8])
    add("ten_crop", f"batch {pil}", [9, 8])
    add("ten_crop", "float", [9, 8], vertical_flip=True)
    for mode in ("nearest", "bilinear"):
        add("rotate", f"{both} batch {pil}", 33.0, interpolation=mode)
        add("rotate", f"float {pil}", -71.5, interpolation=mode, expand=True)
        for angle in (90.0, 180.0, 270.0) if mode == "bilinear" else ():
            add("rotate", "float", angle, interpolation="bilinear", expand=True)
        add("rotate", "float", 20.0, interpolation=mode, center=[3, 4], fill=[0.2])
        add("rotate", both, 20.0, interpolation=mode, fill=[0.1, 0.9, 0.5])
        add("affine", f"{both} batch {pil}", 17.0, [3, -2], 0.8, [8.0, -5.0], interpolation=mode)
        add("affine", "float", -40.0, [0, 0], 1.3, [0.0], interpolation=mode, center=[5, 6])
        add("affine", both, 17.0, [3, -2], 0.8, [8.0], interpolation=mode, fill=[0.3])
        start = [[0, 0], [30, 0], [30, 22], [0, 22]]
        end = [[3, 2], [27, 1], [29, 20], [1, 21]]
        add("perspective", f"{both} {pil}", start, end, interpolation=mode)
        add("perspective", "float", start, end, interpolation=mode, fill=[0.4])
    for factor in (0.0, 0.6, 1.0, 1.7):
        for kind in ("brightness", "contrast", "saturation", "sharpness"):
            add(f"adjust_{kind}", f"{both} gray {pil}", factor)
    for factor in (-0.5, -0.13, 0.0, 0.2, 0.5):
        add("adjust_hue", f"{both} gray {pil}", factor)
    add("adjust_gamma", f"{both} {pil}", 0.7)
    add("adjust_gamma", f"{both} {pil}", 2.2, gain=1.4)
    add("rgb_to_grayscale", f"{both} batch {pil}")
    add("rgb_to_grayscale", f"{both} {pil}", num_output_channels=3)
    add("invert", f"{both} {pil}")
    add("posterize", f"bytes {pil}", 3)
    add("solarize", f"bytes {pil}", 140)
    add("solarize", "float", 0.6)
    add("autocontrast", f"{both} gray {pil}")
    add("equalize", f"bytes gray {pil}")
    add("gaussian_blur", f"{both} batch {pil}", [5, 3])
    add("gaussian_blur", "float", [7, 7], [1.3, 0.4])
    add("normalize", "float batch", [0.4, 0.5, 0.6], [0.2, 0.25, 0.3])
    add("erase", both, 3, 4, 6, 9, 0.0)
    add("to_tensor", pil)
    add("pil_to_tensor", pil)
    return found


CASES = {case.name: case for case in _cases()}

KINDS = {
    "ShearX": 0.23, "ShearY": -0.3, "TranslateX": 4.7, "TranslateY": -3.0, "Rotate": 25.0,
    "Brightness": 0.4, "Color": -0.6, "Contrast": 0.5, "Sharpness": 0.7, "Posterize": 5.0,
    "Solarize": 100.0, "AutoContrast": 0.0, "Equalize": 0.0, "Invert": 0.0, "Identity": 0.0,
}  # fmt: skip
"""The transforms of AutoAugment and the like, each with a strength."""

CONVERSIONS = [
    (before, after)
    for before in ("uint8", "int16", "int32", "float32")
    for after in ("uint8", "int16", "int32", "float32")
    if (before, after) not in (("float32", "int32"),)
]


def values(dtype: str) -> np.ndarray:
    """Numbers from black to white of an element type."""
    whole = np.linspace(0, 1, 37)
    return (whole * (1 if dtype == "float32" else np.iinfo(dtype).max)).astype(dtype)


def displacement() -> np.ndarray:
    """What elastic_transform takes, for the image "float"."""
    y, x = np.mgrid[:23, :31]
    moved = np.stack([np.sin(y * 0.4), np.cos(x * 0.3)], -1)[None]
    return (moved * 0.1).astype(np.float32)
