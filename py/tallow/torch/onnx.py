"""torch.onnx: `export`, which runs a module on examples and writes what it computes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import onnx as _onnx
from ..core.dtype import DType
from ..errors import OptionError
from ..nn.module import Module
from ..tensor import Tensor
from .rooms import missing
from .types import FileLike

Exported = Module | Callable[..., Any]

Axes = Mapping[int, str] | Sequence[int]
"""The axes of an input that may have other lengths, with the names of those or without."""


def export(
    model: Exported,
    args: Tensor | Sequence[Tensor] = (),
    f: FileLike | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Mapping[str, Axes] | None = None,
    dynamic_shapes: object = None,
    **options: object,
) -> None:
    """Writes a module as an ONNX file. args: an example of its arguments, one or a tuple. f: the
    path, or a file that is open for writing. dynamic_axes: by name of an input, its axes that may
    have other lengths. Other options change nothing. Raises OptionError for keyword arguments."""
    if kwargs:
        raise OptionError(f"onnx.export: keyword arguments {', '.join(kwargs)}; give them in args")
    if f is None:
        raise OptionError("onnx.export: give f, the path of the file")
    examples = (args,) if isinstance(args, Tensor) else tuple(args)
    axes = dynamic_axes or {}
    names = list(input_names or [])
    inputs = [
        _described(x, axes.get(names[n], {}) if n < len(names) else {})
        for n, x in enumerate(examples)
    ]
    training = getattr(model, "training", False)
    if isinstance(model, Module) and training:
        model.eval()
    try:
        with _named(model, names, list(output_names or [])):
            _write(model, f, inputs)
    finally:
        if isinstance(model, Module) and training:
            model.train()


def _described(x: Tensor, axes: Axes) -> tuple[tuple[int | str, ...], DType]:
    """The shape of an example, with names for the lengths that may change, and its type."""
    named = axes if isinstance(axes, Mapping) else {axis: f"dim_{axis}" for axis in axes}
    return tuple(named.get(axis, length) for axis, length in enumerate(x.shape)), x.dtype


@contextmanager
def _named(model: Exported, inputs: list[str], outputs: list[str]) -> Iterator[None]:
    """Within it, the arguments and results of a module have these names."""
    if not isinstance(model, Module) or not (inputs or outputs):
        yield
        return
    forward = model.forward

    def run(*args: object) -> object:
        results = forward(*args)
        if not outputs:
            return results
        found = [results] if isinstance(results, Tensor) else list(results)
        return dict(zip(outputs, found, strict=True))

    kind = Parameter.POSITIONAL_OR_KEYWORD
    shown = Signature([Parameter(n, kind) for n in inputs]) if inputs else signature(forward)
    vars(run)["__signature__"] = shown
    model.__dict__["forward"] = run
    try:
        yield
    finally:
        del model.__dict__["forward"]


def _write(
    model: Exported, f: FileLike, inputs: Sequence[tuple[tuple[int | str, ...], DType]]
) -> None:
    if isinstance(f, (str, os.PathLike)):
        _onnx.save(model, os.fspath(f), inputs=inputs)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        _onnx.save(model, path, inputs=inputs)
        f.write(path.read_bytes())


def is_in_onnx_export() -> bool:
    """False."""
    return False


def __getattr__(name: str) -> Any:
    if hasattr(_onnx, name):
        return getattr(_onnx, name)
    raise missing("torch.onnx", name)
