"""Functions composed of ops."""

from __future__ import annotations

import numpy as np

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name

from .case import case, normal
from .elementwise import exact_erf, far


def softmax_reference(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


case("softmax", normal(3, 10, scale=4), F.softmax, softmax_reference, rtol=1e-4)
case("softmax-axis1", normal(2, 5, 3), lambda x: F.softmax(x, 1),
     lambda x: softmax_reference(x, 1), rtol=1e-4)  # fmt: skip
case("softmax-pooled", normal(1, 12, 5, 5),
     lambda x: F.softmax(tl.reshape(F.global_avg_pool(x) * 3.0, (-1,))),
     lambda x: softmax_reference(x.mean((2, 3)).ravel() * 3), rtol=1e-4)  # fmt: skip
case("softmax-large", np.array([[1e4, 0, -1e4, 9999]], np.float32), F.softmax, softmax_reference)
case("log_softmax", normal(3, 12, scale=4), F.log_softmax,
     lambda x: np.log(softmax_reference(x)), rtol=1e-4, atol=1e-5)  # fmt: skip
case("gelu", normal(5, 8), F.gelu,
     lambda x: x * (1 + exact_erf(x / np.sqrt(2))) / 2, rtol=1e-4, atol=1e-5)  # fmt: skip
case("gelu-tanh", normal(33), lambda x: F.gelu(x, "tanh"),
     lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
     rtol=1e-4, atol=1e-5)  # fmt: skip
case("sigmoid", far, F.sigmoid, lambda x: 1 / (1 + np.exp(-x.astype(np.float64))), atol=1e-6)
case("silu", normal(9), F.silu, lambda x: x / (1 + np.exp(-x)), rtol=1e-4)
case("softplus", far, F.softplus, lambda x: np.logaddexp(0, x), rtol=1e-4, atol=1e-5)
case("elu", normal(9), F.elu, lambda x: np.where(x > 0, x, np.expm1(x)), atol=1e-5)
case("leaky_relu", normal(9), F.leaky_relu, lambda x: np.where(x >= 0, x, np.float32(0.01) * x))
case("hardswish", normal(9, scale=4), F.hardswish,
     lambda x: x * np.clip(x / 6 + 0.5, 0, 1), rtol=1e-4, atol=1e-5)  # fmt: skip
case("layer_norm", (normal(4, 16), normal(16), normal(16)),
     lambda x, w, b: F.layer_norm(x, (16,), w, b),
     lambda x, w, b: (x - x.mean(-1, keepdims=True))
     / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b, rtol=1e-3, atol=1e-4)  # fmt: skip


def lrn_reference(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64) ** 2, [(0, 0), (2, 2), (0, 0), (0, 0)])
    total = sum(padded[:, i : i + x.shape[1]] for i in range(5))
    return x / (1.0 + 1e-2 / 5 * total) ** 0.75


case("local_response_norm", normal(1, 7, 3, 3, scale=3),
     lambda x: F.local_response_norm(x, 5, 1e-2), lrn_reference, rtol=1e-4)  # fmt: skip


def attention_reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax_reference(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


case("attention", (normal(2, 3, 5, 8), normal(2, 3, 7, 8), normal(2, 3, 7, 8)),
     F.scaled_dot_product_attention, attention_reference, rtol=1e-3, atol=1e-4)  # fmt: skip
