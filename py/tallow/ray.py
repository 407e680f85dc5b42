"""Batch inference on Ray Data: a class for `map_batches`, and pictures of a folder to Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from .core.drivers import run_sync
from .core.packages import package
from .errors import ArgumentError, DataError, OptionError
from .grad_mode import no_grad
from .nn import Module
from .runtime.device import set_default_device
from .runtime.jit import Jitted
from .tensor import Tensor, asarray, reading
from .train.distributed.cluster import ray_with_cluster

Columns = Mapping[str, Any]
"""A batch of Ray Data: NumPy arrays by name, each with a row per sample."""


class Inference:
    """Computes a model's outputs for batches of Ray Data, in each of its workers.

        dataset.map_batches(tl.ray.Inference, fn_constructor_args=[model],
                            compute=ray.data.ActorPoolStrategy(size=2))

    A worker makes one of these, and calls it for each batch: `collate`, `process`, `finalize`. A
    subclass may define each of them.

    model: the module, which is put into evaluation mode, or a function without arguments that makes
      it in the worker.
    column: the name of the inputs; it is left out of what comes back. output: that of the outputs.
    transform: transform(value of a sample), an array or a tensor; what it gives has the same shape
      for all samples. None takes the column as it is.
    device: the worker's device; None is the fastest it has.
    Raises: ArgumentError for a model of another kind.
    """

    def __init__(
        self,
        model: Module | Callable[[], Module],
        *,
        column: str = "image",
        output: str = "prediction",
        transform: Callable[[Any], Any] | None = None,
        device: str | None = None,
    ) -> None:
        self.column, self.output, self.transform = column, output, transform
        self.initialize(model, device)

    def initialize(self, model: Module | Callable[[], Module], device: str | None) -> None:
        """Makes the model ready in a worker."""
        if device is not None:
            set_default_device(device)
        made = model if isinstance(model, Module) else model() if callable(model) else model
        if not isinstance(made, Module):
            raise ArgumentError(
                f"tl.ray.Inference: the model is {type(made).__name__}; give a module, or a "
                "function that makes one"
            )
        self.model = made.eval()
        self._compute = Jitted(self.model.__call__, frozenset(), device)

    def collate(self, batch: Columns) -> Tensor:
        """The model's inputs of a batch, (samples, ...). Raises DataError if the column is missing,
        or if its values have several shapes."""
        import numpy as np

        if self.column not in batch:
            known = ", ".join(sorted(batch))
            raise DataError(f"tl.ray.Inference: no column {self.column!r}; there are: {known}")
        values: Any = batch[self.column]
        if self.transform is not None:
            made = [self.transform(value) for value in values]
            values = [each.numpy() if isinstance(each, Tensor) else each for each in made]
        shapes = sorted({tuple(np.shape(value)) for value in values})
        if len(shapes) > 1:
            raise DataError(
                f"tl.ray.Inference: the samples have the shapes {shapes[0]} and {shapes[-1]}; "
                "give a transform that makes them equal"
            )
        return asarray(np.stack(list(values)))

    def process(self, inputs: Tensor) -> Any:
        """The model's outputs, a tensor with a row per sample, or a dict of such tensors."""
        with no_grad():
            return self._compute(inputs)

    def finalize(self, batch: Columns, outputs: Any) -> dict[str, Any]:
        """The batch without its inputs, and with the outputs: one column, or one for each name,
        `prediction_NAME`. Raises DataError for other outputs."""
        named = {self.output: outputs}
        if isinstance(outputs, Mapping):
            named = {f"{self.output}_{name}": each for name, each in outputs.items()}
        if not all(isinstance(each, Tensor) for each in named.values()):
            raise DataError(
                f"tl.ray.Inference: the model gave {type(outputs).__name__}; a tensor or a dict of "
                "tensors becomes columns: define process() in a subclass"
            )
        read = run_sync(_read(list(named.values())))
        kept = {name: value for name, value in batch.items() if name != self.column}
        return kept | {name: each.numpy() for name, each in zip(named, read, strict=True)}

    def __call__(self, batch: Columns) -> dict[str, Any]:
        return self.finalize(batch, self.process(self.collate(batch)))


def _read(tensors: list[Tensor]) -> Any:
    return (yield from reading(tensors))


def predict_folder(
    model: Module | Callable[[], Module],
    folder: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    transform: Callable[[Any], Any] | None = None,
    workers: int = 2,
    batch_size: int = 32,
    device: str | None = None,
) -> None:
    """Writes a model's outputs for the pictures in a folder to Parquet files; blocks. Ray Data
    shows a bar of progress.

    model, transform, device: as for `Inference`; a picture is uint8 (height, width, channels).
    folder: the pictures. target: the folder of the Parquet files, with the columns path and
      prediction.
    workers: how many processes compute. batch_size: how many pictures they compute at once.
    Raises: OptionError for numbers below 1, and for a cluster without a CPU beside those of the
      workers. PackageError without Ray Data: pip install tallow[ray-data]. Ray's own errors for
      what happens in a worker.
    """
    for name, value in (("workers", workers), ("batch_size", batch_size)):
        if value < 1:
            raise OptionError(f"predict_folder: {name}={value} is below 1")
    data = package("ray.data", "tl.ray.predict_folder", "ray-data")
    room = ray_with_cluster(workers + 1).cluster_resources().get("CPU", 0)
    if room <= workers:  # Ray Data would wait forever, since workers keep their CPUs
        raise OptionError(
            f"predict_folder: workers={workers} leave none of the cluster's {room:g} CPUs to read "
            "the pictures; take fewer"
        )
    pictures = data.read_images(os.fspath(folder), include_paths=True)
    outputs = pictures.map_batches(
        Inference,
        fn_constructor_args=[model],
        fn_constructor_kwargs={"transform": transform, "device": device},
        batch_size=batch_size,
        batch_format="numpy",
        compute=data.ActorPoolStrategy(size=workers),
    )
    outputs.write_parquet(os.fspath(target))
