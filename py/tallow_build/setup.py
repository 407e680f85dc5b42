"""Prepares what each command needs, in order. Steps that are already done take no time."""

from __future__ import annotations

import shutil
from pathlib import Path

from .content import models, networks, published
from .environment import browser, caddy, debian, firefox, node_env, python_env, sources
from .files import only_one
from .page import dist, wheels
from .paths import BUILD, CACHE, DIST

# Where Debian's packages register Vulkan drivers, which the package `wgpu` needs.
_DRIVERS = Path("/usr/share/vulkan/icd.d")


def for_site(*, tight: bool = False) -> None:
    """Prepares everything for serve and build, up to a current dist/; tight: to be published."""
    with only_one():
        _tools(dev=False)
        dist.ensure(tight=tight)


def for_browser(*, tight: bool = False) -> dict[str, str]:
    """Also prepares Chromium and its driver. Returns the environment that they need."""
    with only_one():
        _tools(dev=True)
        dist.ensure(tight=tight)
        return browser.driving(browser.ensure())


def for_tests() -> dict[str, str]:
    """Also prepares Firefox and Caddy if available, and a GPU driver for desktop Python."""
    variables = for_browser()
    with only_one():
        networks.ensure()
        dist.put_published(DIST, published.ensure())
        sources.fetch(sources.micropip())
        firefox.ensure()
        caddy.ensure()
        if debian.available() and not any(_DRIVERS.glob("*.json")):
            debian.install("mesa-vulkan-drivers")
    return variables


def for_wheel() -> Path:
    """The wheel of `tallow`, up to date. It needs Python's packages only, and no Node."""
    with only_one():
        python_env.ensure("runtime")
        return wheels.tallow()


def for_checks() -> None:
    """Prepares the formatters, linters and type checkers."""
    with only_one():
        _tools(dev=True)


def models_again(*, train: bool) -> None:
    """Rebuilds all models from their sources, even if they exist; train: also prepares what the
    training of the digit network needs."""
    with only_one():
        _tools(dev=train)
        models.ensure(again=True)


def _tools(*, dev: bool) -> None:
    for leftovers in (CACHE / "tmp", BUILD / "tmp"):  # from an interrupted command
        shutil.rmtree(leftovers, ignore_errors=True)
    node_env.ensure(dev=dev)
    python_env.ensure("dev" if dev else "runtime")
