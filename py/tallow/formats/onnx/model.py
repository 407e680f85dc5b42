"""Model: a loaded ONNX file, from which sessions are made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.drivers import Steps, run_async, run_sync
from ...core.hostarray import HostArray
from ...errors import (
    OnnxAmbiguousDataError,
    OnnxError,
    OnnxFormatError,
    OnnxMissingDataError,
    OnnxUnsupportedError,
)
from ...graph import Graph
from ...tensor import Tensor
from .dimensions import Shapes
from .read import proto, reader
from .read.external import ExternalFiles
from .read.wire import Taken
from .records import Metadata, ModelRecord, ValueInfo
from .run import importer
from .run.model_session import ModelSession
from .run.plan_cache import PlanCache
from .run.summary import Summary, constants, summarise
from .run.trace import MAX_TURNS
from .type_check import check_types


class Model:
    """The contents of an ONNX file; made by `tallow.onnx.load`.

    A symbolic dimension gets its length from `shapes`: by its own name, `{"N": 8}`, or through
    the shape of an input, `{"image": (8, 3, 224, 224)}`. A leading one defaults to 1.
    """

    def __init__(
        self, record: ModelRecord, source: str, external: frozenset[str] = frozenset()
    ) -> None:
        self._record = record
        self._source = source
        self.external = external
        """The names of the external data files that it reads."""

    def __repr__(self) -> str:
        inputs = "; ".join(map(str, self.inputs))
        outputs = "; ".join(map(str, self.outputs))
        return f"<tallow.onnx.Model {self.name!r}: {inputs} -> {outputs}, opset {self.opset}>"

    @property
    def name(self) -> str:
        """The name of its graph."""
        return self._record.graph.name

    @property
    def inputs(self) -> tuple[ValueInfo, ...]:
        """The inputs it expects, in the file's order, without initializers."""
        return self._record.graph.inputs

    @property
    def outputs(self) -> tuple[ValueInfo, ...]:
        """The outputs it computes, in the file's order."""
        return self._record.graph.outputs

    @property
    def opset(self) -> int | None:
        """The version of the standard operator set; None if it does not use that set."""
        return self._record.opsets.get("")

    @property
    def opsets(self) -> Mapping[str, int]:
        """The version of every operator set by domain; the standard domain is ""."""
        return self._record.opsets

    @property
    def metadata(self) -> Metadata:
        """Producer, version, IR version, doc and custom properties."""
        return self._record.metadata

    @property
    def unsupported(self) -> list[str]:
        """Unsupported features, one per line, as far as known without the shapes of inputs."""
        return importer.unsupported(self._record.graph)

    @property
    def constants(self) -> list[HostArray]:
        """Every array stored in the file, always in the same order."""
        return [*constants(self._record.graph)]

    def state_dict(self) -> dict[str, Tensor]:
        """The weights under the names that the exported module gave them, such as
        "layers.0.fc1.weight", for `tl.load_into`.

        A weight that the exporter transposed is turned back, one of 8 bits with a factor and a zero
        point becomes what it stands for. What no module's name is known for keeps the file's.
        Raises OnnxFormatError where two would have one name.
        """
        from .parameters import parameters  # the page starts without it

        return parameters(self._record.graph)

    def summary(self, shapes: Shapes | None = None) -> Summary:
        """A description of the model. It copies no weights and needs no device.

        Raises ShapeError for `shapes` that do not fit.
        """
        return summarise(self._record, self.unsupported, shapes)

    def graph(self, shapes: Shapes | None = None) -> Graph:
        """The graph with concrete shapes.

        Raises OnnxUnsupportedError listing everything unsupported, OnnxFormatError for an
        inconsistent node, ShapeError for shapes that are missing or do not fit.
        """
        try:
            check_types(self._record.graph)
            return importer.build(self._record, shapes)
        except OnnxError as error:
            raise type(error)(f"{self._source}: {error}") from error

    def session(
        self,
        device: str | None = None,
        shapes: Shapes | None = None,
        *,
        most_turns: int = MAX_TURNS,
    ) -> ModelSession:
        """A session for the model on a device, "webgpu" or "numpy" (None: the default).

        The model is compiled immediately if the file and `shapes` give the shape of every input,
        the length of a batch included, and otherwise by the first run; and again whenever a run
        has inputs of other shapes. most_turns: the maximum number of loop
        iterations in one run; a run that exceeds it raises RealizeError. Raises the same errors as
        `graph`, except for nodes that the host computes, and DeviceError if the device cannot run
        the model.
        """
        return run_sync(self._opening(device, shapes, most_turns))

    async def session_async(
        self,
        device: str | None = None,
        shapes: Shapes | None = None,
        *,
        most_turns: int = MAX_TURNS,
        plan_cache: PlanCache | None = None,
    ) -> ModelSession:
        """Like `session`, but works on every host. plan_cache: a cache of compiled plans."""
        return await run_async(self._opening(device, shapes, most_turns, plan_cache))

    def _opening(
        self,
        device: str | None,
        shapes: Shapes | None,
        most_turns: int,
        plan_cache: PlanCache | None = None,
    ) -> Steps[ModelSession]:
        session = ModelSession(self._record, device, most_turns, plan_cache)
        try:
            importer.refuse(self.unsupported)
            check_types(self._record.graph)
            yield from session.prepare(shapes)
        except (OnnxFormatError, OnnxUnsupportedError) as error:
            raise type(error)(f"{self._source}: {error}") from error
        return session


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    external: Mapping[str, Any] | None = None,
) -> Model:
    """Reads an ONNX file: a path, or the file's bytes.

    Loading checks the whole file but not its operators: `Model.unsupported` and `Model.session`
    report the unsupported ones. External data is read from the model's folder, or passed as
    `external`: the bytes of each file by its path relative to that folder, or by its name alone if
    the name is unique. The model keeps views of the bytes it is given, so they must not change.
    Raises OnnxFormatError with one line if the file is not ONNX, damaged, or inconsistent;
    OnnxMissingDataError with the names of all missing files;
    OnnxAmbiguousDataError if the names do not tell which file is which.
    """
    folder: Path | None = None
    data: bytes | bytearray | memoryview
    if isinstance(source, (bytes, bytearray, memoryview)):
        name, data = "ONNX model", source
    else:
        path = Path(source)
        name, folder, data = path.name, path.parent, path.read_bytes()
    files = ExternalFiles(folder, external)
    try:
        # Without views the file's bytes are freed, so that a session keeps only what it reads.
        taken: Taken = {}
        parsed = proto.parse(data, taken, copied=folder is not None)
        record = reader.read_model(parsed, files, taken)
    except OnnxMissingDataError as error:
        raise OnnxMissingDataError(error.files, name) from error
    except OnnxAmbiguousDataError as error:
        raise OnnxAmbiguousDataError(error.files, error.given, name) from error
    except OnnxFormatError as error:
        raise OnnxFormatError(f"{name}: {error}") from error
    return Model(record, name, frozenset(files.read_from))
