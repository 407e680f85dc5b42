"""A compiled graph as one text, with a buffer for each weight beside it, to be stored.

The text is strict JSON:

    plan     what a GPU's runner takes (plan.py), without host operations
    host     what NumPy takes: a text of its own, JSON in which numbers need not be finite
    coded    the types of the inputs and outputs that travel as words, by name
    weights  for each: its offset, element type and shape, and the bytes in its buffer; for one
             that the caller has anyway: 0 bytes, and its number among those
    facts    whatever else the keeper wants back
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..core.dtype import BY_NAME
from ..core.hostarray import HostArray
from ..errors import PlanError
from . import TARGETS, Compiled
from .plan import VERSION, Plan

ALIGNED = 16  # bytes; web/worker/models/models.js knows it too


def keep(compiled: Compiled, facts: Mapping[str, Any], at_hand: Sequence[HostArray] = ()) -> str:
    """The text; `buffer` gives the weights.

    at_hand: arrays that `restore` will be given again, in this order: a model's constants, where
    its file is read another time. Weights that are such an array are not kept a second time.
    """
    plan = compiled.plan
    host = json.loads(plan.to_json())
    steps = {name: [step["host"] for step in host[name]] for name in ("prepare", "run")}
    # Passes may have given one another shape, but then copied nothing.
    indices = {id(data.data): index for index, data in enumerate(at_hand)}
    weights: list[list[Any]] = []
    for offset, data in compiled.weights:
        known = [offset, data.dtype.name, list(data.shape)]
        index = indices.get(id(data.data)) if at_hand else None
        if index is None:
            weights.append([*known, compiled.target.stored_size(data)])
        else:
            weights.append([*known, 0, index])
    stored = {
        "plan": json.loads(plan.to_json(host=False)),
        "host": json.dumps(steps, separators=(",", ":")),
        "coded": {name: dtype.name for name, dtype in compiled.coded.items()},
        "weights": weights,
        "facts": dict(facts),
    }
    return json.dumps(stored, separators=(",", ":"), allow_nan=False)


def buffer(compiled: Compiled, number: int) -> Any:
    """The bytes of a weight as the plan's device stores them, or the part of a file that brings
    them (core/streamed_weights.py). Raises IndexError."""
    return compiled.upload(compiled.weights[number][1])


def _split(whole: memoryview, sizes: Sequence[int]) -> list[memoryview]:
    ends = list(accumulate(-(-size // ALIGNED) * ALIGNED for size in sizes))
    starts = [0, *ends[:-1]]
    return [whole[start : start + size] for start, size in zip(starts, sizes, strict=True)]


def restore(
    text: str,
    weights: memoryview | Sequence[memoryview] = (),
    loaded: Any = None,
    at_hand: Sequence[HostArray] = (),
) -> tuple[Compiled, dict[str, Any]]:
    """What was kept, and the facts.

    weights: the buffers, or one with all of them, each at a multiple of `ALIGNED` bytes. loaded:
    what the GPU has of a plan for it, where the weights are by then.
    at_hand: the arrays that `keep` was given. Raises PlanError for what `keep` has not written.
    """
    try:
        stored = json.loads(text)
        raw, host = stored["plan"], json.loads(stored["host"])
        if raw["version"] != VERSION:
            raise PlanError(f"a plan of version {raw['version']}, and not {VERSION}")
        for name in ("prepare", "run"):
            for step, ops in zip(raw[name], host[name], strict=True):
                step["host"] = ops
        constants = []
        if loaded is None:
            if isinstance(weights, memoryview):
                weights = _split(weights, [size for _, _, _, size, *_ in stored["weights"]])
            for (offset, name, shape, _, *index), data in zip(
                stored["weights"], weights, strict=True
            ):
                dtype, dims = BY_NAME[name], tuple(shape)
                if index:
                    known = HostArray(at_hand[index[0]].data, dims, dtype)
                else:
                    known = TARGETS[raw["device"]].loaded(data, dims, dtype)
                constants.append((offset, known))
        coded = {name: BY_NAME[dtype] for name, dtype in stored["coded"].items()}
        return Compiled(Plan.from_raw(raw), constants, coded, loaded), dict(stored["facts"])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PlanError(f"this is not a stored plan: {error!r}") from error
