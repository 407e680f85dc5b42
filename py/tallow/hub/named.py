"""Models by their names at a hub, "owner/name": what the package huggingface_hub fetches and keeps
(huggingface.co/docs/huggingface_hub, "Understand caching")."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ..core.drivers import InThread, Steps, run_async, run_sync
from ..core.packages import package
from ..errors import FetchError, FormatError, OptionError
from ..files import Fetched, ProgressOfSeveral
from ..files.fetching import fetching_all, world_here
from ..formats.gguf import parts_of
from .listed import listing

_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")

_TEXTS = ("*.json", "*.jinja")
_WEIGHTS = ("model.safetensors", "model-*.safetensors")
_ONNX = (
    "model.onnx", "encoder_model.onnx", "decoder_model_merged.onnx", "onnx/model.onnx",
    "onnx/encoder_model.onnx", "onnx/decoder_model_merged.onnx",
)  # fmt: skip


def is_name(source: Any) -> Steps[bool]:
    """Whether a source is a name at a hub, and no file or folder here."""
    if not isinstance(source, str) or not _NAME.fullmatch(source):
        return False
    is_there: bool = yield world_here(False).reads(Path(source).exists)
    return not is_there


def download(name: str, file: str | None = None, **options: Any) -> Path | dict[str, Fetched]:
    """The files of a model at a hub; blocks.

    They are kept where huggingface_hub keeps them (HF_HOME), and fetched once. The environment
    variables HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are its own. In a browser, where it does not
    run, they are kept in the page's storage, and HF_ENDPOINT alone counts.

    name: "owner/name". file: one of its files alone; None for those that `load` reads: of several
      GGUF files, name one.
    options: revision, a branch, a tag or a commit; token, for what is not public (a page sends
      none); in a browser progress, see `load`.
    Returns: the path of the file, or of the folder; in a browser the files by their names, as
      `load` takes them.
    Raises: FetchError if the hub does not give it; FormatError for a model without files that are
      read here; OptionError for a name that is none; PackageError without the package.
    """
    return run_sync(snapshot(name, file=file, blocks=True, **options))


async def download_async(
    name: str, file: str | None = None, **options: Any
) -> Path | dict[str, Fetched]:
    """As `download`, without blocking."""
    return await run_async(snapshot(name, file=file, **options))


def snapshot(
    name: str,
    file: str | None = None,
    revision: str | None = None,
    token: str | None = None,
    progress: ProgressOfSeveral | None = None,
    blocks: bool = False,
) -> Steps[Path | dict[str, Fetched]]:
    """The steps of `download`. blocks: that `run_sync` will answer."""
    if not _NAME.fullmatch(name):
        raise OptionError(f"{name!r} is no name of a model; expected owner/name")
    if sys.platform == "emscripten":
        if token is not None:
            raise OptionError("a page sends no token: it reads public models only")

        def wanted(files: Iterable[str]) -> list[str]:
            return _wanted(files, name) if file is None else parts_of(file)

        files = yield from listing(name, wanted, revision, blocks)
        return (yield from fetching_all(files, progress, blocks))
    found: Path = yield InThread(_fetched, name, file, revision, token)
    return found


def _fetched(name: str, file: str | None, revision: str | None, token: str | None) -> Path:
    what = "models by their names"
    hub = package("huggingface_hub", what, "hub")
    known = package("huggingface_hub.errors", what, "hub")
    errors = (known.HfHubHTTPError, known.LocalEntryNotFoundError, OSError)
    common = {"repo_id": name, "revision": revision, "token": token}
    try:
        if file is not None:
            found = [hub.hf_hub_download(filename=part, **common) for part in parts_of(file)]
            return Path(found[0])
        try:
            listed = hub.list_repo_files(name, revision=revision, token=token)
        except (known.OfflineModeIsEnabled, ConnectionError):
            # What an earlier run did not want is missing there, and nothing of it is asked for.
            kept = {"local_files_only": True, "allow_patterns": ["config.json"]}
            return Path(hub.snapshot_download(**kept, **common))
        wanted = _wanted(listed, name)
        if wanted[0].endswith(".gguf"):
            found = [hub.hf_hub_download(filename=part, **common) for part in wanted]
            return Path(found[0])
        return Path(hub.snapshot_download(allow_patterns=wanted, **common))
    except errors as error:
        said = " ".join(str(error).split())[:300]
        raise FetchError(f"{name} could not be fetched from the hub: {said}") from error


def _wanted(files: Iterable[str], name: str) -> list[str]:
    """Of a model's files those that are read. Raises FormatError if there are none."""
    files = list(files)
    texts = [each for each in files if any(fnmatch(each, kind) for kind in _TEXTS)]
    for kinds in (_WEIGHTS, _ONNX):
        weights = [each for each in files if any(fnmatch(each, kind) for kind in kinds)]
        if weights and "config.json" in files:
            return texts + weights
    blocks = [each for each in files if each.endswith(".gguf")]
    parts = parts_of(blocks[0]) if blocks else []
    if blocks and set(blocks) <= set(parts):
        return parts
    if blocks:
        raise FormatError(f"{name} has several GGUF files; choose by file=: {', '.join(blocks)}")
    raise FormatError(f"{name} has neither safetensors, nor ONNX, nor GGUF files")
