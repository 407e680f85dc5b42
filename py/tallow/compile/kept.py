"""A compiled graph as one text, with a buffer for each weight beside it: for whoever keeps plans.

The text is strict JSON:

    plan     what a GPU's runner takes (plan.py), without host operations
    host     what NumPy takes: a text of its own, JSON in which numbers need not be finite
    coded    the types of the inputs and outputs that travel as words, by name
    weights  for each: its offset, element type and shape, and the bytes that lie in its buffer
    facts    whatever else the keeper wants back
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..dtype import BY_NAME
from ..errors import PlanError
from ..hostarray import HostArray
from . import Compiled, uploaded
from .plan import VERSION, Plan


def keep(compiled: Compiled, facts: Mapping[str, Any]) -> str:
    """The text; `buffer` gives the weights."""
    plan = compiled.plan
    host = json.loads(plan.to_json())
    steps = {name: [step["host"] for step in host[name]] for name in ("prepare", "run")}
    weights = [
        [offset, data.dtype.name, list(data.shape), _size(data, plan.device)]
        for offset, data in compiled.weights
    ]
    told = {
        "plan": json.loads(plan.to_json(host=False)),
        "host": json.dumps(steps, separators=(",", ":")),
        "coded": {name: dtype.name for name, dtype in compiled.coded.items()},
        "weights": weights,
        "facts": dict(facts),
    }
    return json.dumps(told, separators=(",", ":"), allow_nan=False)


def _size(data: HostArray, device: str) -> int:
    words = device == "webgpu" and data.dtype.kind == "b"
    return 4 * data.size if words else data.nbytes


def buffer(compiled: Compiled, number: int) -> Any:
    """The bytes of a weight as the plan's device has them in memory, or the part of a file that
    brings them (arriving.py). Raises IndexError."""
    _, data = compiled.weights[number]
    return uploaded(data) if compiled.plan.device == "webgpu" else data.data


def restore(
    text: str, weights: Sequence[memoryview] = (), loaded: Any = None
) -> tuple[Compiled, dict[str, Any]]:
    """What was kept, and the facts.

    weights: the buffers, of a plan for NumPy. loaded: what the GPU has of a plan for it, where the
    weights are by then. Raises PlanError for what `keep` has not written.
    """
    try:
        told = json.loads(text)
        raw, host = told["plan"], json.loads(told["host"])
        if raw["version"] != VERSION:
            raise PlanError(f"a plan of version {raw['version']}, and not {VERSION}")
        for name in ("prepare", "run"):
            for step, ops in zip(raw[name], host[name], strict=True):
                step["host"] = ops
        constants = []
        if loaded is None:
            for (offset, dtype, shape, _), data in zip(told["weights"], weights, strict=True):
                constants.append((offset, HostArray(data, tuple(shape), BY_NAME[dtype])))
        coded = {name: BY_NAME[dtype] for name, dtype in told["coded"].items()}
        return Compiled(Plan.from_raw(raw), constants, coded, loaded), dict(told["facts"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlanError(f"this is no plan that was kept: {error!r}") from error
