"""The HTML of a site: it names every file by its hashed name, its styles are joined into one,
styles and modules carry their hash (W3C Subresource Integrity), and what may be loaded is said
before anything is.

Workers have no place for a hash in any browser; there the hashes of the service worker count, and
those that it knows of its files and of the models.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from .errors import BuildError
from .headers import policy_in
from .paths import WEB
from .site import Site

_STYLE = re.compile(r'^ *<link rel="stylesheet" href="([^"]+)" />\n', re.MULTILINE)
_NAME = re.compile(r'(?<= )(href|src)="([^"#]+)"')
_CHARSET = re.compile(r'^ *<meta charset="utf-8" />\n', re.MULTILINE)
_SEALED = re.compile(r'(<link rel="stylesheet" href|<script type="module" src)="([^"]+)"')


def attribute(path: Path) -> str:
    """The value of an `integrity` attribute for this file."""
    digest = hashlib.sha256(path.read_bytes()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def put_page(site: Site, name: str) -> None:
    """Writes a document of web/ into a site that has all other files which it names.

    Raises BuildError if the document has no place for its policy.
    """
    text = (WEB / name).read_text("utf-8")
    styles = _STYLE.findall(text)
    if styles:
        joined = "\n".join((WEB / style).read_text("utf-8") for style in styles)
        site.put_hashed("style.css", joined.encode())
        text = _STYLE.sub(lambda m: m[0] if m[1] == styles[0] else "", text)
        text = text.replace(f'href="{styles[0]}"', 'href="style.css"')
    text = _NAME.sub(lambda m: f'{m[1]}="{site.names.get(m[2], m[2])}"', text)
    text = _SEALED.sub(
        lambda m: f'{m[0]} integrity="{attribute(site.folder / m[2])}"',
        text,
    )
    policy = f'    <meta http-equiv="Content-Security-Policy" content="{policy_in(name)}" />\n'
    text, times = _CHARSET.subn(lambda m: m[0] + policy, text)
    if times != 1:
        why = f"{name} has {times} lines <meta charset>, and its policy stands behind the one"
        raise BuildError("Putting the policy into the documents", why, "have one, first of all")
    site.put(name, text.encode())


def put_app(site: Site) -> None:
    """Writes the web app's manifest into a site that has its icons."""
    app = json.loads((WEB / "app.webmanifest").read_text("utf-8"))
    for icon in app["icons"]:
        icon["src"] = site.names[icon["src"]]
    site.put_json("app.webmanifest", app)
