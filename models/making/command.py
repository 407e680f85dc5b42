"""The command line that every make.py has: --source FILE --out FILE.

models/manifest.json has the hashes of the source and of the result, and the origin of the source.
This module needs only the standard library.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

MODELS = Path(__file__).resolve().parent.parent


class MakeError(Exception):
    """Why a file could not be made."""


def entry_of(
    script: Path, source: Path, manifest: Path = MODELS / "manifest.json"
) -> dict[str, Any]:
    """The manifest's entry for this make.py; if there are several, the one whose source file has
    the name of `source`. Raises MakeError.
    """
    wanted = script.resolve().relative_to(MODELS).as_posix()
    content = json.loads(manifest.read_text(encoding="utf-8"))
    entries = [*content["models"], *content["labels"]]
    made = [dict(entry) for entry in entries if entry.get("make") == wanted]
    if not made:
        raise MakeError(f"{manifest} has no entry that is made by {wanted}")
    named = [e for e in made if Path(e["made_from"]["member"]).name == source.name]
    return [*named, *made][0]


def make(source: Path, out: Path, entry: dict[str, Any], convert: Callable[[bytes], bytes]) -> None:
    """Reads and checks `source`, converts it, checks the result and writes it to `out` atomically.

    Raises MakeError if the source is missing or wrong, or the result is not the expected one.
    """
    pin = entry["made_from"]
    named = f"{pin['member']} of {pin['package']} {pin['version']}"
    try:
        data = source.read_bytes()
    except OSError as error:
        raise MakeError(f"cannot read {source} ({named}): {error.strerror}") from error
    found = hashlib.sha256(data).hexdigest()
    if found != pin["sha256"]:
        raise MakeError(
            f"{source} ({len(data)} bytes) is not {named}: its sha256 is {found}, "
            f"expected {pin['sha256']}; delete it and fetch it again"
        )
    result = convert(data)
    made = hashlib.sha256(result).hexdigest()
    if made != entry["sha256"]:
        raise MakeError(
            f"the file made from {named} has {len(result)} bytes and sha256 {made}, expected "
            f"{entry['bytes']} and {entry['sha256']}; after an intended change of the recipe, put "
            "the new values in manifest.json and the card"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    aside = out.with_name(f"{out.name}.part")
    aside.write_bytes(result)
    aside.replace(out)


def run(
    script: str, convert: Callable[[bytes], bytes], arguments: Sequence[str] | None = None
) -> int:
    """Runs the command. Returns the exit status: 0, or 1 with one line on stderr."""
    parser = argparse.ArgumentParser(description="Makes a file of models/ from its pinned source.")
    parser.add_argument("--source", type=Path, required=True, help="the member of the package")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    options = parser.parse_args(arguments)
    try:
        entry = entry_of(Path(script), options.source)
        make(options.source, options.out, entry, convert)
    except (MakeError, OSError, ValueError) as error:
        print(f"{Path(script).parent.name}: {error}", file=sys.stderr)
        return 1
    print(f"made {options.out} ({entry['bytes']:,} bytes)")
    return 0
