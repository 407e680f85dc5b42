"""The discrete Fourier transform as products with tables of cosines and sines.

Long signals are split by the factors of their length (Cooley and Tukey 1965), so that no table is
larger than the longest factor squared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..... import functions as f
from .....core.dtype import DType
from .....core.hostarray import from_values
from .....errors import OnnxUnsupportedError
from .....tensor import Tensor, asarray

DIRECT = 256
"""Up to this length, one product is no slower than a split."""
MAX_PRIME = 2048
MAX_LENGTH = 1 << 20

Complex = tuple[Tensor, Tensor | None]
"""Real and imaginary parts; None: no imaginary part."""


def _waves(n: int, dtype: DType) -> tuple[Tensor, Tensor]:
    """cos and sin of k / n turns, for k from 0 up to n."""
    angles = [2 * math.pi * k / n for k in range(n)]
    return (
        asarray(from_values(map(math.cos, angles), (n,), dtype)),
        asarray(from_values(map(math.sin, angles), (n,), dtype)),
    )


def _turns(rows: int, columns: int, n: int, dtype: DType) -> tuple[Tensor, Tensor]:
    """cos and sin of (row * column / n) turns: (rows, columns)."""
    cosines, sines = _waves(n, dtype)
    index = f.reshape(f.arange(rows), (-1, 1)) * f.arange(columns) % n
    return f.take(cosines, index), f.take(sines, index)


def _divisor(n: int) -> int:
    """The largest divisor up to the square root."""
    return next(d for d in range(math.isqrt(n), 0, -1) if n % d == 0)


def transform(x: Complex, inverse: bool) -> tuple[Tensor, Tensor]:
    """The transform along the last axis; the inverse without the division by the length.

    Raises OnnxUnsupportedError for lengths beyond MAX_LENGTH, or with a prime factor beyond
    MAX_PRIME.
    """
    real, imaginary = x
    n = real.shape[-1]
    if n > MAX_LENGTH:
        raise OnnxUnsupportedError(f"a transform of {n} elements is longer than {MAX_LENGTH}")
    first = _divisor(n) if n > DIRECT else 1
    if first == 1:
        if n > MAX_PRIME:
            raise OnnxUnsupportedError(
                f"a transform of {n} elements, a large prime, is not supported"
            )
        return _direct(x, inverse)
    # Element i * second + j, result k + m * first: over i, a turn by j * k / n, then over j.
    second = n // first
    inner = transform((_columns(real, first, second), imaginary and _columns(
        imaginary, first, second)), inverse)  # fmt: skip
    cosines, sines = _turns(second, first, n, real.dtype)
    a, b = inner
    sines = -sines if inverse else sines
    a, b = a * cosines + b * sines, b * cosines - a * sines
    outer = transform((a.mT, b.mT), inverse)
    lead = real.shape[:-1]
    return f.reshape(outer[0].mT, (*lead, n)), f.reshape(outer[1].mT, (*lead, n))


def _columns(x: Tensor, first: int, second: int) -> Tensor:
    """(..., first * second) as (..., second, first)."""
    return f.reshape(x, (*x.shape[:-1], first, second)).mT


def _direct(x: Complex, inverse: bool) -> tuple[Tensor, Tensor]:
    real, imaginary = x
    n = real.shape[-1]
    cosines, sines = _turns(n, n, n, real.dtype)
    sines = -sines if inverse else sines
    table, signal = f.concat([cosines, -sines], axis=1), real
    if imaginary is not None:
        table = f.concat([table, f.concat([sines, cosines], axis=1)], axis=0)
        signal = f.concat([real, imaginary], axis=-1)
    made = signal @ table
    return made[..., :n], made[..., n:]


def resized(x: Tensor, length: int) -> Tensor:
    """The last axis cropped or padded with zeros."""
    return f.pad(x, [*[(0, 0)] * (x.ndim - 1), (0, length - x.shape[-1])])


def spectrum(x: Tensor, axis: int, length: int, inverse: bool, onesided: bool) -> Tensor:
    """The DFT operator: x (..., 1) or (..., 2), its last axis real and imaginary parts.

    onesided: the first half of the spectrum of a real signal; or, for the inverse, the real signal
    of such a half.
    """
    wide = x if x.dtype.size > 2 else x.astype("float32")
    order = [a for a in range(x.ndim) if a not in (axis, x.ndim - 1)]
    parts = f.permute_dims(wide, (x.ndim - 1, *order, axis))
    given = length // 2 + 1 if onesided and inverse else length
    real = resized(parts[0], given)
    imaginary = resized(parts[1], given) if x.shape[-1] == 2 else None
    if onesided and inverse:  # the other half is the conjugate, in reverse
        others = slice(length - given, 0, -1)
        real = f.concat([real, real[..., others]], axis=-1)
        if imaginary is not None:
            imaginary = f.concat([imaginary, -imaginary[..., others]], axis=-1)
    results: Sequence[Tensor] = transform((real, imaginary), inverse)
    if onesided and inverse:
        results = results[:1]
    elif onesided:
        results = [part[..., : length // 2 + 1] for part in results]
    made = f.stack([part * (1 / length) if inverse else part for part in results], axis=-1)
    # From (others, axis, parts) back to the axis order of x.
    return f.moveaxis(made, x.ndim - 2, axis).astype(x.dtype)
