"""The browser's decoding of photographs (web/engine/photo.js). The rest of web/prepare/
is tested in Node: tests/js/prepare.test.js."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def photo(module):
    """engine/photo.js on a file's bytes, for a model of 224 with crop 0.875: 224 x 224 RGB."""

    def prepare(content: bytes, name: str = "a.png") -> np.ndarray:
        found = module(
            "./engine/photo.js",
            "async (m, [content, name]) => {"
            " const photo = await m.readPhoto(new File([new Uint8Array(content)], name));"
            " return Array.from(await photo.pixels({ size: 224, crop: 0.875 })); }",
            [list(content), name],
        )
        return np.array(found).reshape(224, 224, 4)[..., :3]

    return prepare


def test_photographs_are_prepared_as_by_pillow(photo, photos):
    for name in ("chelsea", "coffee"):
        path = photos[name]["path"]
        image = Image.open(path).convert("RGB")
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        square = image.crop((left, top, left + side, top + side))
        wanted = square.resize((256, 256), Image.Resampling.BICUBIC).crop((16, 16, 240, 240))
        difference = np.abs(photo(path.read_bytes()) - np.asarray(wanted).astype(int))
        assert difference.max() <= 8, name  # Pillow clips highlights between its two passes
        assert difference.mean() < 0.5, name


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_exif_turns_a_photograph_upright(photo, tmp_path, orientation):
    """A colour per quarter: red and green above, blue and white below, in any orientation."""
    image = Image.new("RGB", (400, 400))
    for colour, position in zip(("red", "lime", "blue", "white"), np.ndindex(2, 2), strict=True):
        image.paste(colour, (200 * position[1], 200 * position[0], 200 * position[1] + 200, 400))
    ways = {
        3: Image.Transpose.ROTATE_180,
        6: Image.Transpose.ROTATE_90,
        8: Image.Transpose.ROTATE_270,
    }
    stored = image.transpose(ways[orientation]) if orientation in ways else image
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = tmp_path / "turned.jpg"
    stored.save(file, quality=98, subsampling=0, exif=exif.tobytes())
    pixels = photo(file.read_bytes())
    found = pixels[[56, 56, 168, 168], [56, 168, 56, 168]]
    assert np.abs(found - [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]).max() < 8


def test_transparency_lies_on_white(photo, tmp_path):
    image = Image.new("RGBA", (300, 300), (255, 0, 0, 0))
    image.paste((0, 0, 255, 128), (0, 0, 300, 150))
    file = tmp_path / "clear.png"
    image.save(file)
    pixels = photo(file.read_bytes())
    assert (pixels[200] == 255).all()
    assert np.abs(pixels[20] - (127, 127, 255)).max() <= 2


def test_large_photographs_keep_their_averages(photo, tmp_path):
    """Fine stripes of four times the size and more become an even grey, not a moiré."""
    stripes = np.zeros((3000, 2600, 3), np.uint8)
    stripes[::2] = 255
    file = tmp_path / "stripes.png"
    Image.fromarray(stripes).save(file)
    pixels = photo(file.read_bytes())
    assert np.abs(pixels - 127.5).max() < 16


def test_the_middle_square_is_kept(photo, tmp_path):
    image = Image.new("RGB", (800, 400), "red")
    image.paste("lime", (200, 0, 600, 400))
    file = tmp_path / "middle.png"
    image.save(file)
    assert (photo(file.read_bytes()) == (0, 255, 0)).all()
