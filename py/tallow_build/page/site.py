"""A site under construction: files with their own names, or with a hash in their names.

A file whose name contains a hash of its content never changes, so browsers may cache it forever.
Other files refer to it: the documents, the service worker, and JSON lists such as that of models.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

Content = bytes | Path

# web/shared/names.js, service_worker.mjs and docs/guide.md rely on this form too.
_HASHED = re.compile(r"-[0-9a-f]{10}[./]")


def is_hashed(path: str) -> bool:
    """Whether the name of this file, or of a folder above it, contains a hash."""
    return bool(_HASHED.search(path))


class Site:
    """A folder to which files are added. Paths are relative to it, with forward slashes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, str] = {}  # names with a hash, by the names without

    def put(self, path: str, content: Content) -> None:
        """Writes a file under its own name."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_bytes(content))

    def put_linked(self, path: str, content: Path) -> None:
        """Puts a large file under its own name: a second name of it, or a copy on another disk."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(content, target)
        except OSError:
            shutil.copyfile(content, target)

    def put_json(self, path: str, value: Any) -> None:
        """Writes a list or record under its own name."""
        self.put(path, _json(value))

    def put_hashed(self, path: str, content: Content) -> str:
        """Writes a file with a hash in its name, and returns its path."""
        name = PurePosixPath(path)
        stem, dot, endings = name.name.partition(".")
        hashed = f"{stem}-{_hash(_bytes(content))}{dot}{endings}"
        self.names[path] = str(name.with_name(hashed))
        self.put(self.names[path], content)
        return self.names[path]

    def put_hashed_json(self, path: str, value: Any) -> str:
        """Writes a list or record with a hash in its name, and returns its path."""
        return self.put_hashed(path, _json(value))

    def put_in_hashed_folder(self, folder: str, files: Mapping[str, Path]) -> str:
        """Writes files under their own names into a folder whose name has the hash of all of them.

        Returns the folder's path.
        """
        hashes = [f"{name} {_hash(path.read_bytes())}" for name, path in sorted(files.items())]
        hashed = f"{folder}-{_hash(chr(10).join(hashes).encode())}"
        for name, path in files.items():
            self.put(f"{hashed}/{name}", path)
        return hashed


def _bytes(content: Content) -> bytes:
    return content.read_bytes() if isinstance(content, Path) else content


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:10]
