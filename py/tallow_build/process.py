"""Runs other programs: quietly with progress, or in place of this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from .errors import BuildError
from .paths import ROOT, VENV_PYTHON
from .progress import working

# Settings of the caller that would make pip or Python read or write outside of .venv.
_UNWANTED = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, for a program that must stay inside the checkout."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    return kept | dict(extra or {})


def python(*arguments: str | Path) -> list[str]:
    """The command line of .venv's Python with these arguments."""
    return [str(VENV_PYTHON), *map(str, arguments)]


def call(
    step: str,
    command: Sequence[str | Path],
    remedy: str,
    *,
    extra: Mapping[str, str] | None = None,
    folder: Path | None = None,
    total: int | None = None,
) -> str:
    """Runs `command` in the root folder and returns what it printed.

    step: the message shown while it runs. extra: more environment variables. folder, total: where
    its bytes arrive and how many are expected, for the progress. Raises BuildError with the end of
    its output and `remedy` if it fails or cannot be started. It has no standard input, so it can't
    prompt.
    """
    argv = [str(part) for part in command]
    with working(step, folder, total):
        try:
            process = subprocess.Popen(
                argv,
                cwd=ROOT,
                env=environment(extra),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise BuildError(step, f"{argv[0]} could not be started: {error}", remedy) from error
        try:
            output, _ = process.communicate()
        except BaseException:  # including Ctrl-C: the child must not keep writing
            process.kill()
            process.wait()
            raise
        if process.returncode:
            tail = "\n".join(f"  | {line}" for line in _ends(output.strip().splitlines()))
            name = Path(argv[0]).name
            why = f"{name} {' '.join(argv[1:4])} ... exited with {process.returncode}\n{tail}"
            raise BuildError(step, why, remedy)
    return output


def _ends(lines: list[str], maximum: int = 20) -> list[str]:
    """The lines, or the first and last of many: programs report a reason at either end."""
    half = maximum // 2
    return lines if len(lines) <= maximum else [*lines[:half], "...", *lines[-half:]]


def become(
    *arguments: str | Path, extra: Mapping[str, str] | None = None, cwd: Path | None = None
) -> NoReturn:
    """Replaces this process by .venv's Python with `arguments`.

    It runs in `cwd`, or the current folder, and can import the packages below py/, and bench.
    """
    argv = python(*arguments)
    packages = os.pathsep.join([str(ROOT / "py"), str(ROOT)])
    env = environment({"PYTHONPATH": packages, **(extra or {})})
    os.chdir(cwd or Path.cwd())
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execve(argv[0], argv, env)
    try:
        sys.exit(subprocess.call(argv, env=env))
    except KeyboardInterrupt:
        sys.exit(130)
