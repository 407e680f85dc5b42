"""`tallow convert`: rewrites a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import OptionError
from ..onnx import load, save
from .feeds import shapes_of


def command(options: argparse.Namespace) -> None:
    """Writes the target and prints the size of both files."""
    source, target = Path(options.model), Path(options.target)
    if target.exists() and target.samefile(source):
        raise OptionError(f"{target}: this would overwrite the model; choose another name")
    model = load(source)
    save(
        model,
        target,
        shapes=shapes_of(options),
        weights=options.weights,
        fold=not options.keep_batch_norm,
        external=True if options.external else None,
    )
    data_file = target.with_name(f"{target.name}.data")
    extra = f" and {data_file.name}, {data_file.stat().st_size:,} bytes" if options.external else ""
    print(f"{source}: {source.stat().st_size:,} bytes")
    print(f"{target}: {target.stat().st_size:,} bytes{extra}")
    written = load(target)
    if [info.shape for info in written.inputs] != [info.shape for info in model.inputs]:
        print(f"fixed:         {'; '.join(map(str, written.inputs))}")
    print(written.summary())
