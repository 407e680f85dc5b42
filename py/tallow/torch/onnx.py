"""torch.onnx: `export`, which runs a module on examples and writes what it computes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import onnx as _onnx
from ..dtype import DType
from ..errors import OptionError
from ..nn.module import Module
from ..tensor import Tensor
from .rooms import missing


def export(
    model: Any,
    args: Any = (),
    f: Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Any = None,
    dynamic_shapes: Any = None,
    **options: Any,
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
    if training:
        model.eval()
    try:
        with _named(model, names, list(output_names or [])):
            _write(model, f, inputs)
    finally:
        if training:
            model.train()


def _described(x: Tensor, axes: Any) -> tuple[tuple[int | str, ...], DType]:
    """The shape of an example, with names for the lengths that may change, and its type."""
    named = axes if isinstance(axes, Mapping) else {axis: f"dim_{axis}" for axis in axes}
    return tuple(named.get(axis, length) for axis, length in enumerate(x.shape)), x.dtype


@contextmanager
def _named(model: Any, inputs: list[str], outputs: list[str]) -> Iterator[None]:
    """Within it, the arguments and results of a module have these names."""
    if not isinstance(model, Module) or not (inputs or outputs):
        yield
        return
    forward = model.forward

    def renamed(*args: Any) -> Any:
        results = forward(*args)
        if not outputs:
            return results
        found = [results] if isinstance(results, Tensor) else list(results)
        return dict(zip(outputs, found, strict=True))

    kind = Parameter.POSITIONAL_OR_KEYWORD
    if inputs:
        renamed.__signature__ = Signature([Parameter(n, kind) for n in inputs])
    else:
        renamed.__signature__ = signature(forward)
    model.__dict__["forward"] = renamed
    try:
        yield
    finally:
        del model.__dict__["forward"]


def _write(model: Any, f: Any, inputs: Sequence[Any]) -> None:
    if not hasattr(f, "write"):
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
