"""Records what PyTorch's distributions give for the cases, where PyTorch is installed:

    python -m tests.unit.distributions.record

The project itself does not need PyTorch: what it gave stands in recorded.npz.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .cases import CASES, MATRICES, NUMBERS, PAIRED, asked, shares_for

RECORDED = Path(__file__).parent / "recorded.npz"


def main() -> None:
    import torch  # type: ignore[import-not-found]

    d, found = torch.distributions, {}

    def made(value: object) -> object:
        return torch.tensor(np.asarray(value, np.float32))

    for name, (build, values) in {**CASES, **MATRICES}.items():
        one = build(d, made)
        given = torch.tensor(np.asarray(values))
        given = given.float() if given.is_floating_point() else given
        found[f"{name}/log_prob"] = one.log_prob(given).numpy()
        for asks in NUMBERS:
            try:
                result = asked(one, asks, given, torch.tensor(shares_for(one)))
            except (NotImplementedError, ValueError, AttributeError):
                continue
            found[f"{name}/{asks}"] = result.detach().numpy()
    for name, (first, _) in PAIRED.items():
        for other, (_, second) in PAIRED.items():
            try:
                result = d.kl_divergence(first(d, made), second(d, made))
            except (NotImplementedError, RuntimeError):
                continue
            found[f"{name} from {other}"] = result.detach().numpy()
    np.savez_compressed(RECORDED, **found)
    print(f"{len(found)} arrays of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
