"""A model that is loaded: what goes in and comes out, and its results for arrays of the host."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..errors import DeviceLostError, FeedError, OptionError, ServiceError, TallowError
from ..formats.onnx.model import Model, load
from ..formats.onnx.records import ValueInfo
from ..formats.weights import load as load_weights
from ..formats.weights import load_into
from ..grad_mode import no_grad
from ..nn import Module
from ..runtime.jit import Jitted
from ..tensor import Tensor, asarray
from .datatypes import NAMES, NUMPY
from .gatherer import parts

Arrays = dict[str, Any]
"""NumPy arrays by name."""


@dataclass(frozen=True)
class Port:
    """An input or an output. datatype: the protocol's name of its type, such as "FP32". shape: a
    length per axis, -1 for one that is open; None if it is not known."""

    name: str
    datatype: str
    shape: tuple[int, ...] | None

    def fits(self, shape: Sequence[int]) -> bool:
        """Whether an array of that shape is one."""
        return self.shape is None or (
            len(shape) == len(self.shape)
            and all(own in (-1, given) for own, given in zip(self.shape, shape, strict=True))
        )


class Computed(Protocol):
    """What computes a model: it is made, called and closed in one thread."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    batches: bool
    platform: str

    def __call__(self, feeds: Arrays) -> Arrays:
        """All outputs."""

    def close(self) -> None:
        """Frees what it holds on the device."""


@dataclass(frozen=True)
class ModuleSpec:
    """How a file of weights becomes a network. module: "resnet18", of tl.zoo, or
    "package.module:function". shape: that of its input, without the batch."""

    module: str
    shape: tuple[int, ...]


def opened(path: Path, device: str | None, spec: ModuleSpec | None) -> Computed:
    """Loads a file: ONNX, or the weights of the network that `spec` names. Call it in the thread
    that computes.

    Raises: TallowError, with a line, for a file that cannot be used; OSError for one that cannot be
      read.
    """
    if path.suffix == ".onnx":
        return OnnxModel(load(path), device)
    if spec is None:
        raise OptionError(
            f"{path.name}: a file of weights does not say which network it is for; add --module "
            "and --input-shape, as in --module resnet18 --input-shape 3,224,224"
        )
    return ModuleModel(path, device, spec)


class OnnxModel:
    """A model in an ONNX file."""

    platform = "onnx_tallow"

    def __init__(self, model: Model, device: str | None) -> None:
        self._model, self._device = model, device
        self.inputs = tuple(map(_port, model.inputs))
        self.outputs = tuple(map(_port, model.outputs))
        self.batches = _batches(model)
        self._session = model.session(device)

    def __call__(self, feeds: Arrays) -> Arrays:
        """See `Computed`. A device that was lost is opened again, once."""
        try:
            return self._session.run(feeds)
        except DeviceLostError:
            self._session = self._model.session(self._device)
            return self._session.run(feeds)

    def close(self) -> None:
        """See `Computed`."""
        self._session.close()


class ModuleModel:
    """A module with weights from a file."""

    platform = "tallow"
    batches = True

    def __init__(self, path: Path, device: str | None, spec: ModuleSpec) -> None:
        state = load_weights(path)
        module = _made(spec.module)
        load_into(module, state.get("model", state))
        self._module = module.eval()
        self._device = device
        self._compute = Jitted(self._module.__call__, frozenset(), device)
        self.inputs: tuple[Port, ...] = (Port("input", "FP32", (-1, *spec.shape)),)
        self.outputs: tuple[Port, ...] = ()
        zeros = asarray(0.0).broadcast_to((1, *spec.shape)).numpy()
        self.outputs = tuple(
            Port(name, NAMES[array.dtype.name], (-1, *array.shape[1:]))
            for name, array in self({"input": zeros}).items()
        )

    def __call__(self, feeds: Arrays) -> Arrays:
        """See `Computed`."""
        with no_grad():
            found = self._compute(asarray(feeds["input"]))
        if isinstance(found, Tensor):
            found = {"output": found}
        elif isinstance(found, (list, tuple)):
            found = {f"output_{i}": each for i, each in enumerate(found)}
        if not isinstance(found, Mapping) or not all(
            isinstance(each, Tensor) for each in found.values()
        ):
            raise TallowError(f"the network gives {type(found).__name__}; only tensors are served")
        return {str(name): each.numpy() for name, each in found.items()}

    def close(self) -> None:
        """See `Computed`."""
        self._compute = Jitted(self._module.__call__, frozenset(), self._device)


def _made(name: str) -> Module:
    """The network that a name stands for."""
    try:
        make = pkgutil.resolve_name(name if ":" in name else f"tallow.zoo:{name}")
    except (ImportError, AttributeError, ValueError) as error:
        raise OptionError(
            f"--module {name}: {error}; give a name of tl.zoo, or package.module:function"
        ) from error
    found = make()
    if not isinstance(found, Module):
        raise OptionError(f"--module {name}: gives {type(found).__name__}, not a module")
    return found


def _port(info: ValueInfo) -> Port:
    if info.kind != "tensor" or info.type not in NAMES:
        raise ServiceError(
            "unready", f"{info}: the Open Inference Protocol has no such type; it can't be served"
        )
    shape = info.shape
    sizes = shape if shape is None else tuple(x if isinstance(x, int) else -1 for x in shape)
    return Port(info.name, NAMES[info.type], sizes)


def _batches(model: Model) -> bool:
    """Whether the first axis of all inputs and outputs is one open length, and no other axis is."""
    if not model.inputs:
        return False
    shapes = [info.shape for info in (*model.inputs, *model.outputs)]
    name = shapes[0][0] if shapes[0] else 0
    return isinstance(name, str) and all(
        shape and shape[0] == name and name not in shape[1:] for shape in shapes
    )


def checked(ports: Sequence[Port], feeds: Arrays, batches: bool) -> int:
    """The rows of a request. Raises FeedError for feeds that do not fit, naming them."""
    known = {port.name for port in ports}
    missing = [port.name for port in ports if port.name not in feeds]
    unknown = [name for name in feeds if name not in known]
    if missing or unknown:
        words = [f"missing {', '.join(missing)}"] if missing else []
        words += [f"unknown {', '.join(unknown)}"] if unknown else []
        listed = ", ".join(port.name for port in ports)
        raise FeedError(f"inputs: {'; '.join(words)} (the model's are {listed})")
    for port in ports:
        array = feeds[port.name]
        given = NAMES[array.dtype.name]
        if given != port.datatype or not port.fits(array.shape):
            wanted = "any" if port.shape is None else list(port.shape)
            raise FeedError(
                f"the input {port.name!r} is {given} {list(array.shape)}; the model takes "
                f"{port.datatype} {wanted}"
            )
    if not batches:
        return 1
    rows: set[int] = {feeds[port.name].shape[0] for port in ports}
    if len(rows) > 1:
        raise FeedError(f"the inputs have {sorted(rows)} rows; they must agree in the first axis")
    if rows == {0}:
        raise FeedError("the inputs have no rows")
    return rows.pop()


def computed(model: Computed, requests: Sequence[Arrays], most: int) -> list[Arrays]:
    """The outputs of requests that share a batch; in the thread that computes.

    most: the longest run.
    """
    import numpy as np

    if not model.batches:
        return [model(feeds) for feeds in requests]
    names = [port.name for port in model.inputs]
    whole = {name: _joined([feeds[name] for feeds in requests]) for name in names}
    pieces: list[Arrays] = []
    start = 0
    for taken, length in parts(len(whole[names[0]]), most):
        feeds = {name: array[start : start + taken] for name, array in whole.items()}
        if length > taken:
            feeds = {
                name: np.concatenate([x, np.repeat(x[-1:], length - taken, axis=0)])
                for name, x in feeds.items()
            }
        outputs = model(feeds)
        pieces.append({name: array[:taken] for name, array in outputs.items()})
        start += taken
    results = {name: _joined([piece[name] for piece in pieces]) for name in pieces[0]}
    answers, start = [], 0
    for feeds in requests:
        end = start + len(feeds[names[0]])
        answers.append({name: array[start:end] for name, array in results.items()})
        start = end
    return answers


def _joined(arrays: Sequence[Any]) -> Any:
    import numpy as np

    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def zeros(model: Computed, rows: int) -> Arrays | None:
    """Inputs of zeros; None if a length other than the batch's is open."""
    import numpy as np

    found: Arrays = {}
    for port in model.inputs:
        shape = port.shape
        if shape is None or -1 in shape[1:] or (shape[:1] == (-1,) and not model.batches):
            return None
        if port.datatype == "BYTES":
            return None
        sizes = (rows, *shape[1:]) if shape[:1] == (-1,) else shape
        found[port.name] = np.zeros(sizes, NUMPY[port.datatype])
    return found
