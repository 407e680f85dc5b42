"""A host of the site that can be shut down, and that releases newer versions."""

from __future__ import annotations

import hashlib
import re
import shutil
from contextlib import ExitStack
from pathlib import Path

from tallow_build.page import documents
from tallow_build.page.compressed import ENDINGS
from tallow_build.serving import server as static

LISTS = "models/manifest.json"
"""Names the files of models."""

# A file in the service worker's list: its path; if its name has no hash, its MD5; its integrity.
LISTED = r'\{url:"(NAME)",revision:(null|"[^"]*"),integrity:"[^"]*"\}'


def copied(dist: Path, folder: Path) -> Path:
    """A copy of dist/ without the published models, which are large."""
    return shutil.copytree(dist, folder, ignore=shutil.ignore_patterns("published"))


class Host:
    """A copy of dist/ on a server that can be shut down and changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._version = 1
        self._stack = ExitStack()
        self.address = self._stack.enter_context(static.running(folder))

    def shut(self) -> None:
        """Stops serving."""
        self._stack.close()

    def release(self, name: str, listed_in: str) -> str:
        """Releases a newer version, in which this file has other content and so another name; if
        the file was lost, the newer version lacks it too. Returns the selector of <body> with a
        newer main module."""
        self._version += 1
        text = (self.folder / listed_in).read_text("utf-8")
        hashed = re.escape(Path(name).name).replace(r"\*", "([0-9a-f]{10})")
        (found,) = set(re.findall(hashed, text))
        paths = [name.replace("*", one) for one in (found, f"{self._version:010d}")]
        old, new = (self.folder / path for path in paths)
        text = text.replace(old.name, new.name)
        if old.is_file():
            content, integrity = old.read_bytes(), documents.attribute(old)
            if old.suffix == ".js":
                content += f"document.body.className = 'version-{self._version}';".encode()
            self.lose(name)
            new.write_bytes(content)
            text = text.replace(integrity, documents.attribute(new))
            self._announce(*paths)
        self._write(listed_in, text)
        self._announce(listed_in, listed_in)
        return f"body.version-{self._version}"

    def lose(self, name: str) -> None:
        """Deletes a file."""
        for path in self.folder.glob(f"{name}*"):
            path.unlink()

    def change(self, name: str, old: str, new: str) -> None:
        """Changes a file on its way: the service worker expects the old content."""
        before = (self.folder / name).read_text("utf-8")
        assert old in before
        self._write(name, before.replace(old, new))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text, "utf-8")
        for ending in ENDINGS:
            path.with_name(path.name + ending).unlink(missing_ok=True)

    def _announce(self, old: str, new: str) -> None:
        """Lists a file in the service worker as the build does, which takes longer."""
        path = self.folder / new
        sum_ = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()

        def entry(listed: re.Match[str]) -> str:
            revision = "null" if listed[2] == "null" else f'"{sum_}"'
            integrity = documents.attribute(path)
            return f'{{url:"{new}",revision:{revision},integrity:"{integrity}"}}'

        worker = (self.folder / "service-worker.js").read_text("utf-8")
        worker, count = re.subn(LISTED.replace("NAME", re.escape(old)), entry, worker)
        assert count == 1
        self._write("service-worker.js", worker)
