"""Writes trackers.json: the arguments of the functions of MLflow and Weights & Biases that
callbacks call. Run it where both are installed (mlflow-skinny is enough), which tests do not need:

    python tests/unit/train/record_trackers.py
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

CALLED = {
    "mlflow": "set_tracking_uri set_experiment start_run log_params log_metrics end_run",
    "wandb": "init Run.log Run.finish",
}


def arguments(function: Callable[..., Any]) -> list[list[Any]]:
    """[name, kind, whether it may be left out] of each."""
    found = inspect.signature(function).parameters.values()
    return [[p.name, p.kind.name, p.default is not p.empty] for p in found]


def main() -> None:
    from importlib import import_module

    recorded: dict[str, Any] = {}
    for name, called in CALLED.items():
        module = import_module(name)
        recorded[name] = {"version": module.__version__}
        for each in called.split():
            found: Any = module
            for part in each.split("."):
                found = getattr(found, part)
            recorded[name][each] = arguments(found)
    path = Path(__file__).with_name("trackers.json")
    lines = json.dumps(recorded, indent=None, separators=(", ", ": "))
    path.write_text(lines.replace("}, ", "},\n").replace("]], ", "]],\n") + "\n", "utf-8")


if __name__ == "__main__":
    main()
