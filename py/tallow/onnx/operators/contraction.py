"""Matrix products."""

from __future__ import annotations

from ... import functions as f
from ...errors import OnnxFormatError
from ...tensor import Tensor
from ..call import Call
from ..registry import operator, plain

plain("MatMul", f.matmul, 2)


@operator("Gemm")
def gemm(call: Call, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """alpha * A @ B + beta * C, A and B transposed where said."""
    if a.ndim != 2 or b.ndim != 2:
        raise OnnxFormatError(f"A {a.shape} and B {b.shape} must be matrices")
    alpha, beta = call.get("alpha", float, 1.0), call.get("beta", float, 1.0)
    left = a.mT if call.flag("transA") else a
    right = b.mT if call.flag("transB") else b
    result = left @ right
    if alpha != 1:
        result = (result * alpha).astype(a.dtype)
    if c is None or beta == 0:
        return result
    if beta != 1:
        c = (c * beta).astype(a.dtype)
    return result + f.broadcast_to(c, result.shape)
