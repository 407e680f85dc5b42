"""Records what PyTorch gives for the cases, where PyTorch is installed:

    python -m tests.parity.record [FAMILY ...]

The project itself does not need PyTorch: what it gave stands in recorded/, a file per family.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from .case import Case, flat, value_of
from .cases import CASES, FAMILIES

RECORDED = Path(__file__).parent / "recorded"


def recorded(t: Any, case: Case) -> dict[str, np.ndarray]:
    """Outputs, gradients of inputs and parameters, and the state afterwards."""
    t.manual_seed(0)
    built = case.build(t)
    inputs = [t.tensor(x) for x in case.inputs]
    found: dict[str, np.ndarray] = {}
    is_module = isinstance(built, t.nn.Module)
    if is_module:
        built.train(case.mode == "train")
        state = {k: v.numpy() for k, v in built.state_dict().items()}
        built.load_state_dict({k: t.tensor(value_of(k, v)) for k, v in state.items()})
    if case.gradients:
        for number, x in enumerate(inputs):
            x.requires_grad_(x.is_floating_point() and number not in case.constant)
    outputs = flat(built(*inputs))
    for number, output in enumerate(outputs):
        found[f"output {number}"] = output.detach().numpy()
    floating = [x for x in outputs if x.is_floating_point()]
    if case.gradients and floating:
        total = sum(
            (x * t.tensor(weights(number, tuple(x.shape)))).sum()
            for number, x in enumerate(floating)
        )
        total.backward()
        for number, x in enumerate(inputs):
            if x.grad is not None:
                found[f"input {number} grad"] = x.grad.numpy()
        if is_module:
            for name, p in built.named_parameters():
                if p.grad is not None:
                    found[f"grad {name}"] = p.grad.numpy()
    if is_module:
        for name, value in built.state_dict().items():
            found[f"state {name}"] = value.numpy()
    return found


def weights(number: int, shape: tuple[int, ...]) -> np.ndarray:
    """What the elements of an output count in the loss."""
    rng = np.random.default_rng(number + 1)
    return rng.normal(size=shape).astype(np.float32)


def main(families: list[str]) -> None:
    import torch  # type: ignore[import-not-found]

    RECORDED.mkdir(exist_ok=True)
    for family in families or FAMILIES:
        found = {
            f"{name}/{key}": value
            for name in FAMILIES[family]
            for key, value in recorded(torch, CASES[name]).items()
        }
        np.savez_compressed(RECORDED / f"{family}.npz", **found)
        print(f"{family}: {len(FAMILIES[family])} cases of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main(sys.argv[1:])
