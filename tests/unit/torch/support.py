"""docs/pytorch.md: which of PyTorch's and torchvision's public names Tallow has, room by room.

    python -m tests.unit.torch.support

writes that section of the page anew. The names are those of names.json.
"""

from __future__ import annotations

import json
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

from tallow.core import context
from tallow.errors import MissingNameError
from tallow_build.paths import ROOT

PAGE = ROOT / "docs" / "pytorch.md"
NAMES: dict[str, list[str]] = json.loads(Path(__file__).with_name("names.json").read_text("utf-8"))

BEGIN = "<!-- written by `python -m tests.unit.torch.support` -->"
END = "<!-- end -->"


def room(name: str) -> Any:
    """What Tallow has under the name of a room, or None."""
    if name == "torch.Tensor":
        return import_module("tallow.torch").Tensor
    try:
        return import_module("tallow." + name.replace("torchvision", "vision"))
    except (ModuleNotFoundError, MissingNameError):
        return None


def missing() -> dict[str, list[str]]:
    """The names of each room that are not there."""
    with context.pytorch.override(True), context.floating.override(None):
        found = {name: room(name) for name in NAMES}
        return {
            name: [each for each in names if not hasattr(found[name], each)]
            for name, names in NAMES.items()
        }


def section(lacking: dict[str, list[str]]) -> str:
    """The section of the page, between its two marks."""
    from tallow.torch.names import INSTEAD

    total = sum(map(len, NAMES.values()))
    there = total - sum(map(len, lacking.values()))
    rows = "".join(
        f"| `{name}` | {len(names) - len(lacking[name])} | {len(names)} |\n"
        for name, names in NAMES.items()
    )
    lists = "".join(_listed(name, names) for name, names in lacking.items() if names)
    instead: dict[str, list[str]] = {}
    for name, other in sorted(INSTEAD.items()):
        instead.setdefault(other, []).append(f"`{name}`")
    others = "".join(f"| {', '.join(names)} | {other} |\n" for other, names in instead.items())
    return (
        f"{BEGIN}\n\n{there:,} of {total:,} public names of PyTorch 2.13 and torchvision 0.29 are "
        "there. PyTorch's are what `dir()` shows of a\nroom, so that some are only what its own "
        "files import. Of torchvision's, lists of weights are not counted.\n\n"
        f"| room | there | of |\n|---|--:|--:|\n{rows}\n"
        f"### Names that are missing\n\n{lists}"
        f"### What there is instead\n\n| asked for | instead |\n|---|---|\n{others}\n{END}"
    )


def _listed(name: str, names: list[str]) -> str:
    if len(names) == len(NAMES[name]):
        return f"`{name}`: all of them.\n\n"
    text = f"`{name}`: {', '.join(f'`{each}`' for each in names)}."
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n\n"


def written(page: str, lacking: dict[str, list[str]]) -> str:
    """The page with the section anew."""
    head, _, rest = page.partition(BEGIN)
    return head + section(lacking) + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), missing()), "utf-8")
