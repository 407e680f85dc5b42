"""Transforms between Pillow, arrays and tensors, of element types, and linear ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import functions as f
from ...core import dtype as dt
from ...core.dtype import DType, as_dtype
from ...errors import OptionError, ShapeError
from ...tensor import Tensor, asarray
from . import conversion
from .images import Picture, checked
from .transform import Source, Transform


class ToTensor(Transform):
    """An image of Pillow's, or an array (h, w, c), as a tensor (c, h, w); bytes become numbers from
    0 to 1."""

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return conversion.to_tensor(img)


class PILToTensor(Transform):
    """An image of Pillow's as a tensor (c, h, w) of its own type."""

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return conversion.pil_to_tensor(img)


class ToImage(Transform):
    """An image of Pillow's, an array (h, w, c) or a tensor as a tensor (c, h, w) of its own
    type."""

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return conversion.to_image(img)


class ToPILImage(Transform):
    """A tensor (c, h, w), or an array (h, w, c), as an image of Pillow's. mode: as
    `functional.to_pil_image`."""

    def __init__(self, mode: str | None = None) -> None:
        super().__init__()
        self.mode = mode

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return conversion.to_pil_image(img, self.mode)


class ToDtype(Transform):
    """A tensor in another type. scale: from black to white of one to the other."""

    def __init__(self, dtype: DType | str, scale: bool = False) -> None:
        super().__init__()
        self.dtype, self.scale = as_dtype(dtype), scale

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return conversion.to_dtype(img, self.dtype, self.scale)


class ConvertImageDtype(ToDtype):
    """A tensor in another type, from black to white of one to the other."""

    def __init__(self, dtype: DType | str = dt.float32) -> None:
        super().__init__(dtype, scale=True)


class Normalize(Transform):
    """(x - mean) / std for each channel. Raises OptionError for a std of 0."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        numbers = [std] if isinstance(std, (int, float)) else [*std]
        if 0 in numbers:
            raise OptionError(f"Normalize: a std of 0, in {std!r}")
        self.mean, self.std, self.inplace = mean, std, inplace

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return conversion.normalize(img, self.mean, self.std, self.inplace)


class LinearTransformation(Transform):
    """The flat image, less a mean, times a matrix, as in whitening.

    transformation_matrix: (d, d), of d = c * h * w. mean_vector: (d,).
    Raises: ShapeError for others, and for an image of another size.
    """

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        matrix, mean = asarray(transformation_matrix), asarray(mean_vector)
        if matrix.ndim != 2 or {*matrix.shape} != {*mean.shape} or mean.ndim != 1:
            raise ShapeError(
                f"LinearTransformation: a matrix {matrix.shape} beside a mean {mean.shape}; (d, d) "
                "and (d,)"
            )
        self.transformation_matrix, self.mean_vector = matrix, mean

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        x = checked(img, "LinearTransformation")
        length = self.mean_vector.shape[0]
        if x.ndim < 3 or x.shape[-3] * x.shape[-2] * x.shape[-1] != length:
            raise ShapeError(f"LinearTransformation: an image {x.shape} for a mean of {length}")
        flat = f.reshape(x, (-1, length)) - self.mean_vector
        return f.reshape(flat @ self.transformation_matrix, x.shape)
