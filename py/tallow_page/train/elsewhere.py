"""A trained network as a model for Draw or Classify: an ONNX file that takes what those views give
their models, and returns a logit for each class. It includes what stands before the network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tallow import onnx
from tallow.core.streamed_weights import StreamedFile
from tallow.errors import OptionError
from tallow.functions import reshape
from tallow.graph import Graph
from tallow.tensor import Tensor

from .. import javascript
from ..app import Fetch
from .features import features_graph
from .learning import Lesson, lesson
from .takeaway import file_of, settled

if TYPE_CHECKING:
    from ..contract.train import Trained

__all__ = ["model_facts", "model_file"]

_DRAWN = (1, 28, 28)
"""The shape of the pictures that the Draw view makes: web/prepare/digit.js."""


async def model_facts(run: str) -> str:
    """The steps that a run's network has learned for, and its classes: a `Trained`. Raises
    OptionError for a run that is not open."""
    held = lesson(run)
    facts: Trained = {"step": held.learner.steps, "classes": list(held.data.classes)}
    return json.dumps(facts)


async def model_file(run: str, card: str, fetch: Fetch) -> bytes:
    """The network of a run as an ONNX file that `app.load_model` takes. Its input is float32
    (1, 1, 28, 28) from 0 to 255, or a photograph as the network for photographs takes it; its
    output is float32 (1, classes), logits.

    card, fetch: of the network for photographs, from whose features a head learned; unused for
      drawn pictures. Raises OptionError for a run that is not open, and for a network that learned
      from anything else.
    """
    held = lesson(run)
    if held.data.kind == "features":
        return file_of(await _from_photographs(held, card, fetch))
    if (held.data.kind, held.data.shape) != ("pictures", _DRAWN):
        raise OptionError(
            f"the run {run!r} learned from {held.data.kind} of shape {held.data.shape}; Draw takes "
            f"pictures of shape {_DRAWN}, and Classify photographs"
        )
    model = await settled(held)

    def logits(image: Tensor) -> dict[str, Tensor]:
        return {"logits": model(image)}

    return file_of(logits, inputs={"image": ((1, *_DRAWN), "float32")})


async def _from_photographs(held: Lesson, card: str, fetch: Fetch) -> Graph:
    """The network for photographs with a run's head instead of its last layer."""
    files = await fetch()
    weights = StreamedFile(javascript.Source(files.weights))
    name = json.loads(card)["name"]
    content = javascript.copied(files.graph)
    found = features_graph(onnx.load(content, {f"{name}.onnx": weights}).graph())
    await weights.arrive()
    (features,) = found.outputs.values()
    model: Any = await settled(held)
    logits = model(reshape(Tensor(features), (1, -1)))
    return Graph(found.inputs, {"logits": logits.node}, held.data.name)
