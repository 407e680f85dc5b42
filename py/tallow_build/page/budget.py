"""Checks dist/ against budget.toml, which limits the bytes that each part sends to a visitor.

These are bytes over the wire: of the Brotli file if there is one, otherwise of the file itself.
"""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import BuildError, explained
from ..files import files_below
from ..paths import ROOT, shown
from .compressed import ENDINGS

FILE = ROOT / "budget.toml"

_STEP = "Comparing dist/ with budget.toml"


def check(site: Path, file: Path = FILE) -> list[str]:
    """The parts of a site with their bytes, one line each. Raises BuildError if a part exceeds its
    budget, or if a file does not belong to exactly one part."""
    parts, sums = _read(file)
    spent = dict.fromkeys(parts, 0)
    for path in files_below(site):
        if path.suffix in ENDINGS and path.with_suffix("").is_file():
            continue
        name = path.relative_to(site).as_posix()
        owners = [part for part, (_, patterns) in parts.items() if _matches(name, patterns)]
        if len(owners) != 1:
            why = f"{name} belongs to {' and '.join(owners) or 'no part'}"
            raise BuildError(_STEP, why, f"assign it to one part in {shown(file)}")
        spent[owners[0]] += wire_bytes(path)
    lines = {part: (allowed, spent[part]) for part, (allowed, _) in parts.items()}
    lines |= {
        total: (allowed, sum(spent[part] for part in of)) for total, (allowed, of) in sums.items()
    }
    over = [
        f"{name} has {bytes_:,} bytes, but the budget is {allowed:,}"
        for name, (allowed, bytes_) in lines.items()
        if bytes_ > allowed
    ]
    if over:
        remedy = f"make it smaller, or raise its budget in {shown(file)} if it is worth it"
        raise BuildError(_STEP, "; ".join(over), remedy)
    return [f"{bytes_:>12,} of {allowed:>12,}  {n}" for n, (allowed, bytes_) in lines.items()]


def wire_bytes(path: Path) -> int:
    """The bytes that a browser with Brotli support downloads for this file."""
    packed = path.with_name(f"{path.name}.br")
    return (packed if packed.is_file() else path).stat().st_size


def _matches(name: str, patterns: list[str]) -> bool:
    return any(PurePosixPath("/", name).match(f"/{pattern}") for pattern in patterns)


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The allowed bytes and the contents of each part, and of each sum of parts."""
    with explained(_STEP, "restore it with git"):
        text = file.read_text("utf-8")
    try:
        data = tomllib.loads(text)
        parts = {one["name"]: (int(one["bytes"]), list(one["files"])) for one in data["part"]}
        sums = {one["name"]: (int(one["bytes"]), list(one["parts"])) for one in data["sum"]}
        unknown = {part for _, of in sums.values() for part in of} - parts.keys()
        if unknown:
            raise ValueError(f"a sum names unknown parts: {', '.join(sorted(unknown))}")
        if len(parts) != len(data["part"]) or len(sums) != len(data["sum"]):
            raise ValueError("two entries have the same name")
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise BuildError(_STEP, f"{error!r}", f"fix {shown(file)}") from error
    return parts, sums
