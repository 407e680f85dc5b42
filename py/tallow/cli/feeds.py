"""The inputs of a run from the command line: arrays, pictures, random numbers or zeros."""

from __future__ import annotations

import argparse
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import FeedError, OptionError
from ..formats.onnx.dimensions import concrete_shapes
from ..formats.onnx.values import checked_feed
from ..onnx import Model, ValueInfo

PICTURES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
FILLS = ("random", "zeros")

Shapes = dict[str, "int | tuple[int, ...]"]


def add_shapes(parser: argparse.ArgumentParser) -> None:
    """Adds the option that fixes dimensions."""
    words = "the length of a named dimension (N=1), or an input's whole shape (image=1,3,224,224)"
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=SHAPE", help=words)


def add_feeds(parser: argparse.ArgumentParser, fill: str | None) -> None:
    """Adds the options that choose the inputs of a run."""
    group = parser.add_argument_group("inputs")
    words = "a .npy file, a picture, or a .npz file whose arrays have the inputs' names"
    group.add_argument("--input", action="append", default=[], metavar="[NAME=]FILE", help=words)
    words = f"how to fill an input that has no file{'' if fill is None else ' (%(default)s)'}"
    group.add_argument("--fill", choices=FILLS, default=fill, help=words)
    group.add_argument(
        "--seed", type=int, default=0, help="seed of the random numbers (%(default)s)"
    )
    pictures = parser.add_argument_group("pictures")
    words = "SIDE or HEIGHT,WIDTH (default: the input's); the picture is scaled to it"
    pictures.add_argument("--size", type=numbers_of, metavar="SIZE", help=words)
    words = "subtracted from each value 0..255: one number, or one per channel (default: 0)"
    pictures.add_argument("--mean", type=numbers_of, default=(0.0,), metavar="M", help=words)
    words = "the factor applied next: one number, or one per channel (default: 1/255; integers: 1)"
    pictures.add_argument("--scale", type=numbers_of, metavar="S", help=words)
    words = "order of the axes (default: guessed from the input's shape)"
    pictures.add_argument("--layout", choices=("NCHW", "NHWC"), help=words)
    pictures.add_argument("--colors", choices=("RGB", "BGR"), default="RGB",
                          help="order of the channels (%(default)s)")  # fmt: skip


def numbers_of(text: str) -> tuple[float, ...]:
    """The finite numbers of a list with commas. Raises ArgumentTypeError for any other text."""
    try:
        values = tuple(_number(part) for part in text.split(","))
    except (ValueError, ZeroDivisionError):
        values = ()
    if not values or not all(map(math.isfinite, values)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0.5,0.5,0.5")
    return values


def _number(text: str) -> float:
    above, slash, below = text.partition("/")  # 1/255 is common
    return float(above) / float(below) if slash else float(above)


def shapes_of(options: argparse.Namespace) -> Shapes | None:
    """The shapes given by --shape, or None without it."""
    shapes: Shapes = {}
    for text in options.shape:
        name, equals, words = text.rpartition("=")
        parts = words.split(",")
        if not equals or not all(part.strip().isdecimal() for part in parts):
            raise OptionError(f"--shape {text}: expected N=8 or image=1,3,224,224")
        lengths = tuple(int(part) for part in parts)
        shapes[name] = lengths[0] if len(lengths) == 1 else lengths
    return shapes or None


def feeds_of(model: Model, options: argparse.Namespace, shapes: Shapes | None) -> dict[str, Any]:
    """An array for every input, checked against the model.

    Raises OptionError for a file that belongs to no input, FeedError for a file that can't be read
    or used and for an input without a value, and ShapeError if shapes must be given.
    """
    infos = {info.name: info for info in model.inputs}
    feeds: dict[str, Any] = {}
    for text in options.input:
        feeds.update(_given(text, infos, options))
    for name, array in feeds.items():
        checked_feed(infos[name], array)
    missing = [info for info in model.inputs if info.name not in feeds]
    if missing and options.fill is None:
        listed = ", ".join(map(str, missing))
        raise FeedError(
            f"no value for {listed}: use --input {missing[0].name}=FILE, or --fill random"
        )
    unfillable = [info for info in missing if info.dtype is None]
    if unfillable:
        raise FeedError(
            f"{unfillable[0]}: can't be filled; the command line only feeds numeric tensors"
        )
    if missing:
        known = {**(shapes or {}), **{name: array.shape for name, array in feeds.items()}}
        tensors = [info for info in model.inputs if info.dtype is not None]
        by_name = concrete_shapes(tensors, known)
        feeds.update({info.name: _filling(info, by_name[info.name], options) for info in missing})
    return feeds


def fed_shapes(feeds: Mapping[str, Any]) -> Shapes:
    """The shapes to prepare a session for."""
    return {name: array.shape for name, array in feeds.items() if array.dtype.kind in "biuf"}


def _given(
    text: str, infos: Mapping[str, ValueInfo], options: argparse.Namespace
) -> dict[str, Any]:
    """The arrays of one --input."""
    name, equals, file = text.rpartition("=")
    if equals and name not in infos:
        raise OptionError(f"--input {text}: the inputs are {', '.join(infos) or 'none'}")
    path = Path(file)
    if path.suffix == ".npz":
        arrays: dict[str, Any] = _loaded(path)
        unknown = [key for key in arrays if key not in infos]
        if equals or unknown:
            what = f"contains {', '.join(unknown)}" if unknown else "already names its arrays"
            raise OptionError(f"--input {text}: {path.name} {what}; inputs are {', '.join(infos)}")
        return arrays
    if not equals and len(infos) != 1:
        raise OptionError(f"--input {text}: which of {', '.join(infos)}? write NAME={file}")
    info = infos[name] if equals else next(iter(infos.values()))
    if path.suffix.lower() in PICTURES:
        return {info.name: _picture(path, info, options)}
    if path.suffix != ".npy":
        raise OptionError(f"--input {text}: neither .npy, .npz, nor a picture ({_kinds()})")
    return {info.name: _loaded(path)}


def _kinds() -> str:
    return ", ".join(sorted(PICTURES))


def _loaded(path: Path) -> Any:
    import numpy as np

    try:
        with path.open("rb") as file:
            found = np.load(file, allow_pickle=False)
            if path.suffix != ".npz":
                return np.asarray(found)
            return dict(found)
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise FeedError(f"{path}: not a {path.suffix} file of numbers: {error}") from error


def _filling(info: ValueInfo, shape: tuple[int, ...], options: argparse.Namespace) -> Any:
    import numpy as np

    assert info.dtype is not None
    if options.fill == "zeros":
        return np.zeros(shape, info.dtype.name)
    random = np.random.default_rng(options.seed)
    if info.dtype.is_floating:
        return random.standard_normal(shape).astype(info.dtype.name)
    return random.integers(0, 2, shape).astype(info.dtype.name)  # they may be indices


def _picture(path: Path, info: ValueInfo, options: argparse.Namespace) -> Any:
    """A picture converted to the layout of an input with three or four axes."""
    import numpy as np

    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise FeedError(
            f"{path}: reading pictures needs Pillow, which is not installed (pip install pillow); "
            ".npy files work without it"
        ) from error
    channels, size, last = _arrangement(info, options)
    try:
        with Image.open(path) as opened:
            image = opened.convert("L" if channels == 1 else "RGB")
    except UnidentifiedImageError as error:
        raise FeedError(f"{path}: Pillow can't read this picture") from error
    if size is not None:
        image = image.resize((size[1], size[0]), Image.Resampling.BICUBIC)
    values = np.asarray(image, np.float32).reshape(image.height, image.width, channels)
    if options.colors == "BGR":
        values = values[..., ::-1]
    assert info.dtype is not None
    scale = options.scale or ((1 / 255,) if info.dtype.is_floating else (1.0,))
    for word, given in (("mean", options.mean), ("scale", scale)):
        if len(given) not in (1, channels):
            raise OptionError(f"--{word}: {len(given)} numbers for {channels} channels")
    values = (values - np.array(options.mean, np.float32)) * np.array(scale, np.float32)
    if not info.dtype.is_floating:
        values = np.rint(values)
    values = values if last else values.transpose(2, 0, 1)
    assert info.shape is not None
    values = values if len(info.shape) == 3 else values[None]
    return np.ascontiguousarray(values.astype(info.dtype.name))


def _arrangement(
    info: ValueInfo, options: argparse.Namespace
) -> tuple[int, tuple[int, int] | None, bool]:
    """Channels, (height, width) to scale to, and whether channels come last."""
    shape = info.shape
    if shape is None or len(shape) not in (3, 4) or info.dtype is None:
        raise FeedError(f"{info}: a picture needs a numeric input with three or four axes")
    dims = shape[-3:]
    last = dims[2] in (1, 3) and dims[0] not in (1, 3)
    if options.layout is not None:
        last = options.layout == "NHWC"
    channels, sides = (dims[2], dims[:2]) if last else (dims[0], dims[1:])
    if isinstance(channels, str):
        channels = 3
    if channels not in (1, 3):
        raise FeedError(f"{info}: a picture needs 1 or 3 channels, not {channels}")
    size = options.size
    if size is None:
        height, width = sides
        known = isinstance(height, int) and isinstance(width, int)
        return channels, ((height, width) if known else None), last  # type: ignore[return-value]
    if len(size) > 2 or any(side < 1 or side != int(side) for side in size):
        raise OptionError("--size: expected one whole number, or two: HEIGHT,WIDTH")
    return channels, (int(size[0]), int(size[-1])), last
