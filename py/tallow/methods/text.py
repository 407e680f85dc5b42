"""Tensors as text: the elements, as PyTorch prints them."""

from __future__ import annotations

from typing import Any

from ..errors import OptionError, TallowError

_UNSAID = ("float32", "int32", "bool")
"""Element types that numbers have without being told."""


_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": 1 << 62, "edgeitems": 3, "linewidth": 80},
}
_options: dict[str, Any] = dict(_PROFILES["default"])


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """How tensors are printed, as in PyTorch: precision, digits behind the point (4); threshold,
    elements from which on only those at the ends are shown (1000); edgeitems, how many of them (3);
    linewidth, letters of a line (80). profile: "default", "short" or "full", before the others.
    sci_mode: changes nothing. Raises OptionError for another profile."""
    if profile is not None:
        if profile not in _PROFILES:
            known = ", ".join(map(repr, _PROFILES))
            raise OptionError(f"set_printoptions: {profile!r} is not one of {known}")
        _options.update(_PROFILES[profile])
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    _options.update({name: value for name, value in given.items() if value is not None})


def text_of(x: Any) -> str:
    """The elements, for which they are computed and read; of more than a thousand those at the
    ends. What is known without them, where they can't be read: while a function is traced, where
    waiting is impossible, or without NumPy, which writes them."""
    try:
        values = x.numpy()
    except (TallowError, ImportError):
        return str(x.described())
    import numpy as np

    parts = [
        np.array2string(
            values,
            precision=_options["precision"],
            threshold=_options["threshold"],
            edgeitems=_options["edgeitems"],
            max_line_width=_options["linewidth"],
            separator=", ",
            prefix="tensor(",
            floatmode="maxprec_equal",
        )
    ]
    if not x.size:
        parts.append(f"size={x.shape}")
    if x.dtype.name not in _UNSAID:
        parts.append(f"dtype={x.dtype.name}")
    if x.requires_grad:
        parts.append("requires_grad=True")
    return f"tensor({', '.join(parts)})"
