"""Records what torchvision gives for the cases, where it is installed:

    python tests/unit/vision/record_transforms.py

The project itself does not need it: what it gave stands in transforms.npz.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "transforms.npz"


_UNIT = 2.0**-17
"""Floating numbers are stored in multiples of this, in half the bytes."""


def recorded(path: Path = RECORDED) -> dict[str, np.ndarray]:
    """What a file has: arrays by name."""
    with np.load(path) as archive:
        shapes = json.loads(str(archive["shapes"]))
        flat = {kind: archive[kind] for kind in archive.files if kind != "shapes"}
    if "fixed" in flat:
        whole = np.ascontiguousarray(flat.pop("fixed").T).view(np.int32)
        flat["float32"] = (whole.ravel() * _UNIT).astype(np.float32)
    found, at = {}, dict.fromkeys(flat, 0)
    for name, (kind, shape) in shapes.items():
        size = int(np.prod(shape))
        found[name] = flat[kind][at[kind] : at[kind] + size].reshape(shape)
        at[kind] += size
    return found


def store(found: dict[str, Any], path: Path, fixed: bool = False) -> None:
    """Writes arrays by name, those of one type together, which takes a tenth of the bytes. fixed:
    floating numbers in multiples of _UNIT."""
    arrays = {name: np.asarray(value) for name, value in found.items()}
    kinds = sorted({array.dtype.name for array in arrays.values()})
    together = {
        kind: np.concatenate([a.ravel() for a in arrays.values() if a.dtype.name == kind])
        for kind in kinds
    }
    if fixed:
        whole = np.round(together.pop("float32") / _UNIT).astype(np.int32)
        together["fixed"] = np.ascontiguousarray(whole.view(np.uint8).reshape(-1, 4).T)
    shapes = {name: (array.dtype.name, array.shape) for name, array in arrays.items()}
    np.savez_compressed(path, shapes=json.dumps(shapes), **together)  # type: ignore[arg-type]
    print(f"{len(found)} arrays, {path.stat().st_size} bytes")


def main() -> None:
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    import torch  # type: ignore[import-not-found]
    from torchvision.transforms import autoaugment, functional  # type: ignore[import-not-found]
    from transform_cases import (  # type: ignore[import-not-found]
        CASES,
        CONVERSIONS,
        IMAGES,
        KINDS,
        displacement,
        values,
    )

    found: dict[str, Any] = {}
    photo = torch.tensor(IMAGES["bytes"])
    for name, case in CASES.items():
        image = torch.tensor(IMAGES[case.image])
        if case.pil:
            image = functional.to_pil_image(image)
        options = dict(case.options)
        if "interpolation" in options:
            options["interpolation"] = functional.InterpolationMode(options["interpolation"])
        args = [torch.tensor(a) if case.function == "erase" and isinstance(a, float) else a
                for a in case.args]  # fmt: skip
        result = getattr(functional, case.function)(image, *args, **options)
        for number, each in enumerate(result if isinstance(result, tuple) else [result]):
            array = each.numpy() if isinstance(each, torch.Tensor) else np.array(each)
            found[f"{name}/{number}"] = array
    for before, after in CONVERSIONS:
        kind = getattr(torch, after)
        found[f"{before} to {after}"] = functional.convert_image_dtype(
            torch.tensor(values(before)), kind
        )
    for kind, strength in KINDS.items():
        nearest = functional.InterpolationMode.NEAREST
        for name, image in (("", photo), (" in Pillow", functional.to_pil_image(photo))):
            result = autoaugment._apply_op(image, kind, strength, nearest, None)
            found[kind + name] = np.array(result) if name else result.numpy()
    found["elastic"] = functional.elastic_transform(
        torch.tensor(IMAGES["float"]), torch.tensor(displacement())
    )
    store(found, RECORDED, fixed=True)


if __name__ == "__main__":
    main()
