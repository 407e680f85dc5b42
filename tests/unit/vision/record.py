"""Records what torchvision gives for the cases, and the names and shapes of all its networks, where
it is installed:

    python -m tests.unit.vision.record
    python -m tests.unit.vision.record resnet18

The second form shows in which names and shapes a network differs from torchvision's. The project
itself needs no torchvision: what it gave stands in recorded.json.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .cases import CASES, LARGE, OPTIONS, Case, images, numbers, weights

RECORDED = Path(__file__).parent / "recorded.json"


def lines(state: Mapping[str, Any]) -> list[str]:
    """A line for each name of a state, with its shape, in order."""
    return [f"{name} {tuple(value.shape)}" for name, value in state.items()]


def digest(state: Mapping[str, Any]) -> str:
    """What two states have in common only if their names, shapes and order agree."""
    return hashlib.sha256("\n".join(lines(state)).encode()).hexdigest()[:16]


def recorded() -> dict[str, Any]:
    """What the file has."""
    found: dict[str, Any] = json.loads(RECORDED.read_text())
    return found


def _rounded(values: Any, digits: int) -> list[Any]:
    found = values.tolist() if hasattr(values, "tolist") else values
    return [
        _rounded(each, digits) if isinstance(each, list) else float(f"{each:.{digits}g}")
        for each in found
    ]


def _of_torchvision(case: Case) -> dict[str, Any]:
    """In float64."""
    import torch  # type: ignore[import-not-found]
    import torchvision  # type: ignore[import-not-found]

    net = case.build(torchvision.models)
    state = net.state_dict()  # which also says its version
    shapes = {k: tuple(v.shape) for k, v in state.items() if v.is_floating_point()}
    state.update({name: torch.tensor(value) for name, value in weights(shapes).items()})
    net.load_state_dict(state)
    net.double().train(case.training)
    parameters = {name: p for name, p in net.named_parameters() if p.numel() <= LARGE}
    for name, parameter in net.named_parameters():
        parameter.requires_grad = name in parameters
    result = net(torch.tensor(images(case)).double())
    (result * torch.tensor(numbers("scores", tuple(result.shape)))).sum().backward()
    gradients = [
        (p.grad * torch.tensor(numbers(f"{name} gradient", tuple(p.shape)))).sum().item()
        for name, p in parameters.items()
        if p.grad is not None
    ]
    return {"outputs": _rounded(result.detach(), 6), "gradients": _rounded(gradients, 10)}


def _network(name: str, **options: Any) -> Any:
    import torch
    import torchvision

    if name.startswith("regnet"):  # which reads numbers while it is built
        return torchvision.models.get_model(name, weights=None)
    with torch.device("meta"):
        if name in ("googlenet", "inception_v3"):
            options["init_weights"] = False
        return torchvision.models.get_model(name, weights=None, **options)


def _all() -> dict[str, Any]:
    import torchvision

    from tallow.vision import models

    found = {}
    for name in models.list_models():
        net = _network(name)
        count = sum(p.numel() for p in net.parameters())
        found[name] = [digest(net.state_dict()), count]
    options = [digest(_network(name, **given).state_dict()) for name, given in OPTIONS]
    return {"torchvision": torchvision.__version__, "networks": found, "options": options}


def _difference(name: str) -> None:
    from tallow.vision import models

    ours = lines(models.get_model(name).state_dict(keep_vars=True))
    theirs = lines(_network(name).state_dict())
    print("\n".join(difflib.unified_diff(theirs, ours, "torchvision", "tallow", lineterm="", n=1)))


def main() -> None:
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            _difference(name)
        return
    found = _all() | {"cases": {name: _of_torchvision(case) for name, case in CASES.items()}}
    text = ",\n".join(f"{json.dumps(key)}: {_text(value)}" for key, value in found.items())
    RECORDED.write_text(f"{{\n{text}\n}}\n")
    print(f"{len(found['networks'])} networks, {RECORDED.stat().st_size} bytes")


def _text(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    rows = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
    return "{\n" + ",\n".join(rows) + "\n}"


if __name__ == "__main__":
    main()
