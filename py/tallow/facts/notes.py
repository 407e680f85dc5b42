"""What a function reads of facts while it is traced, and whether it is the same later."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol
from weakref import ref

from ..core import context
from ..errors import TracingError, line_of_user
from .changes import WHOLE, Key, log, parts
from .identity import MISSING, equal, identity, lasts, text
from .reads import reads


class Traced(Protocol):
    """A function that is being traced: the value of `context.trace`."""

    facts: Notes


class Note(NamedTuple):
    """A fact, as a function read it. read: gives what it is now, by owner and name."""

    owner: ref[Any]
    name: Hashable
    read: Callable[[Any, Any], Any]
    value: Hashable

    def matches(self) -> bool:
        """Whether it is the same now. An object that no longer exists decides nothing."""
        owner = self.owner()
        return owner is None or equal(identity(self.read(owner, self.name)), self.value)


def note(owner: object, name: Hashable, read: Callable[[Any, Any], Any]) -> None:
    """Records that the function that is traced here, if any, depends on a fact."""
    tracing: Traced | None = context.trace.get()
    if tracing is not None:
        tracing.facts.note(owner, name, read)


def _notes_itself(value: object) -> bool:
    """Whether this is a fact or a table."""
    return getattr(type(value), "fact_notes_itself", False)


def _plain(owner: object, name: object) -> Any:
    """A plain attribute, found on the instance."""
    return object.__getattribute__(owner, "__dict__").get(name, MISSING)


def _class(owner: object, name: object) -> Any:
    return type(owner)


class Notes:
    """What a function has read of facts, while it is traced. name: the function's."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._since = log.total
        self._notes: dict[Key, Note | None] = {}  # None: the function set it first
        self._own: dict[Key, str] = {}  # what it set after it read it, and on which line
        self._open: dict[Key, Note] = {}  # what may change without a count
        self._on_classes: dict[tuple[type, str], Any] = {}
        self._held: dict[int, Any] = {}  # so that no id is used again
        # How many changes there had been when a fact was last read, and an attribute looked up.
        self._looked: dict[Key, int] = {}
        self._looked_up: dict[Key, int] = {}

    def note(self, owner: object, name: Hashable, read: Callable[[Any, Any], Any]) -> None:
        """Notes a fact with the value that it has. TracingError if it had another one before."""
        key = id(owner), name
        if self._looked.get(key) == log.total:
            return
        if key[0] not in self._held:
            self._held[key[0]] = owner
        log.watch(owner)
        self._looked[key] = log.total
        known = self._notes.get(key, MISSING)
        if known is None or key in self._own:
            return
        value = read(owner, name)
        found = identity(value)
        if known is not MISSING:
            if not equal(known.value, found):
                raise self._changed(known, found)
            return
        made = self._notes[key] = Note(ref(owner), name, read, found)
        content = getattr(type(value), "fact_content", None)
        if content is not None:
            self.note(value, WHOLE, content)
        elif not lasts(value):
            self._open[key] = made

    def attribute(self, owner: object, name: str) -> None:
        """Notes an attribute of a module, wherever it is found."""
        key, now = (id(owner), name), log.total
        if self._looked_up.get(key) == now:
            return
        self._held[key[0]] = owner
        self._looked_up[key] = now
        kind, own = type(owner), object.__getattribute__(owner, "__dict__")
        on_class, found = getattr(kind, name, MISSING), own.get(name, MISSING)
        if _notes_itself(on_class) or _notes_itself(found):
            return
        if found is MISSING and on_class is MISSING:
            tables = [each for each in own.values() if _notes_itself(each)]
            if any(dict.__contains__(each, name) for each in tables):
                return  # the table that has it notes it
            for each in tables:
                each.get(name)  # which notes that it is not there
            self._on_classes.setdefault((kind, name), MISSING)
        elif found is MISSING or hasattr(on_class, "__set__"):
            if _ours(kind, name):
                return
            self._on_classes.setdefault((kind, name), on_class)
        self.note(owner, "__class__", _class)
        self.note(owner, name, _plain)

    def wrote(self, owner: object, name: Hashable) -> None:
        """Records that the function sets a fact itself: later reads are no dependency."""
        for part in parts(name):
            key = id(owner), part
            if self._notes.get(key) is not None:
                self._own[key] = line_of_user()
            elif part is not WHOLE or name is WHOLE:
                self._held[id(owner)] = owner
                self._notes[key] = None

    def forget(self, owner: object) -> None:
        """Drops the dependencies on an owner, which the function changes itself."""
        for table in (self._notes, self._open, self._own, self._looked, self._looked_up):
            for key in [key for key in table if key[0] == id(owner)]:
                del table[key]

    def facts(self) -> Facts:
        """What the plan depends on. Raises TracingError if a fact that was read is another one
        now."""
        self._since = log.total
        notes = {key: each for key, each in self._notes.items() if each is not None}
        for key, each in notes.items():
            doubtful = key in self._open or key in self._own or self._looked[key] != self._since
            if doubtful and not each.matches():
                raise self._changed(each, identity(each.read(each.owner(), each.name)))
        return Facts(notes, list(self._open.values()), self._on_classes, self._since)

    # Why: docs/decisions/jit.md, "A function may not change what it has read"
    def _changed(self, found: Note, now: Hashable) -> TracingError:
        owner = found.owner()
        said = getattr(type(owner), "fact_said", None)
        what = said(owner, found.name) if said else f"{type(owner).__name__}.{found.name}"
        line = self._own.get((id(owner), found.name))
        before = found.value
        if found.read is _plain and (type(owner), found.name) in self._on_classes:
            before = identity(self._on_classes[type(owner), str(found.name)])
        who = "it" if line else "something else, such as another thread,"
        return TracingError(
            f"{line or line_of_user()}: {self._name}() read {what}, which was "
            f"{text(before)}, and {who} set it to {text(now)} while @tl.jit traced the "
            "function: a plan would not know of the change. Set it before the call, or keep what "
            "changes in a tl.Variable or an nn.Buffer"
        )


_OTHER = object()
"""Nothing is the same as this."""


# Why: docs/decisions/jit.md, "A plan depends on the values that its function read, and setters
# count"
class Facts:
    """The facts that a plan depends on."""

    def __init__(
        self,
        notes: Mapping[Key, Note],
        uncounted: Iterable[Note],
        on_classes: Mapping[tuple[type, str], Any],
        since: int,
    ) -> None:
        self._notes, self._since = notes, since
        self._open = list(uncounted)
        self._on_classes = [
            (*key, value if lasts(value) else _OTHER, identity(value))
            for key, value in on_classes.items()
        ]
        self._others: set[Key] = set()  # which are other ones now

    def match(self) -> bool:
        """Whether all are as they were. What counts its changes is compared if it has changed."""
        if self._since != log.total:
            self._compare()
        if self._others:
            return False
        for kind, name, value, found in self._on_classes:
            now = getattr(kind, name, MISSING)
            if now is not value and not equal(identity(now), found):
                return False
        return not self._open or all(each.matches() for each in self._open)

    def _compare(self) -> None:
        now, changed = log.since(self._since)
        keys = self._notes if changed is None else {
            (number, part) for number, name in changed for part in parts(name)
        }  # fmt: skip
        for key in keys:
            found = self._notes.get(key)
            if found is not None:
                (self._others.discard if found.matches() else self._others.add)(key)
        self._since = now


_LIBRARY = __name__.partition(".")[0]


def _ours(kind: type, name: str) -> bool:
    """Whether a class of Tallow's defines an attribute, which nobody replaces; but `forward`."""
    if name == "forward":
        return False
    by = next(each.__module__ for each in kind.__mro__ if name in each.__dict__)
    return by.partition(".")[0] in (_LIBRARY, "builtins", "typing", "abc")


def wrote(owner: object, name: Hashable) -> None:
    """Records that a fact has changed; setters call it."""
    log.add(owner, name)
    if reads.running:
        tracing: Traced | None = context.trace.get()
        if tracing is not None:
            tracing.facts.wrote(owner, name)


def became(owner: object) -> None:
    """Says that an object is of another class now, by its own doing: what a function that is traced
    has read of it before is no condition."""
    tracing: Traced | None = context.trace.get()
    if tracing is not None:
        tracing.facts.forget(owner)


@contextmanager
def noting(tracing: Traced) -> Iterator[None]:
    """Within it, this function is traced, and what it reads of facts is noted."""
    reads.begin()
    try:
        with context.trace.override(tracing):
            yield
    finally:
        reads.end()
