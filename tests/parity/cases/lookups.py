"""Embeddings, bilinear layers, and dropout that does nothing."""

from __future__ import annotations

from ..case import case, classes

tokens = classes("tokens", (2, 6), 7)
case("nn.Embedding", lambda t: t.nn.Embedding(7, 4), tokens)
case("nn.Embedding-padding", lambda t: t.nn.Embedding(7, 4, padding_idx=2), tokens)
case("nn.Bilinear", lambda t: t.nn.Bilinear(3, 4, 5), (2, 3), (2, 4))
case("nn.Bilinear-no-bias", lambda t: t.nn.Bilinear(3, 4, 5, bias=False), (2, 6, 3), (2, 6, 4))
for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
    shape = {"Dropout": (3, 4), "Dropout1d": (2, 3, 4)}.get(name, (2, 3, 4, 4, 2))
    shape = shape[:4] if name == "Dropout2d" else shape
    case(f"nn.{name}-eval", lambda t, n=name: getattr(t.nn, n)(0.3), shape, mode="eval")
