"""Embeddings, bilinear layers, and dropout that does nothing."""

from __future__ import annotations

import numpy as np

from ..case import case, classes, drawn

tokens = classes("tokens", (2, 6), 7)
case("nn.Embedding", lambda t: t.nn.Embedding(7, 4), tokens)
case("nn.Embedding-padding", lambda t: t.nn.Embedding(7, 4, padding_idx=2), tokens)
case("nn.Bilinear", lambda t: t.nn.Bilinear(3, 4, 5), (2, 3), (2, 4))
case("nn.Bilinear-no-bias", lambda t: t.nn.Bilinear(3, 4, 5, bias=False), (2, 6, 3), (2, 6, 4))
for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
    shape = {"Dropout": (3, 4), "Dropout1d": (2, 3, 4)}.get(name, (2, 3, 4, 4, 2))
    shape = shape[:4] if name == "Dropout2d" else shape
    case(f"nn.{name}-eval", lambda t, n=name: getattr(t.nn, n)(0.3), shape, mode="eval")
for name in ("AlphaDropout", "FeatureAlphaDropout"):
    case(f"nn.{name}-eval", lambda t, n=name: getattr(t.nn, n)(0.3), (2, 3, 4), mode="eval")
    case(f"nn.{name}-none", lambda t, n=name: getattr(t.nn, n)(0.0), (2, 3, 4))

case("nn.Embedding-max_norm", lambda t: t.nn.Embedding(7, 4, max_norm=0.7), tokens[:, :3])
case(
    "nn.Embedding-max_norm-1",
    lambda t: t.nn.Embedding(7, 4, padding_idx=1, max_norm=1.1, norm_type=1.0),
    tokens[:, :3],
)
case("nn.Embedding-frequency", lambda t: t.nn.Embedding(7, 4, scale_grad_by_freq=True), tokens)
table = drawn("table", (7, 4))
case(
    "nn.Embedding-pretrained",
    lambda t: t.nn.Embedding.from_pretrained(t.asarray(table), freeze=False),
    tokens,
)
line, offsets = classes("line", (9,), 7), np.array([0, 3, 3, 5])
for mode in ("sum", "mean", "max"):
    case(f"nn.EmbeddingBag-{mode}", lambda t, m=mode: t.nn.EmbeddingBag(7, 4, mode=m), tokens)
    case(
        f"nn.EmbeddingBag-{mode}-offsets",
        lambda t, m=mode: t.nn.EmbeddingBag(7, 4, mode=m),
        line,
        offsets,
    )
    case(
        f"nn.EmbeddingBag-{mode}-padding",
        lambda t, m=mode: t.nn.EmbeddingBag(7, 4, mode=m, padding_idx=int(tokens[0, 1])),
        tokens,
    )
case(
    "nn.EmbeddingBag-last",
    lambda t: t.nn.EmbeddingBag(7, 4, mode="sum", include_last_offset=True),
    line,
    np.array([0, 3, 9]),
)
case(
    "F.embedding_bag-weights",
    lambda t: lambda i, w, s: t.nn.functional.embedding_bag(i, w, mode="sum", per_sample_weights=s),
    tokens,
    (7, 4),
    (2, 6),
)
