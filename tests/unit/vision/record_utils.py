"""Records what torchvision.utils gives, where it is installed:

    python tests/unit/vision/record_utils.py

The project itself does not need it: what it gave stands in utils.npz.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "utils.npz"

GRIDS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "plain": ((5, 3, 4, 6), {"nrow": 3}),
    "gray": ((3, 1, 4, 6), {"padding": 1, "pad_value": 0.5}),
    "one": ((1, 3, 4, 6), {}),
    "image": ((3, 4, 6), {}),
    "matrix": ((4, 6), {}),
    "no border": ((4, 2, 3, 3), {"nrow": 2, "padding": 0}),
    "normalized": ((5, 3, 4, 6), {"normalize": True}),
    "normalized each": ((5, 3, 4, 6), {"normalize": True, "scale_each": True}),
    "range": ((5, 3, 4, 6), {"normalize": True, "value_range": (-0.5, 1.0)}),
}
BOXES = np.array([[2, 3, 10, 12], [5, 1, 18, 9], [0, 0, 19, 15]], np.float32)
DRAWN: dict[str, dict[str, Any]] = {
    "colors": {"colors": ["red", "#00ff80", (10, 20, 250)]},
    "one color": {"colors": "blue", "width": 2},
    "filled": {"colors": ["red", "lime", "blue"], "fill": True},
    "any colors": {},
}


def images(shape: tuple[int, ...]) -> np.ndarray:
    """Numbers around 0, always the same."""
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def photo() -> np.ndarray:
    """An image of bytes."""
    return np.random.default_rng(6).integers(0, 256, (3, 16, 20)).astype(np.uint8)


def main() -> None:
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    import torch  # type: ignore[import-not-found]
    import torchvision.utils as tv  # type: ignore[import-not-found]
    from record_transforms import store  # type: ignore[import-not-found]

    found = {
        name: tv.make_grid(torch.tensor(images(shape)), **options).numpy()
        for name, (shape, options) in GRIDS.items()
    }
    for name, options in DRAWN.items():
        result = tv.draw_bounding_boxes(torch.tensor(photo()), torch.tensor(BOXES), **options)
        found[name] = result.numpy()
    store(found, RECORDED)


if __name__ == "__main__":
    main()
