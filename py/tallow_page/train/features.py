"""What a network for photographs knows of a picture: the input of its last layer, some numbers.

A head on these learns from ten pictures of a class, where a whole network needs thousands.
"""

from __future__ import annotations

import json
from typing import Any

from tallow.errors import DataError, OptionError
from tallow.functions import reshape
from tallow.graph import Graph
from tallow.ops.contract import matmul
from tallow.runtime.device import backend
from tallow.runtime.session import Session
from tallow.tensor import Tensor

from ..app import Fetch, loaded_session, on_start, with_graph
from ..javascript import view

__all__ = [
    "SIDE", "THUMB", "Features", "close_features", "features_graph", "opened_features",
    "thumbnail",
]  # fmt: skip

SIDE = 224
"""Pixels of a picture's side, as EfficientNet-Lite0 takes it."""
THUMB = 56
"""Pixels of the side of what is shown of a picture."""


def features_graph(graph: Graph) -> Graph:
    """The part of a network before its last matrix product, float32 (features,).

    Raises OptionError for a network that ends without one.
    """
    products = [node for node in graph.nodes() if node.op is matmul]
    if not products:
        raise OptionError(f"{graph.name} has no last layer whose input could be taken")
    features = reshape(Tensor(products[-1].inputs[0]), (-1,))
    return Graph(graph.inputs, {"features": features.node}, f"{graph.name}'s features")


class Features:
    """A network for photographs without its last layer, on the device in use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        (output,) = session.plan.outputs
        (self.size,) = output.shape
        """How many numbers it gives for a picture."""

    async def of(self, pixels: Any) -> bytes:
        """The features of a picture, `size` numbers, float32.

        pixels: RGBA bytes, SIDE x SIDE, a JavaScript typed array or any buffer. Raises DataError
        for another number of bytes.
        """
        given = view(pixels)
        (port,) = self._session.plan.inputs
        wanted = 4 * port.shape[0] * port.shape[1]
        if given.nbytes != wanted:
            raise DataError(f"a picture of {given.nbytes:,} bytes; the network takes {wanted:,}")
        (found,) = await self._session.run_ordered([given])
        return bytes(found.data.cast("B"))

    def close(self) -> None:
        """Frees the network."""
        self._session.close()


_open: Features | None = None


def close_features() -> None:
    """Frees the network, if it is open."""
    global _open
    if _open is not None:
        _open.close()
    _open = None


on_start.append(close_features)


async def opened_features(card: str, fetch: Fetch) -> Features:
    """The network on the device in use; one that is open already is used again.

    card: of the model, JSON. fetch: returns its files. Raises OnnxError for a file that cannot be
    used, DeviceError if the device cannot run the network.
    """
    global _open
    if _open is None:
        used = backend()

        async def load(graph: Graph, *_: Any) -> Features:
            return Features((await loaded_session(features_graph(graph), used)).session)

        _open = await with_graph(json.loads(card), fetch, load)
    return _open


def thumbnail(pixels: Any) -> bytes:
    """A picture of SIDE x SIDE pixels, RGBA, as planes of THUMB x THUMB, red, green and blue: one
    pixel of each square."""
    data, step = view(pixels), SIDE // THUMB
    rows = [data[4 * SIDE * y : 4 * SIDE * (y + 1)] for y in range(step // 2, SIDE, step)]
    first = 4 * (step // 2)
    return b"".join(bytes(row[first + channel :: 4 * step]) for channel in range(3) for row in rows)
