"""Minimized findings as readable files, each of which is a regression test."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .case import Case
from .coding import read, written
from .judgement import Verdict
from .search import key

FOLDER = Path(__file__).with_name("findings")


def write(verdict: Verdict, device: str, folder: Path = FOLDER) -> Path:
    """Writes a finding and returns its file, whose name depends only on the case."""
    case = verdict.case
    words = re.sub(r"\W+", "-", f"{case.about} {verdict.kind}").strip("-").lower()
    path = folder / f"{words}-{key(case)[:6]}.json"
    content = {"found": f"on {device}: {verdict.why}", **written(case)}
    folder.mkdir(exist_ok=True, parents=True)
    path.write_text(_pretty(content) + "\n", "utf-8")
    return path


def load(path: Path) -> Case:
    """The case in a finding's file."""
    return read(json.loads(path.read_text("utf-8")))


def files() -> list[Path]:
    """Every finding."""
    return sorted(FOLDER.glob("*.json"))


def _pretty(value: Any, indent: str = "") -> str:
    """JSON with short values on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(flat) <= 96 or not isinstance(value, (dict, list)):
        return flat
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(k)}: {_pretty(v, inner)}" for k, v in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [_pretty(item, inner) for item in value]
        opening, closing = "[", "]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"
