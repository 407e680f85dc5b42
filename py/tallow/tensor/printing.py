"""Tensors as text: the elements, as PyTorch prints them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.dtype import default_floating, default_integer, in_pytorch
from ..errors import OptionError, TallowError

_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": 1 << 62, "edgeitems": 3, "linewidth": 80},
}
options: dict[str, Any] = {**_PROFILES["default"], "sci_mode": None}
"""What `set_printoptions` has set."""


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors are printed, from now on. None leaves a setting as it is, except sci_mode.

    precision: digits behind the point; 4 at first.
    threshold: more elements than this are shortened to those at the ends; 1000 at first.
    edgeitems: how many elements are shown at each end then; 3 at first.
    linewidth: letters of a line; 80 at first.
    profile: "default", "short" or "full", which is set before the others.
    sci_mode: whether numbers have an exponent; None is where they differ much.
    Returns: nothing.
    Raises: OptionError for another profile.
    Source: PyTorch, `torch.set_printoptions`.
    """
    if profile is not None:
        if profile not in _PROFILES:
            known = ", ".join(map(repr, _PROFILES))
            raise OptionError(f"set_printoptions: {profile!r} is not one of {known}")
        options.update(_PROFILES[profile])
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    options.update({name: value for name, value in given.items() if value is not None})
    options["sci_mode"] = sci_mode


def text_of(x: Any) -> str:
    """The elements, for which they are computed and read; of more than a thousand those at the
    ends. What is known without them, where they can't be read: while a function is traced, where
    waiting is impossible, or without NumPy."""
    try:
        values = x.numpy(force=True)
    except (TallowError, ImportError):
        return str(x.described())
    notes = [] if x.size or x.ndim == 1 else [f"size={tuple(x.shape)}"]
    if x.dtype not in (default_floating(), default_integer()) and x.dtype.name != "bool":
        notes.append(f"dtype={x.dtype!r}" if in_pytorch() else f"dtype={x.dtype.name}")
    if x.requires_grad:
        notes.append("requires_grad=True" if x.is_leaf else f"grad_fn={x.grad_fn}")
    text = elements_of(x, values, len("tensor("))
    return _with_notes(f"tensor({text}", notes)


def elements_of(x: Any, values: Any, indent: int) -> str:
    """The elements of a tensor, as its NumPy array has them, in lines that begin `indent` letters
    from the left."""
    if x.dtype.is_floating:
        values = values.astype("float64")
    return _elements(values, indent) if x.size else "[]"


def _with_notes(text: str, notes: list[str]) -> str:
    """Notes behind the elements, in a new line where the last one is full."""
    used = len(text) - text.rfind("\n") - 1
    for note in notes:
        if used + len(note) + 3 > options["linewidth"]:
            text += ",\n" + " " * len("tensor(") + note
            used = len("tensor(") + len(note)
        else:
            text += f", {note}"
            used += len(note) + 2
    return text + ")"


def _elements(values: Any, indent: int) -> str:
    """The elements of a NumPy array, in lines that begin `indent` letters from the left."""
    shortened = values.size > options["threshold"]
    edge = options["edgeitems"]
    shown = values
    if shortened:
        for axis, length in enumerate(values.shape):
            if length > 2 * edge:
                indices = [*range(edge), *range(length - edge, length)]
                shown = shown.take(indices, axis)
    written: Callable[[Any], str] = _written(shown)

    def line(row: Any, indent: int) -> str:
        texts = [written(value) for value in row.tolist()]
        if shortened and len(texts) > 2 * edge:
            texts[edge:-edge] = [" ..."]
        width = len(texts[0]) + 2 if texts else 2
        count = max(1, (options["linewidth"] - indent) // width)
        lines = [", ".join(texts[at : at + count]) for at in range(0, len(texts), count)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"

    def block(part: Any, indent: int) -> str:
        if not part.shape:
            return written(part.item())
        if part.ndim == 1:
            return line(part, indent)
        blocks = [block(each, indent + 1) for each in part[: edge if _cut(part) else None]]
        if _cut(part):
            blocks += ["...", *(block(each, indent + 1) for each in part[-edge:])]
        return "[" + ("," + "\n" * int(part.ndim - 1) + " " * (indent + 1)).join(blocks) + "]"

    def _cut(part: Any) -> bool:
        return bool(shortened and len(part) > 2 * edge)

    return block(values, indent)


def _written(shown: Any) -> Callable[[Any], str]:
    """How an element is written, in a width that all elements have."""
    if shown.dtype.kind != "f":
        width = max((len(str(value)) for value in shown.ravel().tolist()), default=1)
        return lambda value: str(value).rjust(width)
    sizes = [abs(v) for v in shown.ravel().tolist() if v and math.isfinite(v)]
    least, most = min(sizes, default=1.0), max(sizes, default=1.0)
    whole = all(value == math.ceil(value) for value in sizes)
    exponents = most / least > 1000 or most > 1e8 or (not whole and least < 1e-4)
    if options["sci_mode"] is not None:
        exponents = options["sci_mode"]
    digits = options["precision"]

    def text(value: float) -> str:
        if exponents:
            return f"{value:.{digits}e}"
        if whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{digits}f}"

    counted = [v for v in shown.ravel().tolist() if v and math.isfinite(v)]
    width = max((len(text(value)) for value in counted), default=1)
    return lambda value: text(value).rjust(width)
