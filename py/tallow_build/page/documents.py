"""Writes the HTML of a site: with hashed file names, all styles joined into one, integrity hashes
for styles and modules (W3C Subresource Integrity), and the content security policy first.

No browser supports integrity hashes for workers; the service worker checks them instead, with the
hashes of its files and of the models.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from ..errors import BuildError
from ..paths import WEB
from .headers import policy_in
from .site import Site

_PLACEHOLDER = re.compile(r"^ *<!-- (menu|views|styles of the views) -->\n", re.MULTILINE)
_VIEW = re.compile(r'<section id="view-(\w+)" class="view"')
_STYLE = re.compile(r'^ *<link rel="stylesheet" href="([^"]+)" />\n', re.MULTILINE)
_NAME = re.compile(r'(?<= )(href|src)="([^"#]+)"')
_CHARSET = re.compile(r'^ *<meta charset="utf-8" />\n', re.MULTILINE)
_SEALED = re.compile(r'(<link rel="stylesheet" href|<script type="module" src)="([^"]+)"')


def attribute(path: Path) -> str:
    """The value of an `integrity` attribute for this file."""
    digest = hashlib.sha256(path.read_bytes()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def put_page(site: Site, name: str) -> None:
    """Writes a document of web/ into a site that already has all files it refers to.

    Raises BuildError if the document has no line after which its policy can be inserted.
    """
    text = with_views((WEB / name).read_text("utf-8"))
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
        why = f"{name} has {times} lines <meta charset>, but needs one to insert its policy after"
        raise BuildError("Adding the policy to the documents", why, "start its head with one")
    site.put(name, text.encode())


def with_views(text: str) -> str:
    """Fills a document's placeholders with the HTML of the views (web/views/): their links in the
    menu, their sections, of which the first is visible, and their styles.

    Raises BuildError if a view's section is malformed.
    """
    if not _PLACEHOLDER.search(text):
        return text
    views = WEB / "views"
    parts: dict[str, list[str]] = {"menu": [], "views": [], "styles of the views": []}
    for name, view in described(views):
        section = (views / name / f"{name}.html").read_text("utf-8")
        match = _VIEW.match(section)
        if not match or match[1] != name:
            why = f'{name}.html does not start with <section id="view-{name}" class="view"'
            raise BuildError("Adding the views to the documents", why, "fix its first line")
        current = "" if parts["menu"] else ' aria-current="page"'
        entry, word = f"to{name.title()}", view["menu"]["en"]
        parts["menu"].append(
            f'<a id="to-{name}" href="#{name}"{current} data-text="{entry}">{word}</a>\n'
        )
        shown = f'<section id="view-{name}" class="view"{" hidden" if parts["views"] else ""}'
        if view.get("lazy"):  # its HTML and its styles are in its bundle
            parts["views"].append(f"{shown}></section>\n")
            continue
        parts["views"].append(_VIEW.sub(shown, section, count=1))
        parts["styles of the views"] += [
            f'    <link rel="stylesheet" href="{path.relative_to(WEB).as_posix()}" />\n'
            for path in sorted((views / name).rglob("*.css"), key=lambda p: (p.stem != name, p))
        ]
    return _PLACEHOLDER.sub(lambda m: "".join(parts[m[1]]), text)


def described(views: Path) -> list[tuple[str, dict[str, Any]]]:
    """The views' folders and what their view.json says, in the order of the menu (bundle.mjs has
    the same order).

    Raises BuildError if a view.json does not say its place, or its name in the menu.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for path in views.glob("*/view.json"):
        view = json.loads(path.read_text("utf-8"))
        if not isinstance(view.get("place"), int | float) or "en" not in view.get("menu", {}):
            why = f"{path.parent.name}/view.json says no place, a number, or no menu's name"
            raise BuildError("Adding the views to the documents", why, "add it")
        found.append((path.parent.name, view))
    return sorted(found, key=lambda each: each[1]["place"])


def put_app(site: Site) -> None:
    """Writes the web app's manifest into a site that already has its icons."""
    app = json.loads((WEB / "app.webmanifest").read_text("utf-8"))
    for icon in app["icons"]:
        icon["src"] = site.names[icon["src"]]
    site.put_json("app.webmanifest", app)
