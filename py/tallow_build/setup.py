"""What each command needs before it can start, in order. Steps already done take no time."""

from __future__ import annotations

import shutil
from pathlib import Path

from . import browser, debian, dist, firefox, models, networks, node_env, python_env
from .files import only_one
from .paths import BUILD, CACHE

# Where Debian's packages announce Vulkan drivers, on which the package `wgpu` stands.
_DRIVERS = Path("/usr/share/vulkan/icd.d")


def for_site() -> None:
    """Everything that serve and build need: ends with a dist/ that is up to date."""
    with only_one():
        _tools(dev=False)
        dist.ensure()


def for_browser() -> dict[str, str]:
    """The same, and a Chromium with what drives it. Returns the environment that it needs."""
    with only_one():
        _tools(dev=True)
        dist.ensure()
        return browser.driving(browser.ensure())


def for_tests() -> dict[str, str]:
    """The same, a Firefox where one can be had, and a GPU driver for desktop Python."""
    variables = for_browser()
    with only_one():
        networks.ensure()
        firefox.ensure()
        if debian.available() and not any(_DRIVERS.glob("*.json")):
            debian.install("mesa-vulkan-drivers")
    return variables


def for_checks() -> None:
    """The formatters, linters and type checkers."""
    with only_one():
        _tools(dev=True)


def models_again() -> None:
    """Makes all models from their sources, whether they are there or not."""
    with only_one():
        _tools(dev=False)
        models.ensure(again=True)


def _tools(*, dev: bool) -> None:
    for leftovers in (CACHE / "tmp", BUILD / "tmp"):  # of an interrupted command
        shutil.rmtree(leftovers, ignore_errors=True)
    node_env.ensure(dev=dev)
    python_env.ensure("dev" if dev else "runtime")
