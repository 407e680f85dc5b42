"""The programs of scripts/: whole scripts as their authors would write them for PyTorch.

Each prints what it learns. What must agree with PyTorch are the numbers behind the word "loss";
the output of those in `PRINTED` has to be the same to the letter.
"""

from __future__ import annotations

import re
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
RECORDED = Path(__file__).parent / "recorded.json"

# By name, "images/mnist".
PROGRAMS = {
    path.relative_to(SCRIPTS).with_suffix("").as_posix(): path
    for path in sorted(SCRIPTS.glob("*/*.py"))
}

# How far a loss may be from PyTorch's, relative to it, and from a loss that is all but zero.
TOLERANCE = 1e-3
NEAR_ZERO = 1e-5

# The programs whose losses may be further away, and why: none so far.
LOOSER: dict[str, tuple[float, str]] = {}

# The programs that print tensors, shapes, modules and types.
PRINTED = (
    "models/print_modules",
    "models/print_shapes",
    "models/print_tensors",
    "models/print_types",
)

# The programs that run in browsers too, on WebAssembly: some of each kind.
BROWSERS = (
    "agents/dqn",
    "agents/reinforce",
    "by_hand/gaussian_process",
    "by_hand/pinn",
    "by_hand/own_optimizer",
    "generative/vae",
    "generative/wgan_gp",
    "graphs/gat",
    "images/mnist",
    "models/containers",
    "models/print_tensors",
    "old_style/variables",
    "sequences/lstm_tagger",
    "sequences/packed_sentiment",
    "sequences/selective_scan",
    "transformers/char_gpt",
    "transformers/vit",
)

# Of these, one of each kind runs on WebGPU too, which takes five times as long to compile them.
ON_WEBGPU = (
    "agents/reinforce",
    "by_hand/pinn",
    "generative/wgan_gp",
    "graphs/gat",
    "images/mnist",
    "models/containers",
    "old_style/variables",
    "sequences/packed_sentiment",
    "transformers/vit",
)

_LOSS = re.compile(r"loss[ :=]+([-+]?(?:nan|inf|\d+(?:\.\d+)?(?:e[-+]?\d+)?))", re.IGNORECASE)


def losses(output: str) -> list[float]:
    """Every number that follows the word "loss"."""
    return [float(found) for found in _LOSS.findall(output)]


def tolerance(name: str) -> float:
    """How far this program's losses may be from PyTorch's."""
    return LOOSER[name][0] if name in LOOSER else TOLERANCE
