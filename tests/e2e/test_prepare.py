"""What becomes of ink and of photographs before a model sees them: web/prepare/."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter


@pytest.fixture
def digit(module):
    """prepare/digit.js on ink, a square array of 0..255; gives 28 x 28 or None."""

    def prepare(ink: np.ndarray) -> np.ndarray | None:
        height, width = ink.shape
        found = module(
            "./prepare/digit.js",
            "(m, [ink, w, h]) => { const p = m.prepareDigit(new Uint8Array(ink), w, h);"
            " return p && [...p]; }",
            [ink.astype(int).ravel().tolist(), width, height],
        )
        return None if found is None else np.array(found).reshape(28, 28)

    return prepare


def extent(picture: np.ndarray) -> tuple[int, int]:
    """Rows and columns that the ink spans."""
    rows, columns = np.nonzero(picture)
    return int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1


def mass(picture: np.ndarray) -> tuple[float, float]:
    """The centre of mass, from the upper left corner of the picture."""
    rows, columns = np.indices(picture.shape) + 0.5
    return float((rows * picture).sum() / picture.sum()), float(
        (columns * picture).sum() / picture.sum()
    )


def test_no_ink_no_picture(digit):
    assert digit(np.zeros((50, 50))) is None


@pytest.mark.parametrize(
    ("box", "spans"),
    [
        ((10, 10, 49, 89), (20, 10)),  # tall: its aspect is kept
        ((5, 60, 94, 79), (4, 20)),
        ((40, 40, 41, 41), (20, 20)),  # tiny: enlarged
        ((0, 0, 99, 99), (20, 20)),
        ((50, 5, 50, 95), (20, 1)),  # a hairline is still there
    ],
)
def test_fits_twenty_by_twenty_and_keeps_the_aspect(digit, box, spans):
    image = Image.new("L", (100, 100))
    ImageDraw.Draw(image).rectangle(box, fill=255)
    picture = digit(np.asarray(image))
    assert extent(picture) == spans
    assert picture.max() == pytest.approx(1)


def test_the_centre_of_mass_lies_in_the_pixel_after_the_middle(digit):
    """As in all of MNIST: 14 to 15 from the corner, on both axes."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        image = Image.new("L", (200, 200))
        brush = ImageDraw.Draw(image)
        points = [tuple(p) for p in rng.integers(20, 180, (6, 2)).tolist()]
        brush.line(points, fill=255, width=14, joint="curve")
        picture = digit(np.asarray(image))
        down, right = mass(picture)
        rows, columns = np.nonzero(picture)
        at_edge = 0 in (*rows, *columns) or 27 in (*rows, *columns)
        assert at_edge or (14 <= down <= 15 and 14 <= right <= 15)


def test_shrinking_averages_the_area(digit):
    """Stripes of one pixel, forty of them, become an even grey at half the size."""
    ink = np.zeros((60, 60))
    ink[10:50:2, 10:50] = 255
    ink[49, 10:50] = 255  # so that the box spans 40 rows
    picture = digit(ink)
    rows, columns = np.nonzero(picture)
    inner = picture[rows.min() : rows.max(), columns.min() : columns.max() + 1]
    assert inner == pytest.approx(np.full_like(inner, 0.5), abs=1e-6)


def test_mnist_pictures_enlarged_come_back(digit):
    """A picture of MNIST's own form (20 high, centred by mass) survives the way there and back."""
    image = Image.new("L", (20, 20))
    brush = ImageDraw.Draw(image)
    brush.line([(3, 1), (16, 1), (8, 19)], fill=255, width=2)
    brush.line([(3, 0), (16, 0)], fill=255)
    small = np.asarray(image)
    big = np.kron(small, np.ones((9, 9)))
    canvas = np.zeros((300, 300))
    canvas[40 : 40 + big.shape[0], 77 : 77 + big.shape[1]] = big
    picture = digit(canvas)
    rows, columns = np.nonzero(small)
    ink = small[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] / 255
    rows, columns = np.nonzero(picture)
    found = picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    assert ink.shape == found.shape
    assert found == pytest.approx(ink, abs=1e-6)


@pytest.mark.parametrize("side", [1, 90, 256, 400])
def test_scaling_is_pillows_bicubic(module, side):
    """resample.js against Pillow's BICUBIC, which the models' own preparation used."""
    rng = np.random.default_rng(side)
    noise = rng.integers(0, 256, (side, side, 3), dtype=np.uint8)
    image = Image.fromarray(noise).filter(ImageFilter.GaussianBlur(1))
    wanted = np.asarray(image.resize((256, 256), Image.Resampling.BICUBIC))[16:240, 16:240]
    pixels = np.asarray(image)
    rgba = np.dstack([pixels, np.full((side, side), 255, np.uint8)])
    found = module(
        "./prepare/resample.js",
        "(m, [rgba, side]) => Array.from(m.scaleAndCrop("
        "new Uint8ClampedArray(rgba), side, 256, 224))",
        [rgba.ravel().tolist(), side],
    )
    result = np.array(found).reshape(224, 224, 4)
    assert (result[..., 3] == 255).all()
    # Pillow rounds between its two passes.
    assert np.abs(result[..., :3] - wanted.astype(int)).max() <= 2


@pytest.fixture
def photo(module):
    """prepare/photo.js on a file's bytes, for a model of 224 with crop 0.875: 224 x 224 RGB."""

    def prepare(content: bytes, name: str = "a.png") -> np.ndarray:
        found = module(
            "./prepare/photo.js",
            "async (m, [content, name]) => {"
            " const photo = await m.readPhoto(new File([new Uint8Array(content)], name));"
            " return Array.from(photo.pixels({ size: 224, crop: 0.875 })); }",
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
    """One colour a quarter: red, green above, blue, white below, however the file is stored."""
    image = Image.new("RGB", (400, 400))
    for colour, place in zip(("red", "lime", "blue", "white"), np.ndindex(2, 2), strict=True):
        image.paste(colour, (200 * place[1], 200 * place[0], 200 * place[1] + 200, 400))
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
    """Fine stripes, four times what is kept and more: an even grey, not a moiré."""
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
