"""All models by name and version: loaded, taken away, loaded again while requests come."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import OptionError, ServiceError, TallowError
from .bodies import whole_number
from .figures import Figures
from .models import ModuleSpec, opened
from .refusals import line_of
from .serving import Limits, Serving
from .worker import Worker

_log = logging.getLogger("tallow.serve")
_FILES = (".onnx", ".safetensors", ".npz", ".pt", ".pth", ".bin")


@dataclass(frozen=True)
class Source:
    """Where a model comes from. path: a file, or a folder with a folder for each version."""

    name: str
    path: Path
    spec: ModuleSpec | None = None


@dataclass
class _Entry:
    """A model by version, and why versions do not serve."""

    source: Source
    versions: dict[int, Serving] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def sources_of(
    paths: Sequence[str], names: Sequence[str], spec: ModuleSpec | None = None
) -> list[Source]:
    """The models that a command line names. names: for the first models, instead of their files'.

    Raises: OptionError for more names than models, for two models of a name, for a name that an
      address cannot have.
    """
    if len(names) > len(paths):
        raise OptionError(f"--name: {len(names)} names for {len(paths)} models")
    found: list[Source] = []
    for i, text in enumerate(paths):
        path = Path(text)
        plain = path.stem if path.suffix in _FILES else path.resolve().name
        name = names[i] if i < len(names) else plain
        odd = any(letter in "/?#%" or not letter.isprintable() for letter in name)
        if odd or name in ("", ".", ".."):
            raise OptionError(f"{name!r} cannot be a model's name: an address has it; use --name")
        if any(each.name == name for each in found):
            raise OptionError(f"two models are called {name!r}; use --name")
        found.append(Source(name, path, spec))
    return found


def versions_of(path: Path) -> dict[int, Path]:
    """The files of a model, by version: a file is version 1. Raises OptionError if there are none,
    or several for a version."""
    if not path.is_dir():
        return {1: path}
    found: dict[int, Path] = {}
    for folder in path.iterdir():
        if not folder.name.isdecimal() or not folder.is_dir() or int(folder.name) == 0:
            continue
        files = [each for each in sorted(folder.iterdir()) if each.suffix in _FILES]
        chosen = [each for each in files if each.stem == "model"] or files
        if len(chosen) != 1 or int(folder.name) in found:
            raise OptionError(f"{folder}: {len(chosen)} models; a version has one, model.onnx")
        found[int(folder.name)] = chosen[0]
    if not found:
        raise OptionError(f"{path}: no folder of a version, such as {path.name}/1/model.onnx")
    return dict(sorted(found.items()))


class Repository:
    """The models of a service.

    stopping: whether the service ends. loaded: whether all models were tried once.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        device: str | None,
        limits: Limits,
        figures: Figures,
        warm: Sequence[int] = (1,),
    ) -> None:
        self._entries = {each.name: _Entry(each) for each in sources}
        self._device, self._limits, self._figures = device, limits, figures
        self._warm, self._worker = warm, Worker()
        self._leaving: set[asyncio.Task[None]] = set()
        self.loaded = self.stopping = False

    @property
    def sources(self) -> Mapping[str, Source]:
        """Where each model comes from."""
        return {name: entry.source for name, entry in self._entries.items()}

    @property
    def ready(self) -> bool:
        """Whether models answer: all were tried, and one that is there serves."""
        some = any(entry.versions for entry in self._entries.values())
        return self.loaded and not self.stopping and some

    async def load_all(self) -> None:
        """Loads all models, one after the other. One that does not load leaves a line in the log,
        and the others serve."""
        for name in self._entries:
            try:
                await self.load(name)
            except TallowError as error:
                _log.error("%s", line_of(error))
        self.loaded = True

    async def load(self, name: str) -> None:
        """Loads a model, or loads it again. Versions serve on until the new ones do; requests in
        hand are answered by the one that they were given to.

        Raises: ServiceError "missing" for an unknown model, "unready" if no version loads; what
          served before serves on then.
        """
        entry = self._entry(name)
        async with entry.lock:
            try:
                files = versions_of(entry.source.path)
            except (OptionError, OSError) as error:
                entry.reasons = {0: line_of(error)}
                raise ServiceError("unready", f"{name}: {line_of(error)}") from error
            made: dict[int, Serving] = {}
            reasons: dict[int, str] = {}
            for version, path in files.items():
                try:
                    made[version] = await self._made(entry.source, version, path)
                except Exception as error:  # of any kind: a file of a stranger's
                    reasons[version] = line_of(error)
                    _log.error("%s, version %d, is not served: %s", name, version, line_of(error))
            entry.reasons = reasons
            if not made:
                raise ServiceError(
                    "unready", f"{name} does not load: {'; '.join(reasons.values())}"
                )
            old, entry.versions = entry.versions, made
            self._leave(old)
            _log.info("%s: version %s serves", name, ", ".join(map(str, made)))

    async def _made(self, source: Source, version: int, path: Path) -> Serving:
        model = await self._worker.do(opened, path, self._device, source.spec)
        made = Serving(source.name, version, model, self._worker, self._limits, self._figures)
        try:
            await made.warm([rows for rows in self._warm if rows == 1 or model.batches])
        except BaseException:
            await made.close()
            raise
        return made

    async def unload(self, name: str) -> None:
        """Takes a model away; it can be loaded again. Raises ServiceError "missing"."""
        entry = self._entry(name)
        async with entry.lock:
            old, entry.versions = entry.versions, {}
            entry.reasons |= dict.fromkeys(old, "unloaded")  # also of a model that is away already
            self._leave(old)
            _log.info("%s: unloaded", name)

    def _leave(self, old: Mapping[int, Serving]) -> None:
        """Has versions answer what they have, and then end."""
        for serving in old.values():
            task = asyncio.create_task(serving.close())
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    def find(self, name: str, version: str | None = None) -> Serving:
        """The model that serves; the newest version unless one is named. Give it the request before
        you wait for anything.

        Raises: ServiceError "missing" for what there is not, "unready" for what does not serve.
        """
        entry = self._entry(name)
        if not version:
            if not entry.versions:
                why = "; ".join(entry.reasons.values()) or "it is being loaded"
                raise ServiceError("unready", f"the model {name!r} does not serve: {why}")
            return entry.versions[max(entry.versions)]
        number = whole_number(version)
        if number in entry.versions:
            return entry.versions[number]
        if number in entry.reasons:
            why = f"the model {name!r}, version {number}, does not serve: {entry.reasons[number]}"
            raise ServiceError("unready", why)
        known = ", ".join(map(str, entry.versions)) or "none"
        raise ServiceError(
            "missing", f"the model {name!r} has no version {version!r:.40}; there are: {known}"
        )

    def versions(self, name: str) -> list[int]:
        """The versions that serve."""
        return sorted(self._entry(name).versions)

    def index(self) -> list[dict[str, str]]:
        """Every version of every model, and its state, as Triton's repository extension has it."""
        found = []
        for name, entry in self._entries.items():
            rows = {version: ("UNAVAILABLE", why) for version, why in entry.reasons.items()}
            rows |= dict.fromkeys(entry.versions, ("READY", ""))
            for version, (state, why) in sorted((rows or {0: ("LOADING", "")}).items()):
                number = str(version) if version else ""
                found.append({"name": name, "version": number, "state": state, "reason": why})
        return found

    def _entry(self, name: str) -> _Entry:
        if name not in self._entries:
            known = ", ".join(self._entries) or "none"
            raise ServiceError("missing", f"there is no model {name!r}; there are: {known}")
        return self._entries[name]

    async def close(self) -> None:
        """Answers what waits, then frees all models."""
        self.stopping = True
        for entry in self._entries.values():
            old, entry.versions = entry.versions, {}
            self._leave(old)
        await asyncio.gather(*self._leaving)
        self._worker.close()
