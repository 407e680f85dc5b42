"""Pictures of many images, and boxes drawn into them, with torchvision's names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..core import dtype as dt
from ..core.drivers import Steps, run_async, run_sync
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Tensor, reading
from .transforms.conversion import picture_steps, pil_to_tensor
from .transforms.images import fed

Color = str | tuple[int, ...]


def make_grid(
    tensor: Tensor | Sequence[Tensor],
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Images in rows, as one image. One image alone stays as it is.

    tensor: (n, c, h, w), one image (c, h, w) or (h, w), or a list of images of one shape. One
      channel becomes three.
    nrow: how many images a row has.
    padding: how many pixels are between them, and around.
    normalize: whether values become 0 to 1, from value_range.
    value_range: (low, high); None is the least and the greatest value.
    scale_each: whether those are of each image, not of all.
    pad_value: what stands between.
    Returns: (c, rows, columns).
    Raises: ShapeError for other images, OptionError for other options, DTypeError for what
      is no tensor.
    """
    if not isinstance(tensor, Tensor):
        if not isinstance(tensor, Sequence):
            raise DTypeError(f"make_grid: {type(tensor).__name__} is neither a tensor nor a list")
        if not tensor:
            raise ShapeError("make_grid: there are no images")
        tensor = f.stack([*tensor], 0)
    if not isinstance(nrow, int) or nrow < 1 or not isinstance(padding, int) or padding < 0:
        raise OptionError(f"make_grid: nrow={nrow!r}, padding={padding!r}: above 0, and from 0 on")
    if value_range is not None and (len(value_range) != 2 or not value_range[0] < value_range[1]):
        raise OptionError(f"make_grid: value_range={value_range!r} is not (low, high)")
    if tensor.ndim not in (2, 3, 4) or 0 in tensor.shape:
        raise ShapeError(f"make_grid: {tensor.shape} are no images (n, c, h, w)")
    x = f.reshape(tensor, (1,) * (4 - tensor.ndim) + tensor.shape)
    if x.shape[1] == 1:
        x = f.concat([x] * 3, axis=1)
    if normalize:
        x = _normalized(x, value_range, scale_each)
    n, c, h, w = x.shape
    if n == 1:
        return f.squeeze(x, 0)
    columns = min(nrow, n)
    rows = -(-n // columns)
    value = pad_value if x.dtype.is_floating else int(pad_value)
    x = f.pad(x, [(0, 0), (0, 0), (padding, 0), (padding, 0)], value)
    x = f.pad(x, [(0, rows * columns - n), (0, 0), (0, 0), (0, 0)], value)
    x = f.reshape(x, (rows, columns, c, h + padding, w + padding))
    x = f.permute_dims(x, (2, 0, 3, 1, 4))
    x = f.reshape(x, (c, rows * (h + padding), columns * (w + padding)))
    return f.pad(x, [(0, 0), (0, padding), (0, padding)], value)


def _normalized(x: Tensor, limits: tuple[float, float] | None, each: bool) -> Tensor:
    if limits is None:
        axes = (1, 2, 3) if each else (0, 1, 2, 3)
        low, high = (reduce(x, axes, keepdims=True) for reduce in (f.min, f.max))
    else:
        low, high = fed(float(limits[0])), fed(float(limits[1]))
    return (f.clip(x, low, high) - low) / f.maximum(high - low, 1e-5)


def save_image(
    tensor: Tensor | Sequence[Tensor], fp: Any, format: str | None = None, **options: Any
) -> None:
    """Writes images from 0 to 1, as `make_grid` arranges them, to a file. Reads them, and blocks.

    tensor: as `make_grid`.
    fp: a path, or a file that is open.
    format: Pillow's name of the format, such as "PNG"; None is that of the path's ending.
    **options: those of `make_grid`.
    Raises: as `make_grid`; MissingError without Pillow.
    """
    run_sync(_saving(tensor, fp, format, options))


async def save_image_async(
    tensor: Tensor | Sequence[Tensor], fp: Any, format: str | None = None, **options: Any
) -> None:
    """As `save_image`, without blocking."""
    await run_async(_saving(tensor, fp, format, options))


def _saving(tensor: Any, fp: Any, format: str | None, options: dict[str, Any]) -> Steps[None]:
    grid = make_grid(tensor, **options)
    picture = yield from picture_steps(f.clip(grid * 255 + 0.5, 0, 255).astype(dt.uint8))
    picture.save(fp, format=format)


def draw_bounding_boxes(
    image: Tensor,
    boxes: Tensor,
    labels: Sequence[str | None] | None = None,
    colors: Color | Sequence[Color] | None = None,
    fill: bool = False,
    width: int = 1,
) -> Tensor:
    """An image with boxes drawn into it, by Pillow. Reads both, and blocks.

    image: (3, h, w) or (1, h, w), bytes or numbers from 0 to 1.
    boxes: two corners each, in pixels, (n, 4).
    labels: a text for each box.
    colors: a name, "#rrggbb" or (r, g, b), for all or for each; None differs from box to box.
    fill: whether boxes are filled, so that one sees through.
    width: of the lines.
    Returns: (3, h, w), of the image's type.
    Raises: ShapeError for other shapes, OptionError for too few colors or labels, MissingError
      without Pillow.
    """
    return run_sync(_drawing(image, boxes, labels, colors, fill, width))


async def draw_bounding_boxes_async(
    image: Tensor,
    boxes: Tensor,
    labels: Sequence[str | None] | None = None,
    colors: Color | Sequence[Color] | None = None,
    fill: bool = False,
    width: int = 1,
) -> Tensor:
    """As `draw_bounding_boxes`, without blocking."""
    return await run_async(_drawing(image, boxes, labels, colors, fill, width))


def _drawing(
    image: Tensor, boxes: Tensor, labels: Any, colors: Any, fill: bool, width: int
) -> Steps[Tensor]:
    what = "draw_bounding_boxes"
    if image.ndim != 3 or image.shape[0] not in (1, 3) or boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ShapeError(f"{what}: {image.shape} and {boxes.shape} are not (3, h, w) and (n, 4)")
    count = boxes.shape[0]
    if isinstance(colors, (str, tuple)):
        colors = [colors] * count
    chosen = _palette(count) if colors is None else [*colors]
    texts = [None] * count if labels is None else [*labels]
    if len(chosen) < count or len(texts) != count:
        raise OptionError(f"{what}: {len(chosen)} colors, {len(texts)} labels for {count} boxes")
    x = f.concat([image] * 3, axis=0) if image.shape[0] == 1 else image
    picture = yield from picture_steps(x)
    (corners,) = yield from reading([boxes])
    from PIL import ImageColor, ImageDraw

    draw = ImageDraw.Draw(picture, "RGBA" if fill else None)
    numbers = [int(each) for each in corners.flat()]
    for k, (color, text) in enumerate(zip(chosen, texts, strict=False)):
        box = numbers[4 * k : 4 * k + 4]
        rgb = ImageColor.getrgb(color) if isinstance(color, str) else tuple(color)
        inside = (*rgb[:3], 100) if fill else None
        draw.rectangle(box, fill=inside, outline=rgb, width=width)
        if text is not None:
            draw.text((box[0] + width + 1, box[1] + width + 1), text, fill=rgb)
    found = pil_to_tensor(picture)
    return found.astype(image.dtype) / 255 if image.dtype.is_floating else found


def _palette(count: int) -> list[Color]:
    """Colours that are easy to tell apart."""
    steps = 2**25 - 1, 2**15 - 1, 2**21 - 1
    return [tuple(k * step % 255 for step in steps) for k in range(count)]
