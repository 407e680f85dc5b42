"""Matrix products, sums of products, determinants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..... import functions as f
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor
from ...call import Call
from ...registry import host_operator, operator, plain

if TYPE_CHECKING:
    from .....arrays import Array, NumPy


plain("MatMul", f.matmul, 2)


@operator("Gemm")
def gemm(call: Call, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """alpha * A @ B + beta * C, with A and B transposed by the flags transA and transB."""
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


@operator("Einsum", since=12)
def _einsum(call: Call, x: Tensor, *others: Tensor) -> Tensor:
    return f.einsum(call.get("equation", str), x, *others)


_MAX_ELIMINATED = 24
"""The most rows that the graph eliminates, at about twelve nodes per row."""


@operator("Det", since=11)
def _det(call: Call, x: Tensor) -> Tensor:
    if x.ndim > 1 and x.shape[-1] > _MAX_ELIMINATED:
        raise OnnxUnsupportedError(f"matrices of more than {_MAX_ELIMINATED} rows: {x.shape}")
    return f.det(x)


@host_operator("Det", since=11)
def _det_on_host(call: Call, np: NumPy, x: Array) -> Array:
    wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
    return np.asarray(np.linalg.det(wide)).astype(x.dtype)
