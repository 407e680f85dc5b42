"""Paths in a checkout, relative to the folder with build.py."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PACKAGE_JSON = ROOT / "package.json"
PACKAGE_LOCK = ROOT / "package-lock.json"
WEB = ROOT / "web"
MODELS = ROOT / "models"
REQUIREMENTS = ROOT / "py" / "tallow_build" / "requirements"


def python_in(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


# Ignored by git, created by build.py. CACHE holds downloads, BUILD files built here.
CACHE = ROOT / ".cache"
BUILD = ROOT / "build"
STAMPS = BUILD / "stamps"
VENV = ROOT / ".venv"
NODE_MODULES = ROOT / "node_modules"
DIST = ROOT / "dist"

VENV_PYTHON = python_in(VENV)


def shown(path: Path) -> str:
    """The path as a user in the checkout would type it."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
