"""Checks format, lint and strict types of Python and JavaScript. A warning is a failure."""

from __future__ import annotations

import subprocess

from .environment import node_env
from .paths import ROOT
from .process import environment, python
from .progress import say

# The compiler settings in tsconfig.json act as the linter: unused names, missing returns.
_WEB = ("{web,bench,tests}/**/*.{js,ts,css,html}",)


def run(*, fix: bool) -> int:
    """Runs every check, even after a failure. Returns 0 if all passed, else 1.

    fix: first let the formatters and linters apply their safe fixes.
    """
    prettier, tsc = str(node_env.binary("prettier")), str(node_env.binary("tsc"))
    if fix:
        for command in (
            python("-m", "ruff", "check", "--quiet", "--fix-only", "."),
            python("-m", "ruff", "format", "--quiet", "."),
            [prettier, "--write", "--log-level=warn", *_WEB],
        ):
            _passes(command)
    checks: dict[str, list[str]] = {
        "Python format": python("-m", "ruff", "format", "--quiet", "--diff", "."),
        "Python lint": python("-m", "ruff", "check", "--quiet", "."),
        "Python types": python("-m", "mypy", "--no-error-summary"),
        "Web format": [prettier, "--check", "--log-level=warn", *_WEB],
        "Web types": [tsc, "--project", "tsconfig.json"],
        "Test types": [tsc, "--project", "tests"],
    }
    failed = [name for name, command in checks.items() if not _report(name, command)]
    if failed:
        say(f"Failed: {', '.join(failed)}. `build.py check --fix` fixes format and some lint.")
    return 1 if failed else 0


def _report(name: str, command: list[str]) -> bool:
    passed = _passes(command)
    say(f"{'ok    ' if passed else 'FAILED'} {name}")
    return passed


def _passes(command: list[str]) -> bool:
    return subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode == 0
