"""docs/onnx-support.md: the outcome of every official case, by operator type and device.

A run on one device keeps the page's results for the other device, which it reads from the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache

import onnx
from onnx import defs

from tallow.errors import OnnxUnsupportedError
from tallow.formats.onnx.registry import NEWEST, OLDEST, find, host_operators, operators
from tallow_build.paths import ROOT

from .cases import SETS, group_of
from .listed import DEVICES
from .outcomes import Outcome

PAGE = ROOT / "docs" / "onnx-support.md"

_NAMES = {"numpy": "NumPy", "webgpu": "WebGPU"}
_GPU_CASES = "node, GPU types"
_HEAD = "| device | cases | passed | of | | failed | refused | with a kernel |\n"
_HEAD += "|---|---|--:|--:|--:|--:|--:|--:|\n"
_COLUMNS = "| operator | opsets (definitions) | NumPy passed | failed | refused "
_COLUMNS += "| WebGPU passed | failed | refused | with a kernel |\n"
_COLUMNS += "|---|---|--:|--:|--:|--:|--:|--:|--:|\n"


@dataclass(frozen=True)
class Counts:
    """Counts of cases by outcome. native: those that passed and ran a kernel."""

    passed: int = 0
    failed: int = 0
    refused: int = 0
    native: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.refused

    def leaves(self, others: int, counted: Counts) -> bool:
        """Whether these can be the counts of what was counted and that many other cases. Those
        alone are no reason for an operator to have a kernel."""
        mine, taken = astuple(self), astuple(counted)
        passed, failed, refused, native = (a - b for a, b in zip(mine, taken, strict=True))
        fits = min(passed, failed, refused, native) >= 0 and native <= passed
        known = counted.native > 0 or not self.native
        return fits and known and passed + failed + refused == others

    @staticmethod
    def of(outcomes: Sequence[Outcome]) -> Counts:
        """Those of some outcomes."""
        by = {name: sum(o.status == name for o in outcomes) for name in ("failed", "refused")}
        passed = [o for o in outcomes if o.passed]
        return Counts(len(passed), **by, native=sum(o.dispatches > 0 for o in passed))


Row = tuple[str, str]
"""A device, and a group of cases or a set of them."""


def count(outcomes: Sequence[Outcome], device: str) -> dict[Row, Counts]:
    """The rows of a run on a device: by group, by set, and the node cases for a GPU."""
    parts: dict[str, list[Outcome]] = {name: [] for name in (*SETS, _GPU_CASES)}
    for outcome in outcomes:
        case = outcome.case
        parts[case.set].append(outcome)
        if case.set == "node":
            parts.setdefault(case.group, []).append(outcome)
            if case.for_gpu:
                parts[_GPU_CASES].append(outcome)
    return {(device, name): Counts.of(some) for name, some in parts.items()}


def groups(rows: Mapping[Row, Counts]) -> list[str]:
    """The operator types, and the sets of whole models, that rows are about."""
    return sorted({name for _, name in rows} - {"node", _GPU_CASES}, key=str.lower)


def page(rows: Mapping[Row, Counts]) -> str:
    """The whole page."""
    names = [name for name in groups(rows) if name not in SETS]
    untested = sorted(set(_covered()) - set(names), key=str.lower)
    return _TEXT.format(
        version=onnx.__version__,
        oldest=OLDEST,
        newest=NEWEST,
        columns=_COLUMNS,
        totals=_HEAD + "".join(_totals(rows)),
        types="".join(_types(rows, names)),
        operators="".join(_operator(rows, name) for name in names),
        untested=", ".join(f"{name} ({_covered()[name]})" for name in untested) or "none",
    )


_TEXT = """# ONNX operators

The official cases of the package onnx {version}, by operator type: how many pass with the official
runner's comparison and tolerances, fail, and are refused in one line that says what is missing.
`python3 build.py conformance [--device numpy|webgpu]` makes this page; WebGPU is that of headless
Chromium. `tests/onnx/conformance/not_passing.txt` has the reason of each case that does not pass,
or not on every machine, which counts as failed. The tests hold both to what happens; on WebGPU they
run the first function body of each operator. Tallow knows the operator sets {oldest} to {newest},
and of older ones what has not changed or is easily told.

*Node* cases are about one operator each, as itself or as the function body that the standard has.
*GPU types* are those of them whose inputs, outputs and weights are float32, int32, int64, uint8,
int8 or bool. *With a kernel*: of those that passed, how many ran at least one on the GPU; the
others were known when the model was loaded, are another shape of the same bytes, or are float64,
which NumPy computes.

{totals}
{types}
{columns}{operators}
Operators without an official case that Tallow has: {untested}.
"""


def _totals(rows: Mapping[Row, Counts]) -> Iterable[str]:
    for device in DEVICES:
        for name in ("node", _GPU_CASES, *SETS[1:]):
            counts = rows.get((device, name))
            if counts is None:
                continue
            share = f"{100 * counts.passed / max(counts.total, 1):.1f} %"
            native = counts.native if device == "webgpu" else ""
            yield (
                f"| {_NAMES[device]} | {name} | {counts.passed} | {counts.total} | {share} | "
                f"{counts.failed} | {counts.refused} | {native} |\n"
            )


def _types(rows: Mapping[Row, Counts], names: Sequence[str]) -> Iterable[str]:
    """A sentence per device about operator types."""
    for device in DEVICES:
        known = [rows[device, name] for name in names if (device, name) in rows]
        if known:
            some = sum(counts.passed > 0 for counts in known)
            whole = sum(counts.passed == counts.total for counts in known)
            native = sum(counts.native > 0 for counts in known)
            ran = f", {native} ran on the GPU" if device == "webgpu" else ""
            yield (
                f"{_NAMES[device]}: of {len(known)} operator types {some} pass a case, "
                f"{whole} pass all of theirs{ran}.\n"
            )


def _operator(rows: Mapping[Row, Counts], name: str) -> str:
    cells: list[object] = [name, _covered().get(name, "")]
    for device in DEVICES:
        counts = rows.get((device, name))
        cells += [counts.passed, counts.failed, counts.refused] if counts else [""] * 3
    last = rows.get(("webgpu", name))
    cells.append(last.native if last else "")
    return f"| {' | '.join(map(str, cells))} |\n"


@cache
def _covered() -> dict[str, str]:
    """The operator sets in which Tallow has each of its operators, and their definitions."""
    newest: dict[str, int] = {}
    history: dict[tuple[str, str], list[defs.OpSchema]] = {}
    for schema in defs.get_all_schemas_with_history():
        newest[schema.domain] = max(newest.get(schema.domain, 0), schema.since_version)
        history.setdefault((schema.domain, schema.name), []).append(schema)
    covered = {}
    for key in {**host_operators(), **operators()}:
        defined = [schema.since_version for schema in history.get(key, ()) if not schema.deprecated]
        ends = [schema.since_version for schema in history.get(key, ()) if schema.deprecated]
        last = min(ends, default=newest.get(key[0], 0) + 1) - 1
        sets = [opset for opset in range(1, last + 1) if _has(*key, opset)]
        if sets:
            begun = max((v for v in defined if v <= sets[0]), default=sets[0])
            versions = ", ".join(str(v) for v in sorted(defined) if v >= begun)
            covered[group_of(*key)] = f"{sets[0]}–{sets[-1]} ({versions})"
    return covered


def _has(domain: str, name: str, opset: int) -> bool:
    try:
        find(domain, name, opset)
    except OnnxUnsupportedError:
        return False
    return True


def parse(text: str) -> dict[Row, Counts]:
    """Parses the rows of a page written by `page`."""
    rows: dict[Row, Counts] = {}
    by_name = {name: device for device, name in _NAMES.items()}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| "):
            continue
        if cells[0] in by_name:
            passed, failed, refused, native = cells[2], cells[5], cells[6], cells[7] or 0
            rows[by_name[cells[0]], cells[1]] = Counts(*map(int, (passed, failed, refused, native)))
        elif len(cells) == 9:
            for device, numbers in (("numpy", cells[2:5]), ("webgpu", cells[5:9])):
                if all(number.isdigit() for number in numbers):
                    rows[device, cells[0]] = Counts(*map(int, numbers))
    return rows


def write(outcomes: Sequence[Outcome], device: str) -> None:
    """Updates the page with a run of all cases on a device."""
    old = parse(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    others = {row: counts for row, counts in old.items() if row[0] != device}
    PAGE.write_text(page(others | count(outcomes, device)), "utf-8")
