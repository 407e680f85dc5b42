"""Bundles the page's modules into one file per page and worker (bundle.mjs)."""

from __future__ import annotations

import json
from pathlib import Path

from ..environment import node_env
from ..process import call
from .site import Site

_SCRIPT = Path(__file__).with_name("bundle.mjs")


def put_modules(site: Site, web: Path) -> dict[str, str]:
    """Writes the bundles, and the files they refer to, into a site that already has the modules
    which web/ lacks. Returns the path of each bundle by its entry module below web/, and adds it to
    the site's names. Raises BuildError."""
    remedy = "fix the module, or delete node_modules and run the same command again"
    output = call(
        "Bundling the page's modules",
        (node_env.program(), _SCRIPT, web, site.folder),
        remedy,
    )
    names: dict[str, str] = json.loads(output)
    site.names |= names
    return names
