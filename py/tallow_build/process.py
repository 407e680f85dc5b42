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

# Settings of the caller that would make pip or Python look, or write, outside of .venv.
_UNWANTED = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, fit for a program that shall stay inside the checkout."""
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

    step: what to say while it runs. extra: more environment variables. folder, total: where its
    bytes arrive and how many there will be, for the progress. Raises BuildError with the end of
    its output and `remedy` when it fails or cannot be started. Nobody is asked anything: it has
    no standard input.
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
        except BaseException:  # Ctrl-C included: no child may go on writing behind our back
            process.kill()
            process.wait()
            raise
        if process.returncode:
            tail = "\n".join(f"  | {line}" for line in _ends(output.strip().splitlines()))
            name = Path(argv[0]).name
            why = f"{name} {' '.join(argv[1:4])} ... ended with {process.returncode}\n{tail}"
            raise BuildError(step, why, remedy)
    return output


def _ends(lines: list[str], most: int = 20) -> list[str]:
    """The lines, or the first and last where they are many: programs tell a reason in either."""
    half = most // 2
    return lines if len(lines) <= most else [*lines[:half], "...", *lines[-half:]]


def become(
    *arguments: str | Path, extra: Mapping[str, str] | None = None, cwd: Path | None = None
) -> NoReturn:
    """Goes on as .venv's Python with `arguments`: signals, streams and exit status are its own.

    It runs in `cwd`, or where the caller is, and finds the packages below py/, and bench.
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
