"""Pickles from strangers. A pickle is a program; these two steps keep it from doing anything.

`check` reads its instructions without running them and refuses all that a file of weights does not
need. `Restricted` then runs it, and looks names up in a table of ours instead of importing them.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ..errors import FormatError

_ALLOWED = frozenset(
    [
        "PROTO",
        "FRAME",
        "STOP",
        "MARK",
        "POP",
        "POP_MARK",
        "DUP",
        "NONE",
        "NEWTRUE",
        "NEWFALSE",
        "INT",
        "BININT",
        "BININT1",
        "BININT2",
        "LONG",
        "LONG1",
        "LONG4",
        "FLOAT",
        "BINFLOAT",
        "STRING",
        "BINSTRING",
        "SHORT_BINSTRING",
        "UNICODE",
        "BINUNICODE",
        "SHORT_BINUNICODE",
        "BINUNICODE8",
        "BINBYTES",
        "SHORT_BINBYTES",
        "EMPTY_TUPLE",
        "TUPLE",
        "TUPLE1",
        "TUPLE2",
        "TUPLE3",
        "EMPTY_LIST",
        "LIST",
        "APPEND",
        "APPENDS",
        "EMPTY_DICT",
        "DICT",
        "SETITEM",
        "SETITEMS",
        "PUT",
        "BINPUT",
        "LONG_BINPUT",
        "MEMOIZE",
        "GET",
        "BINGET",
        "LONG_BINGET",
        "GLOBAL",
        "STACK_GLOBAL",
        "REDUCE",
        "BUILD",
        "BINPERSID",
    ]
)
_TUPLES = frozenset(["TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"])

MAX_DEPTH = 64
"""Tuples within tuples: hashing very deep ones overflows the stack of the interpreter."""

_TROUBLE = (
    pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError,
    MemoryError, OverflowError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What the interpreter raises for damaged pickles."""


# Why: docs/decisions/pytorch.md, "A checkpoint's pickle is read twice, and imports nothing"
def check(file: io.BytesIO, source: str, names: Mapping[str, Named] | None = None) -> None:
    """Reads over a pickle, to its end. Raises FormatError for instructions that
    create objects in other ways than `Restricted` controls, for tuples that are nested too deep,
    for keys of the memo that would make it huge, for damage, and for names that are not in the
    table."""
    depths: list[int | None] = []  # of each object on the stack; None is a mark
    memo: dict[int, int] = {}
    count = 0
    try:
        for op, argument, _ in pickletools.genops(file):
            count += 1
            if op.name == "GLOBAL" and names is not None:
                _known(str(argument).replace(" ", ".", 1), names, source)
            if op.name not in _ALLOWED:
                _refuse(source, f"the instruction {op.name}")
            if op.name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
                key = len(memo) if op.name == "MEMOIZE" else int(argument or 0)
                if key > count:
                    _refuse(source, f"the key {key} of the memo")
                memo[key] = _top(depths)
            elif op.name in ("GET", "BINGET", "LONG_BINGET"):
                depths.append(memo[int(argument or 0)])
            elif op.name == "DUP":
                depths.append(_top(depths))
            else:
                _step(op, depths, source)
    except _TROUBLE as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{source}: the pickle is damaged: {str(error)[:200]}") from error


def _step(op: pickletools.OpcodeInfo, depths: list[int | None], source: str) -> None:
    """The stack behind an instruction, of which pickletools tells what it takes and leaves."""
    taken = [0]
    for each in reversed(op.stack_before):
        if each is pickletools.markobject:
            continue
        if each is pickletools.stackslice:
            while (depth := depths.pop()) is not None:
                taken.append(depth)
        else:
            taken.append(depths.pop() or 0)
    if op.name == "POP_MARK":
        return
    depth = max(taken) + (op.name in _TUPLES)
    if depth > MAX_DEPTH and op.name in _TUPLES:
        _refuse(source, f"tuples that are nested {depth} deep")
    # A list or a dict cannot be hashed, and what a call gives is not a tuple of its arguments.
    depth = depth if op.name in _TUPLES else 0
    depths += [None if each is pickletools.markobject else depth for each in op.stack_after]


def _top(depths: list[int | None]) -> int:
    return depths[-1] or 0


def _known(name: str, names: Mapping[str, Named], source: str) -> Named:
    if name in names:
        return names[name]
    raise FormatError(
        f"{source}: the file asks for {name}, which may run code of its author's and is not "
        "loaded; save the state_dict() alone"
    )


def _refuse(source: str, what: str) -> NoReturn:
    raise FormatError(f"{source}: the pickle uses {what}, which no file of weights needs")


class Named:
    """What a name in a pickle stands for: a value of ours, which the pickle can hand on but not
    change (the instruction BUILD sets attributes)."""

    __slots__ = ("value",)

    value: Any

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "value", value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be changed")


class Function(Named):
    """A function that a pickle may call."""

    __slots__ = ()

    def __call__(self, *args: object) -> object:
        return self.value(*args)


class State(dict[Any, Any]):
    """A dict for an OrderedDict: the attributes that a pickle gives it, such as the `_metadata` of
    a state_dict, are left out."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        pass


class Restricted(pickle.Unpickler):
    """An unpickler that imports nothing: names stand for what `names` has for them.

    names: by "module.name". persistent: what a persistent id,
    of this format a tuple, stands for.
    """

    def __init__(
        self,
        file: io.BytesIO,
        source: str,
        names: Mapping[str, Named],
        persistent: Callable[[object], object],
    ) -> None:
        super().__init__(file, encoding="latin-1")
        self._source, self._names, self._persistent = source, names, persistent

    def find_class(self, module: str, name: str) -> Named:
        """What a name stands for. Raises FormatError for one that is not in the table."""
        return _known(f"{module}.{name}", self._names, self._source)

    def persistent_load(self, pid: object) -> object:
        """What a persistent id stands for."""
        return self._persistent(pid)

    def run(self) -> Any:
        """The object. Raises FormatError."""
        try:
            return self.load()
        except _TROUBLE as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(
                f"{self._source}: the pickle is damaged: {str(error)[:200]}"
            ) from error
