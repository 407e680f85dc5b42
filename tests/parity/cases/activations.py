"""Activations, as functions and as modules."""

from __future__ import annotations

from typing import Any

from ..case import case

for name in (
    "relu", "relu6", "hardtanh", "leaky_relu", "elu", "selu", "celu", "gelu", "sigmoid",
    "logsigmoid", "hardsigmoid", "silu", "mish", "hardswish", "softplus", "softsign", "softshrink",
    "hardshrink", "tanhshrink", "tanh",
):  # fmt: skip
    case(f"F.{name}", lambda t, name=name: getattr(t.nn.functional, name), (3, 7))

for name in (
    "ReLU", "ReLU6", "Hardtanh", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "Sigmoid",
    "LogSigmoid", "Hardsigmoid", "SiLU", "Mish", "Hardswish", "Softplus", "Softsign", "Softshrink",
    "Hardshrink", "Tanhshrink", "Tanh", "GLU", "PReLU", "Softmax2d",
):  # fmt: skip
    case(f"nn.{name}", lambda t, name=name: getattr(t.nn, name)(), (2, 4, 3, 2))

case("nn.RReLU-eval", lambda t: t.nn.RReLU(), (3, 4), mode="eval")
case("nn.PReLU-channels", lambda t: t.nn.PReLU(4), (2, 4, 3))
case("nn.LeakyReLU-slope", lambda t: t.nn.LeakyReLU(0.3), (3, 4))
case("nn.Hardtanh-range", lambda t: t.nn.Hardtanh(-0.3, 0.4), (3, 4))
case("nn.ELU-alpha", lambda t: t.nn.ELU(0.5), (3, 4))
case("nn.CELU-alpha", lambda t: t.nn.CELU(0.5), (3, 4))
case("nn.GELU-tanh", lambda t: t.nn.GELU(approximate="tanh"), (3, 4))
case("nn.Softplus-beta", lambda t: t.nn.Softplus(beta=2.0), (3, 4))
case("nn.Softshrink-lambd", lambda t: t.nn.Softshrink(0.2), (3, 4))
case("nn.Hardshrink-lambd", lambda t: t.nn.Hardshrink(0.2), (3, 4))
case("nn.Threshold", lambda t: t.nn.Threshold(0.1, 20.0), (3, 4))
for name in ("Softmax", "LogSoftmax", "Softmin"):
    for dim in (0, 1, -1):
        case(f"nn.{name}-{dim}", lambda t, n=name, d=dim: getattr(t.nn, n)(dim=d), (3, 4, 5))
case("F.softmax-dim", lambda t: lambda x: t.nn.functional.softmax(x, dim=0), (3, 4))
case("F.log_softmax-dim", lambda t: lambda x: t.nn.functional.log_softmax(x, dim=1), (3, 4))
case("F.glu-dim", lambda t: lambda x: t.nn.functional.glu(x, dim=0), (4, 3))


def _in_place(name: str) -> Any:
    """The result, and the tensor that was changed. (PyTorch's mish has no right gradient so.)"""

    def build(t: Any) -> Any:
        def run(x: Any) -> Any:
            changed = x * 2.0
            result = getattr(t.nn.functional, name)(input=changed, inplace=True)
            return result, changed

        return run

    return build


for name in ("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "silu", "hardtanh",
             "hardswish", "hardsigmoid"):  # fmt: skip
    case(f"F.{name}-in-place", _in_place(name), (3, 5))
case("F.softmax-dtype", lambda t: lambda x: t.nn.functional.softmax(
    input=x.half(), dim=1, dtype=t.float32), (3, 5))  # fmt: skip
