"""The sliding square: where it matters, the map is dense."""

from __future__ import annotations


def test_a_square_over_what_matters_is_found(module):
    """A model that sees one white corner, 20 pixels wide, and nothing else."""
    found = module(
        "./views/classify/occlusion.js",
        """async (m) => {
            const size = 80;
            const pixels = new Uint8ClampedArray(size * size * 4);
            for (let y = 60; y < 80; y++)
                pixels.fill(255, y * size * 4, (y * size + 20) * 4);
            const ask = async (covered) => {
                let white = 0;
                for (let at = 0; at < covered.length; at += 4) white += covered[at] === 255 ? 1 : 0;
                return white / 400;
            };
            const heat = await m.occlude(pixels, 1, ask, () => true);
            const ended = await m.occlude(pixels, 1, ask, (done) => done < 5);
            const at = (x, y) => heat.drop[y * size + x];
            return { ...heat, drop: [at(0, 79), at(19, 60), at(79, 0), at(40, 20)], ended };
        }""",
    )
    corner, inner, *others = found.pop("drop")
    assert found == {"size": 80, "most": 1, "row": 8, "column": 0, "ended": None}
    assert corner == 1
    assert 0 < inner < 1
    assert others == [0, 0]
