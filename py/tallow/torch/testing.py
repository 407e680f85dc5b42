"""torch.testing: comparisons that say what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tallow as tl

from ..core.dtype import DType
from ..tensor import Tensor

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
               "float64": (1e-7, 1e-7)}  # fmt: skip


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError where tensors, numbers, or containers of them are not close: in shape,
    element type, and values within the tolerances of their type."""
    if isinstance(actual, Mapping):
        assert actual.keys() == expected.keys(), f"keys {list(actual)} and {list(expected)}"
        pairs = [(actual[key], expected[key]) for key in actual]
    elif isinstance(actual, Sequence) and not isinstance(actual, str):
        assert len(actual) == len(expected), f"{len(actual)} and {len(expected)} values"
        pairs = list(zip(actual, expected, strict=True))
    else:
        _compare(tl.asarray(actual), tl.asarray(expected), rtol, atol, equal_nan, check_dtype, msg)
        return
    for a, b in pairs:
        assert_close(
            a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, msg=msg
        )


def _compare(
    a: Tensor,
    b: Tensor,
    rtol: float | None,
    atol: float | None,
    equal_nan: bool,
    check_dtype: bool,
    msg: str | Callable[[str], str] | None,
) -> None:
    import numpy as np

    wrong = ""
    if a.shape != b.shape:
        wrong = f"shapes {tuple(a.shape)} and {tuple(b.shape)}"
    elif check_dtype and a.dtype != b.dtype:
        wrong = f"types {a.dtype.name} and {b.dtype.name}"
    else:
        kind: DType = a.dtype
        relative, absolute = _TOLERANCES.get(kind.name, (0.0, 0.0))
        relative = relative if rtol is None else rtol
        absolute = absolute if atol is None else atol
        x, y = a.detach().numpy(), b.detach().numpy()
        close = np.isclose(x, y, relative, absolute, equal_nan)
        if not close.all():
            differing = np.argwhere(~close)
            first = tuple(int(n) for n in differing[0])
            wrong = (
                f"{len(differing)} of {close.size} elements differ (rtol {relative}, atol "
                f"{absolute}), first at {first}: {x[first]} and {y[first]}"
            )
    if wrong:
        raise AssertionError(msg(wrong) if callable(msg) else msg or f"not close: {wrong}")


def assert_allclose(
    actual: object, expected: object, rtol: float | None = None, atol: float | None = None
) -> None:
    """The older name of `assert_close`, which does not compare element types."""
    assert_close(actual, expected, rtol=rtol, atol=atol, check_dtype=False)


def make_tensor(
    *shape: int | Sequence[int],
    dtype: DType | str,
    device: object = None,
    low: float = -9.0,
    high: float = 9.0,
    **options: object,
) -> Tensor:
    """Numbers drawn evenly from low up to high, in a shape and a type."""
    drawn = tl.rand(*shape or ((),)) * (high - low) + low
    return drawn.astype(dtype)
