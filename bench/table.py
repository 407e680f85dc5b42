"""The figures as tables, in Markdown that also reads well in a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from bench.engines import PEERS

Row = dict[str, Any]


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> str:
    """Rows below their titles, in columns; all but the first `texts` are numbers."""
    whole = [tuple(titles), *(tuple(row) for row in rows)]
    widths = [max(len(row[i]) for row in whole) for i in range(len(titles))]

    def line(cells: Sequence[str]) -> str:
        pads = (
            cell.ljust(width) if i < texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(pads)} |"

    rule = ["-" * w if i < texts else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(titles), line(rule), *map(line, whole[1:])])


def milliseconds(value: float | None) -> str:
    """A time with three significant digits."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f} ms"
    return f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def between(quartiles: Sequence[float]) -> str:
    """Two times: "1.20 to 1.31 ms"."""
    low, high = map(milliseconds, quartiles)
    return f"{low.removesuffix(' ms')} to {high}"


def share(value: float | None) -> str:
    """A time relative to the peer's: "1/8.1" is an eighth of it, "2.3 ×" is more."""
    if value is None:
        return ""
    return f"1/{1 / value:.1f}" if value < 1 else f"{value:.1f} ×"


def _bytes(value: int | None) -> str:
    return f"{value / 1e6:.2f} MB" if value else ""


def networks(rows: Sequence[Row]) -> str:
    """A row for each network on each engine."""
    libraries = list(dict.fromkeys(each for row in rows for each in row.get("warm_ms_of", ())))
    of = [f"of {library}" for library in libraries]
    titles = ("network", "engine", "boot", "first run", *of, "warm", "quartiles", *of, "Python",
              "GPU peak", "kernels", "dispatches")  # fmt: skip
    lines = []
    for row in rows:
        name = (row["case"], row["engine"])
        if row["failed"]:
            lines.append((*name, f"FAILED: {row['failed']}", *[""] * (len(titles) - 3)))
            continue
        lines.append(
            (
                *name,
                milliseconds(row["boot_ms"]),
                milliseconds(row["first_ms"]),
                *(share(row["first_ms_of"].get(each)) for each in libraries),
                milliseconds(row["warm_ms"]),
                between(row["quartiles_ms"]),
                *(share(row["warm_ms_of"].get(each)) for each in libraries),
                milliseconds(row["python_ms"]),
                _bytes(row["gpu_peak_bytes"]),
                str(row["kernels"] or ""),
                str(row["dispatches"] or ""),
            )
        )
    return table(titles, lines, 2)


def means(rows: Sequence[Row]) -> str:
    """A line for each engine and peer: the geometric mean of the ratios, and the largest one."""
    found: dict[tuple[str, str, str], list[tuple[float, str]]] = {}
    for row in rows:
        for time in ("first_ms", "warm_ms"):
            for library, ratio in row.get(f"{time}_of", {}).items():
                key = (row["engine"], library, time.removesuffix("_ms"))
                found.setdefault(key, []).append((ratio, row["case"]))
    return "\n".join(
        f"{engine} of {library}, {time}: {math.exp(fmean(math.log(r) for r, _ in ratios)):.2f} in "
        f"the geometric mean of {len(ratios)}, at most {max(ratios)[0]:.2f} ({max(ratios)[1]})"
        for (engine, library, time), ratios in found.items()
    )


def memory(rows: Sequence[Row]) -> str:
    """Tallow's GPU memory for activations, compared with the minimum that its steps need."""
    titles = ("network", "slots", "activations", "largest live set", "ratio")
    lines = [
        (
            row["case"],
            str(row["slots"]),
            _bytes(row["activation_bytes"]),
            _bytes(row["live_bytes"]),
            f"{row['activation_bytes'] / row['live_bytes']:.2f}",
        )
        for row in rows
        if row["engine"] == "tallow-webgpu" and not row["failed"]
    ]
    return table(titles, lines, 1)


def micro(rows: Sequence[Row]) -> str:
    """A row for each operator, with the GFLOP/s of each engine."""
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    peers = [
        (name, peer) for name in engines for peer in PEERS.get(name, {}).values() if peer in engines
    ]
    ratios = [f"{name} / {peer}" for name, peer in peers]
    speeds = {(row["title"], row["engine"]): row.get("gflops") for row in rows}
    lines = []
    for title in dict.fromkeys(row["title"] for row in rows):
        values = [speeds[title, engine] for engine in engines]
        quotients = [(speeds[title, name], speeds[title, peer]) for name, peer in peers]
        lines.append(
            (
                title,
                *("FAILED" if value is None else f"{value:.2f}" for value in values),
                *(f"{a / b:.1f}" if a and b else "" for a, b in quotients),
            )
        )
    return table(("GFLOP/s", *engines, *ratios), lines, 1)


def failures(rows: Sequence[Row]) -> str:
    """The failures, one per line."""
    return "\n".join(
        f"FAILED: {row['case']} on {row['engine']}: {row['failed']}"
        for row in rows
        if row["failed"]
    )
