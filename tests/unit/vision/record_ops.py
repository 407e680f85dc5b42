"""Records what torchvision gives for the operators, where it is installed:

    python tests/unit/vision/record_ops.py

The project itself does not need it: what it gave stands in ops.npz.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "ops.npz"


def main() -> None:
    import sys

    sys.path.insert(0, str(Path(__file__).parent))
    import torch  # type: ignore[import-not-found]
    import torchvision.ops  # type: ignore[import-not-found]
    from op_cases import CASES, DATA, DIFFERENTIATED  # type: ignore[import-not-found]
    from record_transforms import store  # type: ignore[import-not-found]

    found: dict[str, Any] = {}
    for name, case in CASES.items():
        tensors = [torch.tensor(DATA[each]) for each in case.tensors]
        wanted = []
        for each, x in zip(case.tensors, tensors, strict=True):
            if case.gradients and each in DIFFERENTIATED:
                wanted.append((each, x.requires_grad_()))
        options = dict(case.options)
        if case.function == "deform_conv2d":
            options["mask"] = tensors.pop()
        result = getattr(torchvision.ops, case.function)(*tensors, **options)
        found[f"{name}/value"] = result.detach().numpy()
        if wanted:
            weights = torch.arange(result.numel()).reshape(result.shape) % 7 - 2.5
            (result * weights).sum().backward()
            for each, x in wanted:
                found[f"{name}/{each}"] = x.grad.numpy()
    store({key: np.asarray(value) for key, value in found.items()}, RECORDED)


if __name__ == "__main__":
    main()
