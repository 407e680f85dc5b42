"""Holds dist/ to budget.toml: the bytes that each part of it may have when it comes to a visitor.

Bytes are those over the wire: of the Brotli file where there is one, else of the file itself.
"""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from .compressed import ENDINGS
from .errors import BuildError, explained
from .files import files_below
from .paths import ROOT, shown

FILE = ROOT / "budget.toml"

_STEP = "Comparing dist/ with budget.toml"


def check(site: Path, file: Path = FILE) -> list[str]:
    """The parts of a site with their bytes, a line each. Raises BuildError if one has outgrown its
    line of the budget, or a file belongs to no line or to several."""
    parts, sums = _read(file)
    spent = dict.fromkeys(parts, 0)
    for path in files_below(site):
        if path.suffix in ENDINGS and path.with_suffix("").is_file():
            continue
        name = path.relative_to(site).as_posix()
        owners = [part for part, (_, patterns) in parts.items() if _matches(name, patterns)]
        if len(owners) != 1:
            why = f"{name} belongs to {' and '.join(owners) or 'no part'}"
            raise BuildError(_STEP, why, f"give it to one part of {shown(file)}")
        spent[owners[0]] += wire_bytes(path)
    lines = {part: (allowed, spent[part]) for part, (allowed, _) in parts.items()}
    lines |= {
        total: (allowed, sum(spent[part] for part in of)) for total, (allowed, of) in sums.items()
    }
    over = [
        f"{name} has {bytes_:,} bytes, its line allows {allowed:,}"
        for name, (allowed, bytes_) in lines.items()
        if bytes_ > allowed
    ]
    if over:
        remedy = f"make it smaller, or raise its line in {shown(file)} if it is worth it"
        raise BuildError(_STEP, "; ".join(over), remedy)
    return [f"{bytes_:>12,} of {allowed:>12,}  {n}" for n, (allowed, bytes_) in lines.items()]


def wire_bytes(path: Path) -> int:
    """What a browser that takes Brotli downloads for this file."""
    packed = path.with_name(f"{path.name}.br")
    return (packed if packed.is_file() else path).stat().st_size


def _matches(name: str, patterns: list[str]) -> bool:
    return any(PurePosixPath("/", name).match(f"/{pattern}") for pattern in patterns)


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of each part, and of each sum of parts: the bytes allowed, and what it has."""
    with explained(_STEP, "restore it with git"):
        text = file.read_text("utf-8")
    try:
        told = tomllib.loads(text)
        parts = {one["name"]: (int(one["bytes"]), list(one["files"])) for one in told["part"]}
        sums = {one["name"]: (int(one["bytes"]), list(one["parts"])) for one in told["sum"]}
        unknown = {part for _, of in sums.values() for part in of} - parts.keys()
        if unknown:
            raise ValueError(f"a sum names no part: {', '.join(sorted(unknown))}")
        if len(parts) != len(told["part"]) or len(sums) != len(told["sum"]):
            raise ValueError("two lines have one name")
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise BuildError(_STEP, f"{error!r}", f"put {shown(file)} right") from error
    return parts, sums
