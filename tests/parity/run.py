"""Runs a Call with Tallow, on a device, and compares it with what PyTorch gave."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np

import tallow as tl
from tallow.core import context

from .case import Call, flat, value_of, weights


@cache
def recorded(family: str) -> dict[str, dict[str, np.ndarray]]:
    """What PyTorch gave for each case of a family."""
    found: dict[str, dict[str, np.ndarray]] = {}
    path = files(__package__) / "recorded" / f"{family}.npz"  # within an archive, too
    with path.open("rb") as content, np.load(content) as file:
        for key in file.files:
            name, _, what = key.partition("/")
            found.setdefault(name, {})[what] = file[key]
    return found


async def differences(case: Call, expected: Mapping[str, np.ndarray], device: str) -> list[str]:
    """What differs, a line each. The case is given `tallow.torch`, within PyTorch's habits."""
    with context.pytorch.override(True):
        return await _differences(case, expected, device)


async def _differences(case: Call, expected: Mapping[str, np.ndarray], device: str) -> list[str]:
    import tallow.torch

    tl.set_default_device(device)
    tl.manual_seed(0)
    built = case.build(tallow.torch)
    inputs = [tl.asarray(x, requires_grad=case.gradients and x.dtype.kind == "f"
                         and number not in case.constant)
              for number, x in enumerate(case.inputs)]  # fmt: skip
    is_module = isinstance(built, tl.nn.Module)
    got: dict[str, tl.Tensor] = {}
    if is_module:
        built.train(case.mode == "train")
        state = {
            key[6:]: value_of(key[6:], value)
            for key, value in expected.items()
            if key.startswith("state ")
        }
        shapes = {name: value.shape for name, value in built.state_dict().items()}
        if shapes != {name: value.shape for name, value in state.items()}:
            return [f"state_dict: {shapes}"]
        start = {k: v for k, v in state.items() if v.dtype.kind == "f"}
        built.load_state_dict(start, strict=False)
    outputs = flat(built(*inputs))
    got |= {f"output {number}": x for number, x in enumerate(outputs)}
    floating = [x for x in outputs if x.dtype.is_floating]
    if case.gradients and floating:
        total = sum(
            (tl.sum(x * tl.asarray(weights(n, x.shape))) for n, x in enumerate(floating)),
            tl.asarray(0.0),
        )
        if total.requires_grad:
            total.backward()
        for number, x in enumerate(inputs):
            if x.grad is not None:
                got[f"input {number} grad"] = x.grad
        if is_module:
            got |= {
                f"grad {name}": p.grad for name, p in built.named_parameters() if p.grad is not None
            }
    if is_module:
        got |= {f"state {name}": value for name, value in built.state_dict().items()}
    found = [f"{name}: missing" for name in expected if name not in got]
    found += [f"{name}: PyTorch has none" for name in got if name not in expected]
    for name in expected:
        if name in got:
            wrong = difference(await got[name].numpy_async(), expected[name], case)
            found += [f"{name}: {wrong}"] if wrong else []
    return found


def difference(got: np.ndarray, expected: np.ndarray, case: Call) -> str:
    """What is wrong with an array; "" if nothing is."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, PyTorch {expected.shape}"
    if got.dtype != expected.dtype:
        return f"type {got.dtype}, PyTorch {expected.dtype}"
    finite = np.abs(expected[np.isfinite(expected)]) if expected.dtype.kind == "f" else expected
    size = max(1.0, float(np.max(finite, initial=0)))
    if np.allclose(got, expected, case.rtol, case.atol * size, equal_nan=True):
        return ""
    return f"{got.ravel()[:6]}, PyTorch {expected.ravel()[:6]}"
