"""Decision trees."""

from __future__ import annotations

import numpy as np
from tree_reference import features_of, random_trees, walk_reference, walked

from .case import case

draws = np.random.default_rng(38)  # its own, so that the other families draw what they drew
for name, rows, trees, depth in (("", 9, 5, 6), ("-lone", 1, 1, 1), ("-many", 70, 40, 3)):
    case(
        f"walk_trees{name}",
        (features_of(draws, rows, 4), *random_trees(draws, trees, depth, 4)),
        lambda x, n, s, r, depth=depth: walked(x, n, s, r, depth),
        lambda x, n, s, r: walk_reference(x, n, s, r),
    )
