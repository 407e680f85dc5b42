"""The files of a model at a hub, by its REST interface alone: for a browser, in which
huggingface_hub does not run (huggingface.co/docs/hub/api)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from ..core.drivers import Steps
from ..errors import FetchError
from ..files import File, fetching, home

_COMMIT = re.compile(r"[0-9a-f]{40}")


def listing(
    name: str,
    wanted: Callable[[Iterable[str]], list[str]],
    revision: str | None = None,
    blocks: bool = False,
) -> Steps[dict[str, File]]:
    """The steps that give the files of a model, which are to be fetched.

    Large ones have the sha256 that the hub says. All are of one commit, so that another one never
    mixes with it. What the hub said last is kept, and holds where it does not answer.

    name: "owner/name". wanted: chooses among the names of all files. revision: a branch, a tag or a
      commit. blocks: that `run_sync` will answer.
    Raises: FetchError if the hub does not list it.
    """
    endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
    asked = quote(revision or "main", safe="")
    folder = home() / "hub" / name
    address = f"{endpoint}/api/models/{name}/revision/{asked}?blobs=true"
    record = File(f"{asked}.json", (address,), folder)
    try:
        again = not _COMMIT.fullmatch(asked)
        content = yield from (yield from fetching(record, None, blocks, again)).reading()
        said: Any = json.loads(content)
        commit, siblings = str(said["sha"]), {str(f["rfilename"]): f for f in said["siblings"]}
    except FetchError as error:
        raise _failed(name, " ".join(str(error).split())) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _failed(name, f"it answers something else: {error!r}") from error
    found: dict[str, File] = {}
    for path in wanted(siblings):
        if path not in siblings:
            raise _failed(name, f"it has no {path!r:.80}")
        above, _, last = path.rpartition("/")
        facts = siblings[path]
        digits = (facts.get("lfs") or {}).get("sha256")
        found[path] = File(
            last,
            (f"{endpoint}/{name}/resolve/{commit}/{quote(path)}",),
            folder / commit / above,
            f"sha256:{digits}" if digits else "",
            facts.get("size"),
        )
    return found


def _failed(name: str, why: str) -> FetchError:
    return FetchError(f"{name} could not be fetched from the hub: {why[:300]}")
