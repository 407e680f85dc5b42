"""torch.hub: no downloads of code. Weights are files to fetch by oneself and `torch.load`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlparse as urlparse

from ..errors import MissingNameError
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
    """The checkpoint of that name in the folder. Raises MissingNameError if it is not there:
    nothing is fetched."""
    folder = Path(model_dir) if model_dir else _folder / "checkpoints"
    path = folder / (file_name or url.rpartition("/")[2])
    if not path.exists():
        raise MissingNameError(
            f"torch.hub: nothing is fetched here; put {url} at {path} and run it again"
        )
    return _load(path, map_location)


def load(repo_or_dir: str, model: str, *args: object, **options: object) -> NoReturn:
    """Raises MissingNameError: code of others is not fetched and run."""
    raise MissingNameError(
        f"torch.hub.load: the code of {repo_or_dir!r} is not fetched and run here; import its "
        "module, and torch.load its weights"
    )


def download_url_to_file(url: str, dst: str, *args: object, **options: object) -> NoReturn:
    """Raises MissingNameError: nothing is fetched."""
    raise MissingNameError(f"torch.hub: nothing is fetched here; put {url} at {dst}")


def __getattr__(name: str) -> Any:
    raise missing("torch.hub", name)
