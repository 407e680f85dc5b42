"""The networks and operator chains that are measured, and their files.

A chain repeats one operator of a fixed shape, each time with different weights, as in a network. So
costs that occur once (upload, readback, conversion to the engine's own layout and back) are spread
over the links, for all engines alike.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from bench import networks, quantised
from bench.answers import TOLERANCE, Numbers, joined
from tallow_build.content import models
from tallow_build.errors import BuildError
from tallow_build.paths import BUILD, DIST, shown
from tallow_build.stamps import Stamp, digest

MADE = BUILD / "bench"

NETWORKS = ("mnist", "squeezenet1_1", "efficientnet_lite0", "resnet50")

# Networks with 8-bit weights, their titles and makers, which run if they are named. Steps of 8 bits
# are coarse, and engines take them in different places: see `Case.tolerance`.
QUANTISED = {
    "minilm": ("MiniLM, 8-bit weights", quantised.minilm),
    "minilm_dynamic": ("MiniLM, 8-bit products", quantised.minilm_dynamic),
    "squeezenet_static": ("SqueezeNet 1.1, 8 bits", quantised.squeezenet_static),
}

# The work of a chain, in floating-point operations, and its maximum length.
WORK = 0.5e9
MAX_LINKS = 16


@dataclass(frozen=True)
class Case:
    """Something to measure. flop: floating-point operations of one run, two for a multiplication
    and its addition; 0 for a network. links: how often the operator occurs. make: returns the ONNX
    file's content; None if dist/ has the file. tolerance: of an answer, relative to its largest
    value. inputs: returns what a network is given, by name; None for random numbers of its only
    input's shape."""

    name: str
    title: str
    flop: float = 0
    links: int = 1
    make: Callable[[], bytes] | None = None
    tolerance: float = TOLERANCE
    inputs: Callable[[], dict[str, NDArray[Any]]] | None = None

    @property
    def is_network(self) -> bool:
        """A whole network."""
        return self.flop == 0

    @property
    def has_classes(self) -> bool:
        """Whether the answer is a class."""
        return self.is_network and self.name in NETWORKS

    @property
    def model(self) -> Path:
        """The ONNX file."""
        if self.make:
            return MADE / f"{self.name}.onnx"
        return models.in_dist(self.name)


def network(name: str) -> Case:
    """One of NETWORKS or QUANTISED."""
    if name == "resnet50":
        return Case(name, "ResNet-50, random weights", make=networks.resnet50)
    if name in QUANTISED:
        title, make = QUANTISED[name]
        return Case(name, title, make=make, tolerance=TOLERANCE if name == "minilm" else 0.1)
    return Case(name, name)


def _links(flop: float) -> int:
    return max(1, min(MAX_LINKS, round(WORK / flop)))


def matmul(size: int) -> Case:
    """Square matrices."""
    each = 2.0 * size**3
    links = _links(each)
    make = partial(networks.matmul_chain, size, links)
    return Case(f"matmul-{size}", f"matmul {size}³", each * links, links, make)


def conv(kernel: int, inputs: int, outputs: int, size: int, *, depthwise: bool = False) -> Case:
    """Convolutions to `outputs` channels and back, on size x size, stride 1, same size out."""
    group = inputs if depthwise else 1
    each = 2.0 * size * size * inputs * outputs * kernel * kernel / group
    links = _links(each)
    if inputs != outputs and links > 1:
        links -= links % 2  # there and back
    make = partial(networks.conv_chain, (inputs, outputs), kernel, size, group, links)
    kind, word = ("dw", " depthwise") if depthwise else ("conv", "")
    width = str(inputs) if inputs == outputs else f"{inputs}-{outputs}"
    title = f"{kernel}×{kernel}{word}, {width} on {size}²"
    return Case(f"{kind}{kernel}-{width}-{size}", title, each * links, links, make)


def addition() -> Case:
    """A tiny model that an engine runs before anything is measured."""
    return Case("addition", "addition", 4, make=networks.addition)


def micro() -> list[Case]:
    """Matrix products, and the convolutions that take most of the time in ResNet-50 (the first
    four) and EfficientNet-Lite0."""
    return [
        *(matmul(size) for size in (256, 512, 1024)),
        conv(3, 64, 64, 56),
        conv(3, 256, 256, 14),
        conv(1, 256, 64, 56),
        conv(1, 1024, 256, 14),
        conv(1, 24, 144, 56),
        conv(1, 112, 672, 14),
        conv(3, 144, 144, 56, depthwise=True),
        conv(3, 480, 480, 14, depthwise=True),
        conv(5, 240, 240, 28, depthwise=True),
        conv(5, 672, 672, 14, depthwise=True),
    ]


@dataclass(frozen=True)
class Input:
    """An input's name, its type as NumPy names it, its shape, and the address of its file."""

    name: str
    type: str
    shape: tuple[int, ...]
    file: str


@dataclass(frozen=True)
class Files:
    """A prepared case: the address of its file on the bench's server, its inputs, and the answer of
    onnxruntime on this machine's CPU: its output, or all outputs as one vector."""

    model: str
    inputs: tuple[Input, ...]
    answer: Numbers

    def for_page(self) -> dict[str, Any]:
        """The information for the page."""
        return {"model": self.model, "inputs": [asdict(each) for each in self.inputs]}


def prepare(case: Case) -> Files:
    """Makes a case's missing files, in build/bench. Raises BuildError."""
    MADE.mkdir(parents=True, exist_ok=True)
    if case.make:
        _write(case, case.make)
    elif not case.model.is_file():
        why, remedy = f"{shown(case.model)} is missing", "run `python3 build.py build`"
        raise BuildError(f"Preparing {case.name}", why, remedy)
    session = onnxruntime.InferenceSession(case.model, providers=["CPUExecutionProvider"])
    values = case.inputs() if case.inputs else _random(case, session)
    inputs = []
    for number, (name, each) in enumerate(values.items()):
        file = MADE / f"{case.name}.{number}.input"
        file.write_bytes(each.tobytes())
        inputs.append(Input(name, each.dtype.name, each.shape, f"made/{file.name}"))
    served = {True: ("made", MADE), False: ("web", DIST)}
    address, folder = served[case.make is not None]
    model = f"{address}/{case.model.relative_to(folder).as_posix()}"
    outputs = session.run(None, values)
    answer = outputs[0].astype(np.float32) if len(outputs) == 1 else joined(outputs)
    return Files(model, tuple(inputs), answer)


def _random(case: Case, session: onnxruntime.InferenceSession) -> dict[str, NDArray[Any]]:
    (wanted,) = session.get_inputs()
    shape = tuple(length if isinstance(length, int) else 1 for length in wanted.shape)
    random = np.random.default_rng(zlib.crc32(case.name.encode()))
    return {wanted.name: random.standard_normal(shape, dtype=np.float32)}


def _write(case: Case, make: Callable[[], bytes]) -> None:
    stamp = Stamp(f"bench-{case.name}")
    sources = (Path(networks.__file__), Path(quantised.__file__))
    inputs = digest(*sources, json.dumps([onnx.__version__, np.__version__, case.links]))
    if stamp.fresh(inputs):
        return
    stamp.clear()
    aside = case.model.with_suffix(".new")
    aside.write_bytes(make())
    aside.replace(case.model)
    stamp.write(inputs, [case.model])
