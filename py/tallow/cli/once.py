"""`tallow run`: runs a model once; prints and writes its outputs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import OptionError
from ..onnx import load
from .feeds import fed_shapes, feeds_of, shapes_of


def command(options: argparse.Namespace) -> None:
    """Runs the model once."""
    model = load(options.model)
    if options.top < 0:
        raise OptionError(f"--top {options.top}: the number of values can't be negative")
    names = [info.name for info in model.outputs]
    targets = [_target(text, names) for text in options.output]
    feeds = feeds_of(model, options, shapes_of(options))
    with model.session(options.device, fed_shapes(feeds)) as session:
        results = session.run(feeds)
        print(session.report())
        print(f"adapter: {session.adapter}")
    for name, value in results.items():
        print(f"{name}: {described(value, options.top)}")
    for output, path in targets:
        _write(path, results if output is None else results[output])


def described(value: object, top: int) -> str:
    """Type, shape, range and the largest values of an output."""
    import numpy as np

    if not isinstance(value, np.ndarray):
        count = f" of {len(value)}" if isinstance(value, list) else ""
        return f"{'nothing' if value is None else type(value).__name__}{count}"
    words = f"{'text' if value.dtype == object else value.dtype.name} {value.shape}"
    if not value.size or value.dtype == object:
        return words
    flat = value.ravel()
    if value.dtype != bool:
        mean = float(flat.mean(dtype=np.float64))
        words += f", {flat.min():.6g} to {flat.max():.6g}, mean {mean:.6g}"
    if not top:
        return words
    best = np.argsort(-flat.astype(np.float64), kind="stable")[:top]
    indices = (np.unravel_index(offset, value.shape) for offset in best)
    rows = (", ".join(map(str, map(int, index))) for index in indices)
    lines = (f"\n  [{row}] {flat[offset]:.6g}" for row, offset in zip(rows, best, strict=True))
    return words + "".join(lines)


def _target(text: str, names: list[str]) -> tuple[str | None, Path]:
    """(output, file) of one --output; the output None means all of them."""
    name, equals, file = text.rpartition("=")
    if equals and name not in names:
        raise OptionError(f"--output {text}: the outputs are {', '.join(names)}")
    path = Path(file)
    if path.suffix == ".npz" and not equals:
        return None, path
    if path.suffix != ".npy":
        raise OptionError(f"--output {text}: outputs are written as .npy, or all as one .npz")
    if not equals and len(names) != 1:
        raise OptionError(f"--output {text}: which of {', '.join(names)}? write NAME={file}")
    return (name if equals else names[0]), path


def _write(path: Path, value: Any) -> None:
    import numpy as np

    arrays = value if isinstance(value, dict) else {path.name: value}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype == object:
            raise OptionError(
                f"{path}: {name} is not a numeric array, so it can't be written as .npy"
            )
    if isinstance(value, dict):
        np.savez(path, **value)
    else:
        np.save(path, value)
