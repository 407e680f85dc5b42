"""Records what the programs print with PyTorch, where PyTorch is installed:

    python -m tests.programs.record [NAME ...]

The project itself does not need PyTorch: what the programs printed stands in recorded.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .programs import PRINTED, PROGRAMS, RECORDED, losses


def printed(path: Path) -> str:
    """What a program prints with PyTorch on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(path)],
            cwd=folder,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise SystemExit(f"{path}:\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Records the named programs, or all, and forgets those that are no more."""
    before = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
    found: dict[str, dict[str, Any]] = {k: v for k, v in before.items() if k in PROGRAMS}
    for name in sys.argv[1:] or PROGRAMS:
        output = printed(PROGRAMS[name])
        found[name] = {"losses": losses(output)}
        if name in PRINTED:
            found[name]["printed"] = output
        print(name, len(found[name]["losses"]), "losses")
    RECORDED.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
