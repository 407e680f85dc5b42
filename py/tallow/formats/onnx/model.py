"""Model: a loaded ONNX file, from which sessions are made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import (
    OnnxAmbiguousDataError,
    OnnxError,
    OnnxFormatError,
    OnnxMissingDataError,
    OnnxUnsupportedError,
)
from ...graph import Graph
from ...hostarray import HostArray
from .dimensions import Shapes
from .read import proto, reader
from .read.external import ExternalFiles
from .records import Metadata, ModelRecord, ValueInfo
from .run import importer
from .run.execution import MOST_TURNS, PlanCache, Steps, now, soon
from .run.model_session import ModelSession
from .run.summary import Summary, constants, summarise


class Model:
    """What an ONNX file holds; made by `tallow.onnx.load`.

    A symbolic dimension gets its length from `shapes`: by its own name, `{"N": 8}`, or through
    the shape of an input, `{"image": (8, 3, 224, 224)}`. A leading one that is not given is 1.
    """

    def __init__(
        self, record: ModelRecord, source: str, external: frozenset[str] = frozenset()
    ) -> None:
        self._record = record
        self._source = source
        self.external = external
        """The names of the given files of external data that it reads."""

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
        """What it must be fed, in the file's order; initializers are not among them."""
        return self._record.graph.inputs

    @property
    def outputs(self) -> tuple[ValueInfo, ...]:
        """What it gives, in the file's order."""
        return self._record.graph.outputs

    @property
    def opset(self) -> int | None:
        """The version of the standard operator set; None if it uses none of it."""
        return self._record.opsets.get("")

    @property
    def opsets(self) -> Mapping[str, int]:
        """The version of every operator set by its domain; the standard one is ""."""
        return self._record.opsets

    @property
    def metadata(self) -> Metadata:
        """Producer, version, IR version, doc and free properties."""
        return self._record.metadata

    @property
    def unsupported(self) -> list[str]:
        """What Tallow lacks for it, a line each, as far as it shows before shapes are known."""
        return importer.unsupported(self._record.graph)

    @property
    def constants(self) -> list[HostArray]:
        """Every array that the file holds, always in the same order."""
        return [*constants(self._record.graph)]

    def summary(self, shapes: Shapes | None = None) -> Summary:
        """What there is to know before it is compiled; no weight is copied, no device needed.

        Raises ShapeError for `shapes` that do not fit.
        """
        return summarise(self._record, self.unsupported, shapes)

    def graph(self, shapes: Shapes | None = None) -> Graph:
        """The graph with concrete shapes.

        Raises OnnxUnsupportedError listing everything that Tallow lacks, OnnxFormatError for a
        node that contradicts itself, ShapeError for shapes that are missing or do not fit.
        """
        try:
            return importer.build(self._record, shapes)
        except OnnxError as error:
            raise type(error)(f"{self._source}: {error}") from error

    def session(
        self,
        device: str | None = None,
        shapes: Shapes | None = None,
        *,
        most_turns: int = MOST_TURNS,
    ) -> ModelSession:
        """The model on a device, "webgpu" or "numpy" (None: the default one).

        It is compiled at once where the file and `shapes` give the shape of every input, and again
        for other shapes when it is fed them. most_turns: how often the loops of a run may go round
        together; RealizeError, by the run, beyond that. Raises what `graph` raises, except for
        nodes that the host computes, and DeviceError if the device cannot have it.
        """
        made, steps = self._prepared(device, shapes, most_turns)
        now(steps)
        return made

    async def session_async(
        self,
        device: str | None = None,
        shapes: Shapes | None = None,
        *,
        most_turns: int = MOST_TURNS,
        plan_cache: PlanCache | None = None,
    ) -> ModelSession:
        """As `session`; works everywhere. plan_cache: has plans that need not be compiled."""
        made, steps = self._prepared(device, shapes, most_turns, plan_cache)
        await soon(steps)
        return made

    def _prepared(
        self,
        device: str | None,
        shapes: Shapes | None,
        most_turns: int,
        plan_cache: PlanCache | None = None,
    ) -> tuple[ModelSession, Steps]:
        made = ModelSession(self._record, device, most_turns, plan_cache)

        def steps() -> Steps:
            try:
                importer.refuse(self.unsupported)
                yield from made.prepare(shapes)
            except (OnnxFormatError, OnnxUnsupportedError) as error:
                raise type(error)(f"{self._source}: {error}") from error

        return made, steps()


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    external: Mapping[str, Any] | None = None,
) -> Model:
    """Reads an ONNX file: a path, or the file's bytes.

    Loading checks the whole file but needs no operator: what Tallow lacks is said by
    `Model.unsupported` and by `Model.session`. External data is read from the folder of a path, or
    is `external`: the bytes of each file by its path from the model's folder, or by its name alone
    where the model has no other file of that name. The model holds views of bytes that it is given,
    so they must not change.
    Raises OnnxFormatError in one line if it is not ONNX, is damaged, or contradicts itself;
    OnnxMissingDataError with the names of all files that it needs and that are not there;
    OnnxAmbiguousDataError where the names do not say which file is which.
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
        # A file's own bytes are let go, so that a session keeps no more of them than it reads.
        views: proto.Views = {}
        parsed = proto.parse(data, None if folder else views)
        record = reader.read_model(parsed, files, views)
    except OnnxMissingDataError as error:
        raise OnnxMissingDataError(error.files, name) from error
    except OnnxAmbiguousDataError as error:
        raise OnnxAmbiguousDataError(error.files, error.given, name) from error
    except OnnxFormatError as error:
        raise OnnxFormatError(f"{name}: {error}") from error
    return Model(record, name, frozenset(files.read_from))
