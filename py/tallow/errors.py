"""Every exception that Tallow raises on purpose.

TallowError (a RuntimeError)
├── ShapeError            shapes that do not fit (also a ValueError)
│   └── AxisError             an axis that a tensor does not have (also an IndexError)
├── DTypeError            element types that do not fit (also a TypeError)
│   └── WideIntegerError      integers of 64 bits that the device might not hold in 32
├── GraphError            a graph that is not well formed: a bug, or a damaged file
├── ArgumentError         an argument of the wrong kind, or an unknown one (TypeError)
├── UnreadyError          a module before its __init__ (AttributeError)
├── MissingNameError      a name of PyTorch's that is missing here (AttributeError)
├── OptionError           an option that has an invalid value (ValueError)
│   ├── AssertedError         an option that PyTorch refuses by `assert` (also an AssertionError)
│   └── MissingError          what a kind of object does not have (also a NotImplementedError)
├── PlanError             a saved plan that can no longer be read (ValueError)
├── FeedError             inputs of a run: missing, extra, or of the wrong kind (ValueError)
│   └── FeedRangeError        integers that are too large for the device
├── IndexRangeError       an index out of range (also an IndexError)
├── NonFiniteError       a NaN or an infinity where there must be none (FloatingPointError)
├── LinAlgError           a matrix without an inverse or a factorisation (also a RuntimeError)
├── GradientError         a derivative that does not exist, or cannot be taken (ValueError)
├── TextError             a tokenizer's file or a chat template that cannot be used (ValueError)
├── FormatError           a file of weights that is damaged, or is none (ValueError)
├── CheckpointError       a run's folder or checkpoint that cannot be used
├── WorkerError           a worker of distributed training that fails or is unavailable
├── FetchError            a file that no source gives (also an OSError)
│   └── ChecksumError         a file whose bytes are others than expected
├── DataError             data that are damaged, or do not fit (ValueError)
│   └── MissingDataError      files of a dataset that are not there (also a FileNotFoundError)
├── RealizeError          a result cannot be computed this way here; the message says how instead
├── OnnxError             an ONNX file that cannot be used
│   ├── OnnxFormatError       not ONNX, cut short, corrupted, or inconsistent (ValueError)
│   └── OnnxUnsupportedError  operators, opsets or types that Tallow does not have, all at once
└── DeviceError           the device refused
    ├── DeviceUnavailableError  the device is unavailable here
    ├── KernelError             the device does not compile the code of a user's op
    ├── DeviceMemoryError       a plan needs more than the device has (also a MemoryError)
    ├── DeviceLostError         the device went away while it was in use
    └── StorageError            nothing can be kept for the device (tuning records)
"""

from __future__ import annotations

import sys


# Why: docs/decisions/pytorch.md, "Every TallowError is a RuntimeError, and an axis out of range is
# an IndexError too"
class TallowError(RuntimeError):
    """The root: `except TallowError` catches all that Tallow raises on purpose. A RuntimeError, as
    most of PyTorch's are."""


class ShapeError(TallowError, ValueError):
    """Shapes or axes that do not fit."""


class AxisError(ShapeError, IndexError):
    """An axis that a tensor does not have; NumPy's has the same bases."""


class DTypeError(TallowError, TypeError):
    """Element types that do not fit."""


class WideIntegerError(DTypeError):
    """Integers of 64 bits that 32 bits, in which a device computes, might not hold."""


class GraphError(TallowError):
    """A graph that is not well formed."""


class ArgumentError(TallowError, TypeError):
    """An argument of another kind, or of a name that a function does not have."""


class UnreadyError(TallowError, AttributeError):
    """A module that is used before its `super().__init__()`."""


class MissingNameError(TallowError, AttributeError):
    """A name of PyTorch's that Tallow does not have; the message says what there is instead."""


class OptionError(TallowError, ValueError):
    """An option has an invalid value."""


class AssertedError(OptionError, AssertionError):
    """An option that PyTorch refuses by `assert`."""


class ModuleNameError(OptionError, KeyError):
    """A name that a module cannot have for what it holds."""

    __str__ = Exception.__str__  # KeyError's shows quotes


class MissingError(OptionError, NotImplementedError):
    """What this kind of object does not have."""


class PackageError(TallowError, ImportError):
    """A Python package that this needs is not installed."""


class PlanError(TallowError, ValueError):
    """A saved plan is damaged, or of another version."""


class FeedError(TallowError, ValueError):
    """Inputs of a run that are missing, unknown, or of the wrong shape or type."""


class FeedRangeError(FeedError):
    """Integers of an input that the device does not compute; `name` is the input's."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


class IndexRangeError(TallowError, IndexError):
    """An index, fed or computed, that is out of range."""


class RealizeError(TallowError):
    """A result cannot be computed in this way on this device."""


class GradientError(TallowError, ValueError):
    """A derivative that does not exist, or that is asked of what has none."""


class LinAlgError(TallowError, RuntimeError):
    """A matrix that has no inverse, or no factorisation of the kind that was asked for."""


class NonFiniteError(TallowError, FloatingPointError):
    """A NaN or an infinity where there must be none. step: of the training that met it, if any."""

    step: int | None = None


class TracingError(TallowError):
    """A function that `@tl.jit` traces asks for what is known only when it runs."""


class OnnxError(TallowError):
    """An ONNX file that cannot be used."""


class OnnxFormatError(OnnxError, ValueError):
    """Bytes that are not a whole, consistent ONNX model."""


class OnnxMissingDataError(OnnxFormatError):
    """A model whose weights are in files that are missing: `files` has all their names."""

    def __init__(self, files: tuple[str, ...], source: str = "ONNX model") -> None:
        self.files = files
        names = ", ".join(map(repr, files))
        alone = len(files) == 1
        others, them = ("another file", "it") if alone else (f"{len(files)} other files", "them")
        super().__init__(
            f"{source}: weights lie in {others} that cannot be found, {names}: "
            f"put {them} beside the model, or give {them} with it"
        )


class OnnxAmbiguousDataError(OnnxFormatError):
    """A model whose weights may be in more than one of the files that were given with it, or two
    of whose files may be the one that was given: `files` has the locations, `given` the names."""

    def __init__(
        self, files: tuple[str, ...], given: tuple[str, ...], source: str = "ONNX model"
    ) -> None:
        self.files, self.given = files, given
        wanted, names = (" and ".join(map(repr, each)) for each in (files, given))
        found = f"{names} could be either" if len(files) > 1 else f"{names} could each be it"
        super().__init__(
            f"{source}: weights lie in {wanted}, and {found}: "
            "give the files under their paths from the model's folder"
        )


class OnnxUnsupportedError(OnnxError):
    """A sound model that uses something Tallow does not have; lists all of it at once."""


class FormatError(TallowError, ValueError):
    """Bytes that are not a whole, harmless file of weights; nothing of it is loaded."""


class TextError(TallowError, ValueError):
    """A tokenizer's description or a chat template that cannot be used."""


class CheckpointError(TallowError):
    """A run's folder, or a checkpoint in it, that cannot be used."""


class DataWorkerError(TallowError):
    """A worker of a loader died, could not start, or made no batch in time."""


class WorkerError(TallowError):
    """A worker of distributed training fails or is unavailable."""


class ServiceError(TallowError):
    """A request that a service refuses. kind: "invalid", "missing", "large", "busy", "late",
    "token" or "unready"; each protocol has a status for it (serve/refusals.py)."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class FetchError(TallowError, OSError):
    """A file that no source gives; the message has what each of them said."""


class ChecksumError(FetchError):
    """A file whose bytes are others than expected; it is not kept."""


class DataError(TallowError, ValueError):
    """Data that are damaged, or do not fit what reads them: the message says where."""


class MissingDataError(DataError, FileNotFoundError):
    """Files of a dataset that are not there."""


class DataNotLoadedError(TallowError):
    """The bytes of an array were asked for before they had arrived (core/streamed_weights.py)."""


class DeviceError(TallowError):
    """The device refused."""


class DeviceUnavailableError(DeviceError):
    """The device is unavailable here."""


class KernelError(DeviceError):
    """The device does not compile the code of a user-defined op (`tl.custom_op`).

    op: its name. line: of that code, counted from 1; None where the device does not tell.
    """

    def __init__(self, message: str, op: str, line: int | None = None) -> None:
        super().__init__(message)
        self.op, self.line = op, line


class DeviceMemoryError(DeviceError, MemoryError):
    """A plan needs more memory than the device offers."""


class DeviceLostError(DeviceError):
    """The device went away while it was in use."""


class StorageError(DeviceError):
    """The browser refuses storage. why: in its own words."""

    def __init__(self, why: str) -> None:
        super().__init__(f"this browser refuses storage: {why}")
        self.why = why


def line_of_user() -> str:
    """The line of user code that is running."""
    frame = sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("tallow."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
