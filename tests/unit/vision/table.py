"""docs/training/vision-models.md: its table of networks.

    python -m tests.unit.vision.table

writes it anew.
"""

from __future__ import annotations

import re

from tallow import nn
from tallow.vision import models
from tallow.vision.models.registry import PUBLISHED
from tallow_build.paths import ROOT

PAGE = ROOT / "docs" / "training" / "vision-models.md"

BEGIN = "<!-- networks: written by `python -m tests.unit.vision.table` -->"
END = "<!-- end -->"

HEAD = """\
| name | parameters | billions of multiply-adds | image | paper |
|---|---:|---:|---:|---|"""


def row(name: str) -> str:
    """A network's line. Nothing is computed."""
    published = PUBLISHED[name]
    found = nn.summary(models.get_model(name), (1, 3, published.size, published.size))
    authors, _, number = published.paper.rpartition(", arXiv:")
    paper = f"[{authors}](https://arxiv.org/abs/{number})"
    size = f"{found.multiply_adds / 1e9:.2f}"
    return f"| `{name}` | {found.parameters:,} | {size} | {published.size} | {paper} |"


def order(name: str) -> list[object]:
    """Sorts by name, and numbers within by their value."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def main() -> None:
    rows = "\n".join(row(name) for name in sorted(models.list_models(), key=order))
    text = PAGE.read_text("utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{HEAD}\n{rows}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
