"""Encodings of positions in a sequence. PyTorch has none."""

from __future__ import annotations

import math

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor
from .dropout import Dropout
from .module import Module


def _angles(length: int, size: int, base: float, offset: int = 0) -> Tensor:
    """position * base ** (-2 i / size): (length, size / 2)."""
    rates = f.exp(f.arange(0, size, 2).astype("float32") * (-math.log(base) / size))
    positions = f.arange(offset, offset + length).astype("float32")
    return f.reshape(positions, (-1, 1)) * rates


class PositionalEncoding(Module):
    """Adds sines and cosines of wavelengths from 2 pi to 2 pi * 10000 (Vaswani et al. 2017, 3.5),
    then dropout: (N, length, d_model), or (length, N, d_model) unless batch_first, or without N.

    The buffer `pe` (max_len, d_model) is not part of the state_dict. Raises OptionError for an odd
    d_model, ShapeError for inputs that do not fit.
    """

    def __init__(
        self, d_model: int, dropout: float = 0.0, max_len: int = 5000, batch_first: bool = True
    ) -> None:
        super().__init__()
        if d_model < 1 or d_model % 2:
            raise OptionError(f"PositionalEncoding: d_model={d_model} is not even")
        self.d_model, self.max_len, self.batch_first = d_model, max_len, batch_first
        self.dropout = Dropout(dropout)
        angles = _angles(max_len, d_model, 10000.0)
        pairs = f.stack([f.sin(angles), f.cos(angles)], axis=-1)
        self.register_buffer("pe", f.reshape(pairs, (max_len, d_model)), persistent=False)

    def forward(self, input: Tensor) -> Tensor:
        axis = 1 if input.ndim == 3 and self.batch_first else 0
        fits = input.ndim in (2, 3) and input.shape[-1] == self.d_model
        if not fits or input.shape[axis] > self.max_len:
            raise ShapeError(
                f"PositionalEncoding: input {input.shape} for up to {self.max_len} positions of "
                f"{self.d_model}"
            )
        encoding = self.pe[: input.shape[axis]]
        encoding = f.expand_dims(encoding, axis=1) if input.ndim == 3 and not axis else encoding
        return self.dropout(input + encoding)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        return f"{self.d_model}, max_len={self.max_len}, batch_first={self.batch_first}"


class RotaryEncoding(Module):
    """Turns pairs of elements of queries and keys (..., length, dim) by angles that grow with their
    position, so that products depend on distances only (Su et al. 2021, "RoFormer").

    interleaved: pairs are neighbours, as in the paper; otherwise an element and the one dim / 2
    behind it, as in LLaMA. Raises OptionError for an odd dim, ShapeError for another one.
    """

    def __init__(self, dim: int, base: float = 10000.0, interleaved: bool = True) -> None:
        super().__init__()
        if dim < 1 or dim % 2:
            raise OptionError(f"RotaryEncoding: dim={dim} is not even")
        self.dim, self.base, self.interleaved = dim, base, interleaved

    def forward(self, input: Tensor, offset: int = 0) -> Tensor:
        """offset: the position of the first one, when those before are known already."""
        if input.ndim < 2 or input.shape[-1] != self.dim:
            raise ShapeError(f"RotaryEncoding: input {input.shape} for elements of {self.dim}")
        angles = _angles(input.shape[-2], self.dim, self.base, offset).astype(input.dtype)
        sin, cos = f.sin(angles), f.cos(angles)
        half = self.dim // 2
        if self.interleaved:
            x, y = input[..., 0::2], input[..., 1::2]
        else:
            x, y = input[..., :half], input[..., half:]
        turned = [x * cos - y * sin, x * sin + y * cos]
        if self.interleaved:
            return f.reshape(f.stack(turned, axis=-1), input.shape)
        return f.concat(turned, axis=-1)

    def extra_repr(self) -> str:
        return f"{self.dim}, base={self.base}, interleaved={self.interleaved}"
