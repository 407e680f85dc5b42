"""Writes stroke_digits.json: 300 digits as strokes on the page's pad, to test how they are read.

    python tests/data/make_stroke_digits.py

Thirty ways of writing, three of each digit, of which training uses none (the ones that it draws
itself have straight flags; here a flag is bowed, and the foot comes without a flag). Each is drawn
at ten sizes and widths of the brush, from lines as fine to blots as thick as a hand would still
call a digit, tilted by up to 25 degrees, slanted, wide and narrow, trembling, anywhere on the pad.
The seed is fixed.
"""

from __future__ import annotations

import json
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path
from random import Random

SIDE = 560  # of the pad, as in web/widgets/pad/pad.js

# The height of the digit and the width of the brush (the page has 20, 40 and 64).
SIZES = (
    (500, 64), (500, 20), (420, 64), (300, 64), (330, 20),
    (240, 64), (240, 20), (170, 40), (130, 40), (110, 20),
)  # fmt: skip

Point = tuple[float, float]
Line = list[Point]


def arc(x: float, y: float, rx: float, ry: float, start: float, end: float, n: int = 14) -> Line:
    """Part of an ellipse, in degrees from the right, clockwise on the page."""
    angles = [(start + (end - start) * i / (n - 1)) * pi / 180 for i in range(n)]
    return [(x + rx * cos(a), y + ry * sin(a)) for a in angles]


def line(*points: Point) -> Line:
    """Straight pieces, with points between, as a hand leaves them."""
    path = [points[0]]
    for (ax, ay), (bx, by) in pairwise(points):
        path += [(ax + (bx - ax) * i / 5, ay + (by - ay) * i / 5) for i in range(1, 6)]
    return path


# Strokes in a box of height 1; y goes down.
WAYS: dict[int, list[list[Line]]] = {
    0: [
        [arc(0.3, 0.5, 0.3, 0.5, -90, 270, 24)],
        [arc(0.4, 0.5, 0.4, 0.5, -60, -420, 24)],
        [arc(0.24, 0.5, 0.24, 0.5, -120, 250, 24)],
    ],
    1: [
        [line((0, 0), (0, 1))],
        [arc(0, 0, 0.2, 0.22, 90, 0, 6) + line((0.2, 0.02), (0.2, 1))],
        [line((0.2, 0), (0.2, 1)), line((-0.02, 1), (0.42, 1))],
    ],
    2: [
        [arc(0.3, 0.28, 0.3, 0.28, 190, 395, 12) + line((0.5, 0.5), (0.02, 1), (0.62, 1))],
        [arc(0.28, 0.25, 0.27, 0.25, 200, 420, 12) + line((0.32, 0.57), (0, 1), (0.6, 0.97))],
        [
            arc(0.27, 0.27, 0.27, 0.27, 180, 400, 12) + line((0.42, 0.52), (0.1, 0.86))
            + arc(0.1, 0.93, 0.08, 0.07, 270, 60, 8) + line((0.2, 0.9), (0.4, 0.97), (0.62, 0.95))
        ],
    ],
    3: [
        [
            arc(0.26, 0.25, 0.26, 0.25, 205, 440, 12)
            + arc(0.26, 0.74, 0.3, 0.26, -80, 150, 14)
        ],
        [line((0.04, 0), (0.54, 0), (0.26, 0.38)) + arc(0.25, 0.69, 0.31, 0.31, -85, 150, 14)],
        [
            arc(0.24, 0.24, 0.27, 0.24, 215, 430, 12) + line((0.33, 0.47), (0.2, 0.48))
            + arc(0.23, 0.74, 0.33, 0.26, -80, 140, 14)
        ],
    ],
    4: [
        [line((0.38, 0), (0, 0.66), (0.68, 0.66)), line((0.5, 0.32), (0.5, 1))],
        [line((0.1, 0), (0.04, 0.48), (0.56, 0.48)), line((0.5, 0.02), (0.48, 1))],
        [line((0.5, 1), (0.5, 0), (0, 0.7), (0.7, 0.7))],
    ],
    5: [
        [
            line((0.1, 0), (0.06, 0.43)) + arc(0.24, 0.68, 0.32, 0.32, -120, 140, 14),
            line((0.1, 0), (0.52, 0)),
        ],
        [line((0.5, 0), (0.08, 0), (0.06, 0.44)) + arc(0.25, 0.7, 0.29, 0.3, -130, 145, 14)],
        [
            line((0.14, 0.02), (0.1, 0.4), (0.3, 0.4)) + arc(0.26, 0.7, 0.28, 0.3, -80, 140, 12),
            line((0.14, 0.02), (0.6, 0.0)),
        ],
    ],
    6: [
        [line((0.42, 0), (0.1, 0.46)) + arc(0.28, 0.72, 0.28, 0.28, 210, -150, 20)],
        [arc(0.5, 0.6, 0.48, 0.6, 260, 180, 8) + arc(0.27, 0.72, 0.26, 0.28, 180, -170, 18)],
        [arc(0.44, 0.55, 0.44, 0.55, 280, 160, 10) + arc(0.3, 0.74, 0.26, 0.24, 140, -190, 18)],
    ],
    7: [
        [line((0, 0), (0.58, 0), (0.2, 1))],
        [line((0.02, 0.1), (0.03, 0), (0.6, 0), (0.24, 1))],
        [line((0, 0.02), (0.6, 0), (0.22, 1)), line((0.12, 0.5), (0.58, 0.48))],
    ],
    8: [
        [
            arc(0.3, 0.24, 0.22, 0.24, 90, 450, 18) + arc(0.3, 0.74, 0.28, 0.26, -90, 270, 18),
        ],
        [
            arc(0.3, 0.24, 0.24, 0.24, -30, -270, 14) + arc(0.3, 0.74, 0.28, 0.26, -90, 270, 18)
            + arc(0.3, 0.24, 0.24, 0.24, 90, -40, 8),
        ],
        [arc(0.28, 0.24, 0.25, 0.23, 0, 360, 18), arc(0.28, 0.74, 0.3, 0.26, -90, 270, 18)],
    ],
    9: [
        [arc(0.28, 0.27, 0.27, 0.27, -20, -380, 20) + line((0.54, 0.2), (0.5, 1))],
        [
            arc(0.28, 0.27, 0.28, 0.27, 0, -360, 20) + line((0.56, 0.27), (0.55, 0.66))
            + arc(0.24, 0.7, 0.31, 0.3, 0, 125, 10)
        ],
        [arc(0.26, 0.28, 0.26, 0.28, -10, -370, 20) + line((0.52, 0.25), (0.32, 1))],
    ],
}  # fmt: skip


def written(way: list[Line], size: int, width: int, tilt: float, random: Random) -> list[Line]:
    """The strokes of one digit, somewhere on the pad."""
    angle, slant = tilt * pi / 180, random.uniform(-0.15, 0.25)
    wide = random.uniform(0.8, 1.2)
    high = size - width
    tremble = random.uniform(0, 0.008) * high
    moved = []
    for stroke in way:
        path = []
        for x, y in stroke:
            u, v = (x - 0.3) * wide - slant * (y - 0.5), y - 0.5
            path.append(
                (
                    (u * cos(angle) - v * sin(angle)) * high + random.gauss(0, tremble),
                    (u * sin(angle) + v * cos(angle)) * high + random.gauss(0, tremble),
                )
            )
        moved.append(path)
    spans = []
    for axis in (0, 1):
        coordinates = [point[axis] for path in moved for point in path]
        low, room = min(coordinates), SIDE - width - (max(coordinates) - min(coordinates))
        spans.append(width / 2 - low + random.uniform(0, 1) * max(room, 0))
    dx, dy = spans
    return [[(round(x + dx, 1), round(y + dy, 1)) for x, y in path] for path in moved]


def digits() -> list[dict[str, object]]:
    """The whole set, in order."""
    random = Random(20)
    found: list[dict[str, object]] = []
    for digit, ways in WAYS.items():
        for way, strokes in enumerate(ways):
            for size, width in SIZES:
                tilt = random.uniform(-25, 25)
                path = written(strokes, size, width, tilt, random)
                kind = f"{digit} way {way}, {size} high, brush {width}, tilt {tilt:.0f}"
                found.append({"digit": digit, "kind": kind, "width": width, "strokes": path})
    return found


def main() -> None:
    file = Path(__file__).with_name("stroke_digits.json")
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in digits())
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
