"""What a borrower may do with this machine's device: the other end of devices/remote/.

A `Visit` answers messages, and knows nothing of sockets. It holds the borrower's buffers and
programs, by the numbers that the borrower gave them. What failed leaves its error in the place of
what it would have made, and a request that needs it gets that error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ..compile import Compiled, Plan
from ..core.drivers import run_sync
from ..core.dtype import BY_NAME
from ..core.hostarray import HostArray
from ..devices.remote.backend import limits_as_json
from ..devices.remote.wire import Message, error_as_json
from ..errors import DeviceMemoryError, PlanError, TallowError
from ..runtime.base import Backend, Program
from ..runtime.buffer import Buffer

Reply = tuple[dict[str, Any], list[Any]]
_Handler = Callable[[dict[str, Any], list[memoryview]], Reply]

MOST_SECONDS = 10.0
"""Of a profile."""


def about(backend: Backend) -> dict[str, Any]:
    """What a borrower compiles for."""
    try:
        record = backend.tuning_record()
    except (OSError, TallowError):
        record = None  # a borrower can do without
    return {
        "device": backend.target.name,
        "adapter": backend.info.adapter,
        "features": list(backend.info.features),
        "limits": limits_as_json(backend.limits),
        "held": {
            name: backend.memory.held_type(dtype).name
            for name, dtype in BY_NAME.items()
        },
        "tuning": record,
    }  # fmt: skip


class Visit:
    """A borrower's buffers and programs.

    most: bytes that they may take together.
    """

    def __init__(self, backend: Backend, most: int) -> None:
        self._backend, self._most = backend, most
        self._buffers: dict[int, Buffer | TallowError] = {}
        self._programs: dict[int, Program | TallowError] = {}
        self._sizes: dict[int, int] = {}  # of programs
        self._handlers: Mapping[str, _Handler] = {
            "load": self._load, "close": self._close, "upload": self._upload,
            "clone": self._clone, "read": self._read, "states": self._states, "run": self._run,
            "profile": self._profile,
        }  # fmt: skip

    @property
    def nbytes(self) -> int:
        """What the visit takes now."""
        held = sum(each.nbytes for each in self._buffers.values() if isinstance(each, Buffer))
        return held + sum(self._sizes.values())

    def answer(self, message: Message) -> Reply | None:
        """The answer to a message; None to one that needs none."""
        header = message.header
        number = header.get("id")
        self._free(header.get("free", ()))
        try:
            handler = self._handlers.get(str(header.get("do")))
            if handler is None:
                raise PlanError(f"{header.get('do')!r:.80} is nothing that a borrower may do")
            found, parts = handler(header, message.parts)
        except TallowError as error:
            found, parts = {"error": error_as_json(error)}, []
        except Exception as error:  # of any kind: a stranger wrote the message, and its plan
            words = f"the message {header.get('do')!r:.80} is incomplete or wrong: {error!r:.200}"
            found, parts = {"error": error_as_json(PlanError(words))}, []
        if number is None and "error" not in found:
            return None
        return ({**found, "id": number} if number is not None else found), parts

    def leave(self) -> None:
        """Frees all."""
        for program in self._programs.values():
            if not isinstance(program, TallowError):
                program.close()
        self._programs.clear()
        self._buffers.clear()
        self._sizes.clear()

    # ---- what may be done ----------------------------------------------------------------------

    def _load(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        number = int(header["program"])
        self._close({"program": number}, [])
        try:
            plan = Plan.from_json(str(parts[0], "utf-8"))
            if plan.device != self._backend.target.name:
                raise PlanError(
                    f"{plan.name} was made for {plan.device!r}, not {self._backend.target.name!r}"
                )
            weights = [
                (offset, HostArray(data, tuple(shape), BY_NAME[dtype]))
                for data, (offset, dtype, shape) in zip(parts[1:], header["weights"], strict=True)
            ]
            size = sum(slot.bytes for slot in plan.slots)
            self._check_room(size, plan.name)
            self._programs[number] = run_sync(self._backend.load(Compiled(plan, weights)))
            self._sizes[number] = size
        except TallowError as error:
            self._programs[number] = error
            raise
        return {}, []

    def _close(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        program = self._programs.pop(header["program"], None)
        self._sizes.pop(header["program"], None)
        if program is not None and not isinstance(program, TallowError):
            program.close()
        return {}, []

    def _upload(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        dtype, shape = header["array"]
        self._check_room(len(parts[0]), "an array")
        array = HostArray(parts[0], tuple(shape), BY_NAME[dtype])
        self._buffers[int(header["buffer"])] = self._backend.memory.upload(array)
        return {}, []

    def _clone(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        original = self._buffer(header["of"])
        self._check_room(original.nbytes, "a copy")
        self._buffers[int(header["buffer"])] = self._backend.memory.clone(original)
        return {}, []

    def _read(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        buffers = [self._buffer(each) for each in header["buffers"]]
        return _sent(run_sync(self._backend.memory.read(buffers)))

    def _states(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        states = []
        for number, updated in header["states"]:
            state = self._buffer(number)
            state.updated = state.updated or bool(updated)
            states.append(state)
        self._program(header).use_states(states)
        return {}, []

    def _run(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        keep: list[int | None] = header["keep"]
        try:
            program = self._program(header)
            wanted = [number is None for number in keep]
            found = run_sync(program.run(self._fed(header, parts), wanted))
        except TallowError as error:
            self._buffers.update({number: error for number in keep if number is not None})
            raise
        fetched = []
        for number, result in zip(keep, found, strict=True):
            if number is None:
                fetched.append(result)
            else:
                self._buffers[number] = result
        if self.nbytes > self._most:
            full = self._full(0, "what this run left")
            self._buffers.update({number: full for number in keep if number is not None})
            raise full
        return _sent(fetched)

    def _profile(self, header: dict[str, Any], parts: list[memoryview]) -> Reply:
        seconds = min(float(header["seconds"]), MOST_SECONDS)
        timing = run_sync(self._program(header).profile(self._fed(header, parts), seconds))
        return {"timing": asdict(timing)}, []

    # ---- what a message names ------------------------------------------------------------------

    def _fed(self, header: dict[str, Any], parts: list[memoryview]) -> list[Any]:
        """The inputs of a run: buffers by number, and the bytes that came along."""
        given = iter(parts)
        return [next(given) if n is None else self._buffer(n) for n in header["inputs"]]

    def _buffer(self, number: int) -> Buffer:
        found = self._buffers[number]
        if isinstance(found, TallowError):
            raise found
        return found

    def _program(self, header: dict[str, Any]) -> Program:
        found = self._programs[header["program"]]
        if isinstance(found, TallowError):
            raise found
        return found

    def _free(self, numbers: Any) -> None:
        for number in numbers if isinstance(numbers, list) else ():
            if isinstance(number, int):
                self._buffers.pop(number, None)

    def _check_room(self, size: int, what: str) -> None:
        if self.nbytes + size > self._most:
            raise self._full(size, what)

    def _full(self, size: int, what: str) -> DeviceMemoryError:
        return DeviceMemoryError(
            f"{what} does not fit: {self.nbytes + size:,} bytes would be in use, and the other "
            f"machine lends {self._most:,}; free tensors, or use a smaller model or batch"
        )


def _sent(arrays: list[HostArray]) -> Reply:
    return {"arrays": [[each.dtype.name, list(each.shape)] for each in arrays]}, [
        each.data for each in arrays
    ]
