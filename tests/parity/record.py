"""Records what PyTorch gives for the cases, where PyTorch is installed:

    python -m tests.parity.record [FAMILY ...]

The project itself does not need PyTorch: what it gave stands in recorded/, a file per family, which
is a file of cases/. An array is named CASE/ARRAY; the case says what its arrays are.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from .cases import CASES, FAMILIES

RECORDED = Path(__file__).parent / "recorded"


def main(families: list[str]) -> None:
    import torch  # type: ignore[import-not-found]

    RECORDED.mkdir(exist_ok=True)
    for family in families or FAMILIES:
        found = {
            f"{name}/{key}": value
            for name in FAMILIES[family]
            for key, value in CASES[name].answers(torch).items()
        }
        np.savez_compressed(RECORDED / f"{family}.npz", **found)
        print(f"{family}: {len(FAMILIES[family])} cases of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main(sys.argv[1:])
