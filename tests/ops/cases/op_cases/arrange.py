"""Order, and elements that are written at indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tallow as tl

from .case import booleans, case, integers, normal

lone, anywhere = normal(3, 1, 4), np.zeros((3, 5, 2), np.int32)
case("take-of-lone", (lone, anywhere), lambda x, i: tl.take(x, i, 1), lambda x, i: x[:, i[...] * 0])
case(
    "take_along_axis-of-lone",
    (lone, anywhere),
    lambda x, i: tl.take_along_axis(x, i, 1),
    lambda x, i: np.take_along_axis(x[:, :, :2], i, 1),
)

tied = np.array([[3, 1, 3, 2, 1, 3], [0, -1, 0, 0, 2, 0]], np.float32)
for name, values in {"": tied, "-int32": integers(4, 50), "-bool": booleans(3, 9)}.items():
    case(f"argsort{name}", values, tl.argsort, lambda x: np.argsort(x, -1, kind="stable"))
case("argsort-axis", normal(5, 3), lambda x: tl.argsort(x, 0), lambda x: np.argsort(x, 0))
case(
    "argsort-descending",
    tied,
    lambda x: tl.argsort(x, descending=True, count=4),
    lambda x: np.argsort(-x, -1, kind="stable")[:, :4],
)
many = np.random.default_rng(5).integers(-40, 40, (2, 4100))  # sorted as blocks, then merged
for kind in ("float32", "uint32", "int64"):
    case(
        f"argsort-many-{kind}",
        many.astype(kind),
        tl.argsort,
        lambda x: np.argsort(x, -1, kind="stable"),
    )
case(
    "argsort-many-descending",
    many.astype(np.int32),
    lambda x: tl.argsort(x, descending=True, count=9),
    lambda x: np.argsort(-x, -1, kind="stable")[:, :9],
)
case("sort", normal(3, 4, 9), lambda x: tl.sort(x, 1), lambda x: np.sort(x, 1))


def scattered(name: str) -> Callable[..., np.ndarray]:
    def reference(x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = x.copy()
        for index, row in zip(indices, updates, strict=True):
            result[index] = row if name == "none" else JOINS[name](result[index], row)
        return result

    return reference


JOINS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
for name in ("none", *JOINS):
    for suffix, make_values in (("", normal), ("-int32", integers)):
        case(
            f"scatter-{name}{suffix}",
            (make_values(5, 3), np.array([4, 0, -1, 0, 2, 2], np.int32), make_values(6, 3)),
            lambda x, indices, updates, name=name: tl.scatter(x, indices, updates, name),
            scattered(name),
        )
    # So many rows and updates that their order is found first; most rows get none, some get many.
    case(
        f"scatter-{name}-large",
        (normal(2000, 17), np.arange(150, dtype=np.int32) ** 2 % 90 * 40 - 2000, normal(150, 17)),
        lambda x, indices, updates, name=name: tl.scatter(x, indices, updates, name),
        scattered(name),
    )
