"""not_passing.txt: the cases that are expected not to pass, with reasons; runs must match it.

A line is DEVICES, PATTERN and REASON. DEVICES: numpy, webgpu or all. PATTERN: a case's id, with *
for any text. Every case that matches must not pass on those devices, and every other one must.
DEVICES with a question mark: the machine decides whether it passes, and it counts as failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from .cases import Case
from .outcomes import Outcome

LIST = Path(__file__).with_name("not_passing.txt")
DEVICES = ("numpy", "webgpu")

_HEADER = "# Official cases that do not pass: DEVICES PATTERN REASON. listed.py tells more.\n\n"


@dataclass(frozen=True)
class Entry:
    """One line of the list. number: which. unsure: whether the machine decides."""

    number: int
    devices: tuple[str, ...]
    pattern: str
    reason: str
    unsure: bool = False

    def matches(self, case: Case) -> bool:
        """Whether the entry matches the case."""
        return fnmatchcase(case.id, self.pattern)

    def __str__(self) -> str:
        devices = "all" if self.devices == DEVICES else ",".join(self.devices)
        devices += "?" if self.unsure else ""
        return f"{devices:6} {self.pattern}  {self.reason}"


def read(text: str) -> list[Entry]:
    """The entries of the list; ValueError for an invalid line."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(maxsplit=2)
        if len(parts) < 3:
            raise ValueError(f"line {number} is not DEVICES PATTERN REASON: {line}")
        names = parts[0].removesuffix("?")
        devices = DEVICES if names == "all" else tuple(names.split(","))
        if not set(devices) <= set(DEVICES):
            raise ValueError(f"line {number}: {parts[0]} is not all, {', '.join(DEVICES)}")
        entries.append(Entry(number, devices, parts[1], parts[2], names != parts[0]))
    return entries


def settled(outcomes: Iterable[Outcome], device: str, entries: Sequence[Entry]) -> list[Outcome]:
    """The outcomes independent of the machine: cases that depend on it count as failed."""
    unsure = [entry for entry in entries if entry.unsure and device in entry.devices]
    return [
        replace(outcome, status="failed", reason="the machine decides", dispatches=0)
        if any(entry.matches(outcome.case) for entry in unsure)
        else outcome
        for outcome in outcomes
    ]


def deviations(outcomes: Iterable[Outcome], device: str, entries: Sequence[Entry]) -> list[str]:
    """The deviations from the list, each with the line to change."""
    found = []
    for outcome in outcomes:
        case = outcome.case
        entry = next((e for e in entries if device in e.devices and e.matches(case)), None)
        if outcome.passed and entry:
            found.append(
                f"{case.id} passes on {device}: take it out of {LIST.name}, line {entry.number}, "
                f"{entry.pattern!r}"
            )
        elif not outcome.passed and not entry:
            found.append(
                f"{case.id} {outcome.status} on {device}: {outcome.reason}; mend it, or add the "
                f"line '{device} {case.id} REASON' to {LIST.name}"
            )
    return found


def idle(cases: Sequence[Case], entries: Sequence[Entry]) -> list[str]:
    """Entries that no case matches."""
    return [
        f"{LIST.name}, line {entry.number}: there is no case {entry.pattern!r}; take the line out"
        for entry in entries
        if not any(entry.matches(case) for case in cases)
    ]


def updated(outcomes: Sequence[Outcome], device: str, entries: Sequence[Entry]) -> list[Entry]:
    """The entries as a run on a device wants them: a pattern of which a case passes becomes an
    entry for each that does not, and what is new has its outcome's words as the reason."""
    wanted: list[Entry] = []
    for entry in entries:
        meant = [o for o in outcomes if device in entry.devices and entry.matches(o.case)]
        if not any(outcome.passed for outcome in meant):
            wanted.append(entry)
            continue
        others = tuple(name for name in entry.devices if name != device)
        if others:
            wanted.append(Entry(0, others, entry.pattern, entry.reason))
        left = [o.case.id for o in meant if not o.passed]
        wanted += [Entry(0, (device,), name, entry.reason) for name in left]
    for outcome in outcomes:
        known = any(device in entry.devices and entry.matches(outcome.case) for entry in wanted)
        if not outcome.passed and not known:
            wanted.append(Entry(0, (device,), outcome.case.id, outcome.reason))
    return _merged(wanted)


def _merged(entries: Sequence[Entry]) -> list[Entry]:
    """One entry per pattern, or two if one is unsure; the first reason is kept."""
    merged: dict[tuple[str, bool], Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.pattern):
        key = entry.pattern, entry.unsure
        other = merged.get(key, entry)
        devices = tuple(d for d in DEVICES if d in (*other.devices, *entry.devices))
        merged[key] = replace(other, number=0, devices=devices)
    return list(merged.values())


def text(entries: Sequence[Entry]) -> str:
    """The list as a file."""
    return _HEADER + "".join(f"{entry}\n" for entry in entries)
