"""Subresource integrity: the page's own files, each with its hash where the page asks for it.

W3C Subresource Integrity. A module's imports have no place for a hash; a `modulepreload` link does,
and what a link has loaded, or refused, is what the import gets. Workers have no such place in any
browser; there the hashes of the service worker count, and those of runtime.json and the models.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

_SCRIPT = re.compile(r'^( *)<script type="module" src="([^"]+)"', re.MULTILINE)
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)"')
_IMPORT = re.compile(r'^(?:import|export)\s(?:[^"]*?\sfrom\s)?"(\.{1,2}/[^"]+)";', re.MULTILINE)


def attribute(path: Path) -> str:
    """The value of an `integrity` attribute for this file."""
    digest = hashlib.sha256(path.read_bytes()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def imports(module: Path) -> list[Path]:
    """The modules that a module of web/ imports when it is loaded, theirs included."""
    found: list[Path] = []
    todo = [module.resolve()]
    while todo:
        importer = todo.pop()
        for name in _IMPORT.findall(importer.read_text("utf-8")):
            path = (importer.parent / name).resolve()
            if path not in found:
                found.append(path)
                todo.append(path)
    return sorted(found)


def seal(page: Path, *later: str) -> None:
    """Adds hashes to a page: to its styles, its module, that module's imports, and modules that it
    imports later, by their names relative to the page."""
    folder = page.parent.resolve()

    def style(match: re.Match[str]) -> str:
        return f'{match[0]} integrity="{attribute(folder / match[1])}"'

    def script(match: re.Match[str]) -> str:
        indent, name = match[1], match[2]
        names = [path.relative_to(folder).as_posix() for path in imports(folder / name)]
        links = "".join(
            f'{indent}<link rel="modulepreload" href="{one}" '
            f'integrity="{attribute(folder / one)}" />\n'
            for one in (*names, *later)
        )
        return f'{links}{match[0]} integrity="{attribute(folder / name)}"'

    text = page.read_text("utf-8")
    page.write_text(_SCRIPT.sub(script, _STYLE.sub(style, text)), "utf-8")
