"""The page's modules, bundled into a file for each page and each worker (bundle.mjs)."""

from __future__ import annotations

import json
from pathlib import Path

from . import node_env
from .process import call
from .site import Site

_SCRIPT = Path(__file__).with_name("bundle.mjs")


def put_modules(site: Site, web: Path) -> dict[str, str]:
    """Writes the bundles, and files that they name, into a site that has the modules which web/
    lacks. Returns each one's path by that of its entry below web/, and keeps it among the site's
    names. Raises BuildError."""
    remedy = "put the module right, or delete node_modules and start the same command again"
    output = call(
        "Bundling the page's modules",
        (node_env.program(), _SCRIPT, web, site.folder),
        remedy,
    )
    names: dict[str, str] = json.loads(output)
    site.names |= names
    return names
