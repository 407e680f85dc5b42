"""Images of Pillow's, arrays and tensors into each other; element types; normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import functions as f
from ...core import dtype as dt
from ...core.drivers import Steps, run_async, run_sync
from ...core.dtype import DType, as_dtype
from ...core.hostarray import HostArray
from ...errors import DTypeError, OptionError, ShapeError
from ...tensor import Tensor, asarray, reading
from . import pillow
from .images import Picture, bound, checked, is_pil

_TYPES = {"I": dt.int32, "F": dt.float32, "I;16": dt.int16}
"""Of Pillow's modes; the others have bytes."""


def pil_to_tensor(pic: Picture) -> Tensor:
    """An image of Pillow's as a tensor (c, h, w) of its own type. Raises DTypeError for what is
    none."""
    if not is_pil(pic):
        raise DTypeError(f"pil_to_tensor: {type(pic).__name__} is no image of Pillow's")
    if pic.mode == "1":
        return (pil_to_tensor(pic.convert("L")) != 0).astype(dt.uint8)
    bands = len(pic.getbands())
    dtype = _TYPES.get(pic.mode, dt.uint8)
    data = memoryview(pic.tobytes())
    host = HostArray(data, (pic.height, pic.width, bands), dtype)
    return f.permute_dims(asarray(host), (2, 0, 1))


def _of_array(pic: Any, what: str) -> Tensor:
    """An array (h, w, c) or (h, w) as (c, h, w)."""
    if isinstance(pic, Tensor) or not hasattr(pic, "__array__"):
        raise DTypeError(
            f"{what}: {type(pic).__name__} is neither an image of Pillow's nor a NumPy array"
        )
    if pic.ndim not in (2, 3):
        raise ShapeError(f"{what}: {pic.shape} is neither (h, w) nor (h, w, c)")
    x = asarray(pic)
    return f.permute_dims(x if x.ndim == 3 else f.expand_dims(x, -1), (2, 0, 1))


def to_tensor(pic: Picture) -> Tensor:
    """An image of Pillow's, or an array (h, w, c), as a tensor (c, h, w); bytes become numbers from
    0 to 1. Raises DTypeError or ShapeError for what is neither."""
    x = pil_to_tensor(pic) if is_pil(pic) else _of_array(pic, "to_tensor")
    if is_pil(pic) and pic.mode == "1":
        return x.astype(dt.float32)
    return x.astype(dt.float32) / 255 if x.dtype == dt.uint8 else x


def to_image(pic: Picture) -> Tensor:
    """An image of Pillow's, an array (h, w, c) or a tensor as a tensor (c, h, w), in its type."""
    if isinstance(pic, Tensor):
        return checked(pic, "to_image")
    if is_pil(pic) and pic.mode == "1":
        return pil_to_tensor(pic.convert("L"))
    return pil_to_tensor(pic) if is_pil(pic) else _of_array(pic, "to_image")


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """A tensor (c, h, w) or (h, w), or an array (h, w, c), as an image of Pillow's. Reads the
    tensor, and blocks.

    mode: Pillow's mode; None is L, LA, RGB or RGBA by the channels, I, I;16 or F by the type.
    Raises: ShapeError for other axes or more than 4 channels, OptionError for a mode that does not
      fit, DTypeError for an element type that no image has.
    """
    return run_sync(picture_steps(pic, mode))


async def to_pil_image_async(pic: Any, mode: str | None = None) -> Any:
    """As `to_pil_image`, without blocking."""
    return await run_async(picture_steps(pic, mode))


def picture_steps(pic: Any, mode: str | None = None) -> Steps[Any]:
    """The steps of `to_pil_image`."""
    what = "to_pil_image"
    if isinstance(pic, Tensor):
        if pic.ndim not in (2, 3):
            raise ShapeError(f"{what}: {pic.shape} is neither (c, h, w) nor (h, w)")
        x = pic if pic.ndim == 3 else f.expand_dims(pic, 0)
        if x.dtype.is_floating and mode != "F":
            x = (x * 255).astype(dt.uint8)
    else:
        x = _of_array(pic, what)
    channels, height, width = x.shape
    if channels > 4:
        raise ShapeError(f"{what}: an image has 1 to 4 channels, not {channels}")
    x = f.permute_dims(x, (1, 2, 0))
    if channels == 1:
        usual = {dt.uint8: "L", dt.int16: "I;16", dt.uint16: "I;16", dt.int32: "I",
                 dt.float32: "F"}.get(x.dtype)  # fmt: skip
        fitting: list[str | None] = [usual, *(["1", "P"] if usual == "L" else [])]
    else:
        several: dict[int, list[str | None]] = {
            2: ["LA"], 3: ["RGB", "YCbCr", "HSV"], 4: ["RGBA", "CMYK", "RGBX"],
        }  # fmt: skip
        fitting = several[channels]
        usual = fitting[0] if x.dtype == dt.uint8 else None
    if usual is None:
        raise DTypeError(f"{what}: no image has {channels} channels of {x.dtype.name}")
    if mode is not None and mode not in fitting:
        raise OptionError(
            f"{what}: the mode {mode!r} is not one of {fitting} of {channels} channels"
        )
    (host,) = yield from reading([x])
    raw = "L" if mode in ("1", "P") else mode or usual
    made = pillow.module().frombytes(raw, (width, height), bytes(host.data))
    return made.convert(mode) if mode in ("1", "P") else made


def convert_image_dtype(image: Tensor, dtype: DType | str = dt.float32) -> Tensor:
    """The image in another type, with its values scaled from black to white of one to the other.
    Raises DTypeError for floating numbers as integers that they have too few digits for."""
    x, to = checked(image, "convert_image_dtype"), as_dtype(dtype)
    if x.dtype == to or (x.dtype.is_floating and to.is_floating):
        return x.astype(to)
    if x.dtype.is_floating:
        if to.size * 8 > 24 and not (x.dtype == dt.float64 and to.size == 4):
            raise DTypeError(
                f"convert_image_dtype: {x.dtype.name} has too few digits for {to.name}"
            )
        return (x * (bound(to) + 1.0 - 1e-3)).astype(to)  # so that each value has an equal share
    if to.is_floating:
        return x.astype(to) / bound(x.dtype)
    before, after = bound(x.dtype) + 1, bound(to) + 1
    if before > after:
        return f.floor_divide(x, int(before // after)).astype(to)
    return x.astype(to) * int(after // before)


def to_dtype(image: Tensor, dtype: DType | str = dt.float32, scale: bool = False) -> Tensor:
    """The image in another type; scale: as `convert_image_dtype`."""
    if scale:
        return convert_image_dtype(image, dtype)
    return checked(image, "to_dtype").astype(as_dtype(dtype))


def normalize(
    tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False
) -> Tensor:
    """(tensor - mean) / std for each channel.

    inplace: also changes the tensor itself.
    Raises: DTypeError for integers, ShapeError for other channels, OptionError for a std of 0.
    """
    x = checked(tensor, "normalize")
    if not x.dtype.is_floating:
        raise DTypeError(
            f"normalize: {x.dtype.name}; ToTensor() or ToDtype(tl.float32, scale=True) comes before"
        )
    columns = []
    for name, given in (("mean", mean), ("std", std)):
        numbers = [float(given)] if isinstance(given, (int, float)) else [*map(float, given)]
        if x.ndim < 3 or len(numbers) not in (1, x.shape[-3]):
            raise ShapeError(f"normalize: {len(numbers)} numbers in {name} for an image {x.shape}")
        if name == "std" and 0.0 in numbers:
            raise OptionError(f"normalize: a std of 0, in {numbers}")
        columns.append(f.reshape(asarray(numbers, x.dtype), (-1, 1, 1)))
    found = (x - columns[0]) / columns[1]
    return tensor.copy_(found) if inplace else found
