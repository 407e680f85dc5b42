"""torch.hub: weights are fetched (files/) and loaded; code of others is not."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlparse as urlparse

from ..errors import MissingNameError
from ..files import Fetched, File, fetch
from .files import Location
from .files import load as _load
from .rooms import missing

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
"""The part of a file's name that is the beginning of its hash."""

_folder = Path(os.environ.get("TORCH_HOME", "~/.cache/torch")).expanduser() / "hub"


def get_dir() -> str:
    """The folder of files that were fetched."""
    return str(_folder)


def set_dir(d: str | os.PathLike[str]) -> None:
    """Sets that folder."""
    global _folder
    _folder = Path(d)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Location = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """The checkpoint of that name in the folder, into which it is fetched if it is not there.

    check_hash: whether the name of the file has the beginning of its sha256, NAME-HASH.EXT, which
      what is fetched must have. Raises FetchError if nothing is found there, ChecksumError.
    """
    folder = Path(model_dir) if model_dir else _folder / "checkpoints"
    name = file_name or Path(urlparse(url).path).name
    found = HASH_REGEX.search(name) if check_hash else None
    fetched = _fetched(url, folder / name, found.group(1) if found else None, progress)
    return _load(fetched.path or io.BytesIO(fetched.read()), map_location)


def _fetched(url: str, path: Path, digits: str | None, progress: bool) -> Fetched:
    if progress and not path.exists():
        print(f'Downloading: "{url}" to {path}', file=sys.stderr)
    checksum = f"sha256:{digits}" if digits else ""
    return fetch(File(path.name, (url,), path.parent, checksum))


def load(repo_or_dir: str, model: str, *args: object, **options: object) -> NoReturn:
    """Raises MissingNameError: code of others is not fetched and run."""
    raise MissingNameError(
        f"torch.hub.load: the code of {repo_or_dir!r} is not fetched and run here; import its "
        "module, and torch.load its weights"
    )


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Fetches a file to a path, also if there is one. hash_prefix: the beginning of its sha256.
    Raises FetchError, ChecksumError."""
    path = Path(dst)
    path.unlink(missing_ok=True)
    _fetched(url, path, hash_prefix, progress)


def __getattr__(name: str) -> Any:
    raise missing("torch.hub", name)
