"""Writes touching_digits.json: 120 numbers whose digits touch, as strokes on the page's pad.

    python -m tests.data.make_touching_digits

Ninety pairs and thirty triples, in the thirty ways of writing of make_stroke_digits.py. Each digit
is pushed against the one before it until their lines come so near that the brush joins them: from
a touch of the edges to ink that lies half in the other's. The seed is fixed.
"""

from __future__ import annotations

import json
from itertools import pairwise
from math import hypot
from pathlib import Path
from random import Random

from tests.data.make_stroke_digits import SIDE, WAYS, Line, written

# The height of the digits and the width of the brush, for so many digits.
SIZES = {
    2: ((330, 40), (300, 64), (250, 20), (210, 40), (160, 20)),
    3: ((230, 40), (190, 20), (150, 20)),
}
COUNTS = {2: 90, 3: 30}


def near(some: list[Line], others: list[Line]) -> float:
    """The distance of the nearest two points; the points of a line are close to each other."""
    return min(
        hypot(ax - bx, ay - by)
        for line in some
        for ax, ay in line
        for other in others
        for bx, by in other
    )


def finer(line: Line) -> Line:
    """The line with three points between each two."""
    found = [line[0]]
    for (ax, ay), (bx, by) in pairwise(line):
        found += [(ax + (bx - ax) * i / 4, ay + (by - ay) * i / 4) for i in (1, 2, 3, 4)]
    return found


def moved(strokes: list[Line], dx: float, dy: float) -> list[Line]:
    """The strokes, elsewhere."""
    return [[(x + dx, y + dy) for x, y in stroke] for stroke in strokes]


def number(digits: list[int], ways: list[int], size: int, width: int, random: Random) -> list[Line]:
    """The strokes of a number whose digits touch, in the middle of the pad."""
    found: list[Line] = []
    last: list[Line] = []
    for digit, way in zip(digits, ways, strict=True):
        high = round(size * random.uniform(0.88, 1.12))
        strokes = written(WAYS[digit][way], high, width, random.uniform(-10, 10), random)
        points = [point for stroke in strokes for point in stroke]
        low = sum(y for _, y in points) / len(points)
        strokes = moved(strokes, 0, SIDE / 2 - low + random.uniform(-0.08, 0.08) * size)
        if last:
            strokes = moved(
                strokes,
                max(x for line in last for x, _ in line)
                - min(x for line in strokes for x, _ in line)
                + width,
                0,
            )
            wanted = random.uniform(0.4, 0.85) * width
            solid = [finer(line) for line in last]
            while near(solid, [finer(line) for line in strokes]) > wanted:
                strokes = moved(strokes, -2, 0)
        found += strokes
        last = strokes
    xs = [x for line in found for x, _ in line]
    middle = SIDE / 2 - (min(xs) + max(xs)) / 2
    return [[(round(x, 1), round(y, 1)) for x, y in line] for line in moved(found, middle, 0)]


def numbers(seed: int) -> list[dict[str, object]]:
    """The whole set, in order."""
    random = Random(seed)
    found: list[dict[str, object]] = []
    for length, count in COUNTS.items():
        while count:
            digits = [random.randrange(10) for _ in range(length)]
            ways = [random.randrange(3) for _ in range(length)]
            size, width = random.choice(SIZES[length])
            strokes = number(digits, ways, size, width, random)
            points = [point for line in strokes for point in line]
            if min(x for x, _ in points) < width / 2 or min(y for _, y in points) < width / 2:
                continue  # it does not fit on the pad
            if max(max(point) for point in points) > SIDE - width / 2:
                continue
            name = "".join(map(str, digits))
            kind = f"{name} ways {ways}, {size} high, brush {width}"
            found.append({"number": name, "kind": kind, "width": width, "strokes": strokes})
            count -= 1
    return found


def main() -> None:
    file = Path(__file__).with_name("touching_digits.json")
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in numbers(21))
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
