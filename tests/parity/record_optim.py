"""Records what PyTorch's optimisers and schedules give, where PyTorch is installed:

python -m tests.parity.record_optim
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .optim_problems import (
    CYCLES,
    LBFGS,
    LBFGS_STEPS,
    MUON,
    OPTIMISERS,
    PLATEAUS,
    PROBLEMS,
    RECORDED,
    RECORDED_AFTER,
    SCHEDULES,
    STEPS,
    Make,
    matrices,
    rates,
    rates_by_measure,
    two_groups,
)


def trajectory(t: Any, make: Make, problem: Any, steps: int, closure: bool) -> np.ndarray:
    """(steps, elements): all parameters after each of RECORDED_AFTER, or all steps of a closure."""
    starts, loss_of = problem(t)
    params = [t.nn.Parameter(t.tensor(x)) for x in starts]
    optimizer = make(t.optim, params)
    found = []

    def evaluated() -> Any:
        optimizer.zero_grad()
        loss = loss_of(params)
        loss.backward()
        return loss

    for step in range(1, steps + 1):
        if closure:
            optimizer.step(evaluated)
        else:
            evaluated()
            optimizer.step()
        if closure or step in RECORDED_AFTER:
            found.append(np.concatenate([p.detach().numpy().ravel() for p in params]))
    # What runs away multiplies every rounding, so that no two libraries agree.
    assert np.abs(found).max() < 50, f"{make} diverges: choose a smaller rate"
    return np.array(found)


def clipped(t: Any, norm: float, norm_type: float) -> np.ndarray:
    """The norm of the network's gradients, and the gradients afterwards."""
    starts, loss_of = PROBLEMS["network"](t)
    params = [t.nn.Parameter(t.tensor(x)) for x in starts]
    loss_of(params).backward()
    total = t.nn.utils.clip_grad_norm_(params, norm, norm_type)
    return np.concatenate([[float(total)], *(p.grad.numpy().ravel() for p in params)])


def main() -> None:
    import torch  # type: ignore[import-not-found]

    torch.set_num_threads(1)
    found: dict[str, np.ndarray] = {}
    for of, problem in PROBLEMS.items():
        for name, make in OPTIMISERS.items():
            found[f"{of}/{name}"] = trajectory(torch, make, problem, STEPS, False)
        for name, make in LBFGS.items():
            found[f"{of}/{name}"] = trajectory(torch, make, problem, LBFGS_STEPS, True)
    for name, make in MUON.items():
        found[f"matrices/{name}"] = trajectory(torch, make, matrices, STEPS, False)
    for optimiser in CYCLES:
        for name, schedule in SCHEDULES.items():
            optimizer = two_groups(torch, torch.optim, optimiser)
            scheduled = schedule(torch.optim.lr_scheduler, optimizer)
            found[f"schedule {optimiser}/{name}"] = rates(scheduled, optimizer)
    for name, schedule in PLATEAUS.items():
        optimizer = two_groups(torch, torch.optim, "SGD")
        scheduled = schedule(torch.optim.lr_scheduler, optimizer)
        found[f"plateau/{name}"] = rates_by_measure(scheduled, optimizer)
    for norm_type in (1.0, 2.0, 3.0, float("inf")):
        for norm in (0.1, 1e3):
            found[f"clip/{norm} {norm_type}"] = clipped(torch, norm, norm_type)
    np.savez_compressed(RECORDED, **found)
    print(f"{len(found)} arrays of PyTorch {torch.__version__}, {RECORDED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
