"""The figures as an SVG: bars on logarithmic scales, a panel for each kind of figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from bench.engines import ENGINES
from bench.table import milliseconds

Row = dict[str, Any]

COLOURS = dict(zip(ENGINES, ("#d9480f", "#1c7ed6", "#f5a97f", "#8fc1ea"), strict=True))

WIDTH, LEFT, RIGHT = 900, 210, 110
BAR, GAP, HEAD = 14, 14, 46

STYLE = """text { font: 13px system-ui, sans-serif; fill: #222 } .title { font-size: 16px }
.page { fill: #fff } .grid { stroke: #8884 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .page { fill: #1b1b1b } }"""


@dataclass(frozen=True)
class Panel:
    """One kind of figure: its title, the key of the rows, and how a value is written."""

    title: str
    key: str
    rows: Sequence[Row]

    def value(self, row: Row) -> float | None:
        """The row's figure; None if there is none."""
        return row.get(self.key) or None

    def text(self, value: float) -> str:
        """The figure in words."""
        return milliseconds(value) if self.key.endswith("_ms") else f"{value:.2f}"


def chart(networks: Sequence[Row], micro: Sequence[Row], note: str) -> str:
    """The whole drawing. note: the line below it."""
    panels = [
        Panel("Warm run, milliseconds (shorter is better)", "warm_ms", networks),
        Panel("First run, creation included, milliseconds (shorter is better)", "first_ms",
              networks),
        Panel("Operators, GFLOP/s (longer is better)", "gflops", micro),
    ]  # fmt: skip
    parts, y = list(_legend([*networks, *micro])), 50
    for panel in panels:
        if any(panel.value(row) for row in panel.rows):
            drawn, y = _panel(panel, y)
            parts += drawn
    parts.append(_text(16, y + 10, note))
    height = y + 30
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">\n'
        f'<style>{STYLE}</style>\n<rect class="page" width="{WIDTH}" height="{height}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _text(x: float, y: float, words: str, rest: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {rest}>{escape(words)}</text>'


def _legend(rows: Sequence[Row]) -> list[str]:
    engines = dict.fromkeys(row["engine"] for row in rows)
    parts = []
    for place, engine in enumerate(engines):
        x = 16 + 150 * place
        parts.append(f'<rect x="{x}" y="16" width="12" height="12" fill="{COLOURS[engine]}"/>')
        parts.append(_text(x + 18, 27, engine))
    return parts


def _panel(panel: Panel, y: float) -> tuple[list[str], int]:
    """A panel that begins at y, and where it ends."""
    values = [value for row in panel.rows if (value := panel.value(row))]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)

    def x_of(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - low) / (high - low)

    parts, top = [], y + HEAD
    y = top
    for title in dict.fromkeys(row["title"] for row in panel.rows):
        mine = [row for row in panel.rows if row["title"] == title]
        middle = y + BAR * len(mine) / 2 + 4
        parts.append(_text(LEFT - 10, middle, title, 'text-anchor="end"'))
        for row in mine:
            value = panel.value(row)
            length = max(x_of(value) - LEFT, 2) if value else 0
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}" '
                f'fill="{COLOURS[row["engine"]]}"/>'
            )
            words = panel.text(value) if value else "failed"
            parts.append(_text(LEFT + length + 6, y + BAR - 3, words))
            y += BAR
        y += GAP
    grid = []
    for power in range(low, high + 1):
        x = x_of(10.0**power)
        grid.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 6}" y2="{y - 8}"/>')
        grid.append(_text(x, top - 10, f"{10.0**power:,g}", 'text-anchor="middle"'))
    title = _text(16, top - 28, panel.title, 'class="title"')
    return [title, *grid, *parts], int(y) + 10
