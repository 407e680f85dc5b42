"""Mixed precision beside torch.autocast on a CPU: values, gradients, and whether a result is
float16. PyTorch's tables for CPU and CUDA agree about what is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import case, classes, drawn

LABELS = classes("autocast labels", (6,), 5)
SIGNS = np.where(drawn("autocast signs", (6, 5)) > 0, 1, -1).astype(np.float32)
ROUNDED = {"rtol": 2e-3, "atol": 2e-3}


def _case(name: str, function: Callable[..., Any], *inputs: Any, **options: Any) -> None:
    """function(t, *tensors), within autocast. Beside its result is 1 if that is float16."""

    def build(t: Any) -> Any:
        def run(*tensors: Any) -> Any:
            with t.amp.autocast("cpu", dtype=t.float16):
                y = function(t, *tensors)
            return y.float(), t.tensor(float(y.dtype == t.float16))

        return run

    case(f"autocast {name}", build, *inputs, **{**ROUNDED, **options})


def _nn(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    return lambda t, *tensors: getattr(t.nn.functional, name)(*tensors, *args, **kwargs)


def _after_linear(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of what linear gives, which is float16."""
    return lambda t, x, w, *rest: function(t, t.nn.functional.linear(x, w), *rest)


# ---- products ---------------------------------------------------------------------------------

_case("matmul", lambda t, a, b: a @ b, (6, 4), (4, 5))
_case("matmul of a vector", lambda t, a, b: t.matmul(a, b), (6, 4), (4,))
_case("matmul in batches", lambda t, a, b: t.matmul(a, b), (3, 6, 4), (3, 4, 5))
_case("linear", _nn("linear"), (6, 4), (5, 4), (5,))
_case("two linear", _after_linear(lambda t, x, w: t.tanh(x) @ w), (6, 4), (5, 4), (5, 3))
_case("conv1d", _nn("conv1d", padding=1), (2, 3, 8), (4, 3, 3), (4,))
_case("conv2d", _nn("conv2d", stride=2), (2, 3, 8, 8), (4, 3, 3, 3), (4,))
_case("conv3d", _nn("conv3d"), (1, 2, 4, 4, 4), (3, 2, 2, 2, 2), (3,))
_case("conv_transpose2d", _nn("conv_transpose2d", stride=2), (2, 3, 4, 4), (3, 4, 3, 3), (4,))

# ---- what is float32 --------------------------------------------------------------------------

ROWS = ((6, 4), (5, 4))
_case("mse_loss", _after_linear(_nn("mse_loss")), *ROWS, (6, 5))
_case("l1_loss", _after_linear(_nn("l1_loss")), *ROWS, (6, 5))
_case("smooth_l1_loss", _after_linear(_nn("smooth_l1_loss")), *ROWS, (6, 5))
_case("huber_loss", _after_linear(_nn("huber_loss")), *ROWS, (6, 5))
_case("cross_entropy", _after_linear(_nn("cross_entropy")), *ROWS, LABELS)
_case("kl_div", _after_linear(_nn("kl_div", log_target=True)), *ROWS, (6, 5))
_case("soft_margin_loss", _after_linear(_nn("soft_margin_loss")), *ROWS, SIGNS, constant=(2,))
_case("hinge_embedding_loss", _after_linear(_nn("hinge_embedding_loss")), *ROWS, SIGNS,
      constant=(2,))  # fmt: skip
_case("binary_cross_entropy_with_logits",
      _after_linear(_nn("binary_cross_entropy_with_logits")), *ROWS, abs(SIGNS),
      constant=(2,))  # fmt: skip
_case("prod", _after_linear(lambda t, x: t.prod(x)), (1, 4), (3, 4))

# ---- the widest type --------------------------------------------------------------------------

_case("float16 stays", _after_linear(lambda t, x: t.tanh(x) * t.nn.functional.relu(x) + 1.0), *ROWS)
_case("float16 plus float32", _after_linear(lambda t, x, y: x + y), *ROWS, (6, 5))
_case("concatenation", _after_linear(lambda t, x, y: t.cat([x, y])), *ROWS, (2, 5))
_case("mean", _after_linear(lambda t, x: t.mean(x)), *ROWS)


def _outside(t: Any, x: Any, w: Any) -> Any:
    y = x @ w
    with t.amp.autocast("cpu", dtype=t.float16, enabled=False):
        return y.float() @ w.t()


_case("enabled=False within", _outside, (6, 4), (4, 5))
