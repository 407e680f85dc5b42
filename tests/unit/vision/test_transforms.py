"""Random transforms and containers: seeds, parameters, what stands beside images, bad options."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tallow as tl
from tallow import random
from tallow.errors import DTypeError, OptionError, ShapeError, TracingError
from tallow.vision import transforms as tt
from tallow.vision.transforms import functional, v2

from .transform_cases import IMAGES


def tensor(name: str = "float") -> tl.Tensor:
    return tl.asarray(IMAGES[name])


def picture() -> Image.Image:
    return Image.fromarray(np.moveaxis(IMAGES["bytes"], 0, -1))


RANDOM: dict[str, Callable[[], Any]] = {
    "crop": lambda: tt.RandomCrop(16, padding=3),
    "crop with more padding": lambda: tt.RandomCrop((30, 20), pad_if_needed=True, fill=0.5),
    "resized crop": lambda: tt.RandomResizedCrop((12, 14)),
    "flip": tt.RandomHorizontalFlip,
    "turned": tt.RandomVerticalFlip,
    "rotation": lambda: tt.RandomRotation(40),
    "affine": lambda: tt.RandomAffine(30, (0.2, 0.1), (0.8, 1.2), (-5, 5, -8, 8)),
    "perspective": lambda: tt.RandomPerspective(p=1.0),
    "colours": lambda: tt.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "gray": lambda: tt.RandomGrayscale(0.5),
    "blur": lambda: tt.GaussianBlur(3),
    "some": lambda: tt.RandomApply([tt.RandomRotation(20), tt.GaussianBlur(3)], p=0.7),
    "one": lambda: tt.RandomChoice([tt.RandomRotation(90), tt.RandomInvert(1.0)]),
    "all": lambda: tt.RandomOrder([tt.RandomRotation(90), tt.RandomInvert()]),
    "elastic": lambda: tt.ElasticTransform(20.0, 2.0),
    "bytes": lambda: tt.RandomChoice([tt.RandomPosterize(3), tt.RandomSolarize(100)]),
    "contrast": lambda: tt.RandomChoice([tt.RandomAutocontrast(), tt.RandomEqualize()]),
    "sharp": lambda: tt.RandomAdjustSharpness(2.0),
    "policy": lambda: tt.RandAugment(3),
    "wide": tt.TrivialAugmentWide,
    "found": lambda: tt.AutoAugment(tt.AutoAugmentPolicy.SVHN),
}


def as_array(img: Any) -> np.ndarray:
    return img.numpy() if isinstance(img, tl.Tensor) else np.array(img)


@pytest.mark.parametrize("kind", ["tensor", "Pillow"])
@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_repeats_and_a_state_goes_on(name: str, kind: str) -> None:
    transform = RANDOM[name]()
    if name == "crop with more padding" and kind == "Pillow":
        transform = tt.RandomCrop((30, 20), pad_if_needed=True, fill=128)
    image = tensor("bytes") if kind == "tensor" else picture()

    def draw() -> list[np.ndarray]:
        return [as_array(transform(image)) for _ in range(5)]

    tl.manual_seed(0)
    first = draw()
    state = random.state()
    second = draw()
    tl.manual_seed(0)
    for one, other in zip(first, draw(), strict=True):
        np.testing.assert_array_equal(one, other)
    random.set_state(state)
    for one, other in zip(second, draw(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert any(np.any(one != other) for one, other in pairwise(first))
    assert len({one.shape for one in first}) == 1


def test_parameters_are_within_their_ranges() -> None:
    tl.manual_seed(1)
    image = tensor()
    for _ in range(50):
        top, left, height, width = tt.RandomCrop.get_params(image, (10, 12))
        assert 0 <= top <= 13 and 0 <= left <= 19 and (height, width) == (10, 12)
        top, left, height, width = tt.RandomResizedCrop.get_params(image, (0.1, 0.6), (0.5, 2.0))
        assert 0 <= top <= 23 - height and 0 <= left <= 31 - width
        assert 0.05 < height * width / (23 * 31) < 0.66
        assert -20 <= tt.RandomRotation.get_params((-20, 10)) <= 10
        angle, moved, scale, shear = tt.RandomAffine.get_params(
            (-9, 9), (0.1, 0.2), (0.5, 0.6), (1, 2, 3, 4), (31, 23)
        )
        assert abs(angle) <= 9 and abs(moved[0]) <= 3 and abs(moved[1]) <= 5
        assert 0.5 <= scale <= 0.6 and 1 <= shear[0] <= 2 and 3 <= shear[1] <= 4
        jitter = tt.ColorJitter.get_params((0.5, 0.6), None, (1, 2), (-0.1, 0.1))
        assert sorted(jitter.order) == [0, 1, 2, 3] and jitter.contrast is None
        assert jitter.brightness is not None and 0.5 <= jitter.brightness <= 0.6
        start, end = tt.RandomPerspective.get_params(31, 23, 0.5)
        assert start[2] == [30, 22] and 22 <= end[2][0] <= 30 and 0 <= end[0][1] <= 5
        top, left, height, width, fill = tt.RandomErasing.get_params(image, (0.1, 0.2), (0.5, 2))
        assert 0 <= top <= 23 - height and fill.shape == (3, height, width)
        assert 0.1 <= tt.GaussianBlur.get_params(0.1, 2.0) <= 2.0


def test_a_part_that_no_try_finds_is_the_middle() -> None:
    found = tt.RandomResizedCrop.get_params(tl.zeros((1, 10, 100)), (0.9, 1.0), (0.5, 1.0))
    assert found == (0, 45, 10, 10)
    value = tl.rand(2, 1, 10, 100)
    cut = tt.PerSample(tt.RandomResizedCrop(10, (0.9, 1.0), (0.5, 1.0)))(value)
    np.testing.assert_allclose(cut.numpy(), value[..., 45:55].numpy(), atol=1e-6)


def test_pictures_become_batches() -> None:
    pipeline = tt.Compose(
        [
            tt.Resize(20),
            tt.CenterCrop(16),
            tt.ToTensor(),
            tt.Normalize([0.5] * 3, [0.25] * 3),
        ]
    )
    found = pipeline(picture())
    assert found.shape == (3, 16, 16) and found.dtype == tl.float32
    plain = tt.Compose([tt.Resize(20), tt.CenterCrop(16), tt.PILToTensor()])(picture())
    np.testing.assert_allclose(found.numpy(), (plain.numpy() / 255 - 0.5) / 0.25, atol=1e-5)
    array = np.moveaxis(IMAGES["bytes"], 0, -1)
    np.testing.assert_array_equal(tt.ToTensor()(array).numpy(), tt.ToTensor()(picture()).numpy())
    np.testing.assert_array_equal(v2.ToImage()(array).numpy(), IMAGES["bytes"])
    both = tt.Compose([v2.ToImage(), v2.ToDtype(tl.float32, scale=True)])(picture())
    np.testing.assert_allclose(both.numpy(), IMAGES["bytes"] / 255, atol=1e-6)
    assert "Resize(size=20" in repr(pipeline)


def test_what_stands_beside_an_image_stays() -> None:
    pipeline = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.RandomCrop(8)])
    image, label = pipeline(tensor(), 3)
    assert image.shape == (3, 8, 8) and label == 3
    image, label = v2.RandomHorizontalFlip(1.0)((tensor(), "cat"))
    np.testing.assert_array_equal(image.numpy(), IMAGES["float"][..., ::-1])
    assert label == "cat"


def test_crops_go_to_a_function() -> None:
    crops = tt.Compose([tt.FiveCrop(8), tt.Lambda(tl.stack)])
    assert crops(tensor()).shape == (5, 3, 8, 8)
    assert len(tt.TenCrop(8)(picture())) == 10


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_and_impossible(p: float) -> None:
    image = tensor()
    changed = {
        "flip": (tt.RandomHorizontalFlip(p), IMAGES["float"][..., ::-1]),
        "invert": (tt.RandomInvert(p), 1 - IMAGES["float"]),
        "apply": (
            tt.RandomApply([tt.Lambda(lambda x: x * 2)], p),
            IMAGES["float"] * 2,
        ),
    }
    for transform, expected in changed.values():
        result = transform(image).numpy()
        np.testing.assert_allclose(result, expected if p else IMAGES["float"], atol=1e-6)


def test_choices_by_weight() -> None:
    transform = tt.RandomChoice([tt.Lambda(lambda x: x + 1), tt.Lambda(lambda x: x + 2)], p=[0, 1])
    assert (transform(tl.zeros((1, 2, 2))).numpy() == 2).all()


def test_erasing_fills_a_part() -> None:
    tl.manual_seed(0)
    image = tl.ones((3, 20, 20))
    for value in (0, [0.1, 0.2, 0.3], "random"):
        found = tt.RandomErasing(1.0, value=value)(image).numpy()
        rows, columns = np.nonzero((found != 1).any(0))
        inside = found[:, rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert (inside != 1).all() and (found != 1).sum() == inside.size
        if isinstance(value, list):
            np.testing.assert_allclose(inside[:, 0, 0], value, atol=1e-6)


def test_noise_has_its_spread() -> None:
    tl.manual_seed(0)
    noise = tt.GaussianNoise(0.1, 0.2, clip=False)(tl.zeros((1, 100, 100))).numpy()
    assert abs(noise.mean() - 0.1) < 0.01 and abs(noise.std() - 0.2) < 0.01
    assert tt.GaussianNoise(sigma=5.0)(tensor()).numpy().max() <= 1


@pytest.mark.parametrize(
    ("mode", "dtype", "channels"),
    [("L", "uint8", 1), ("RGB", "uint8", 3), ("RGBA", "uint8", 4), ("LA", "uint8", 2),
     ("I", "int32", 1), ("F", "float32", 1), ("HSV", "uint8", 3)],
)  # fmt: skip
def test_to_pillow_and_back(mode: str, dtype: str, channels: int) -> None:
    array = (np.arange(channels * 35).reshape(channels, 5, 7)).astype(dtype)
    image = tt.ToPILImage(mode)(tl.asarray(array))
    assert image.mode == mode and image.size == (7, 5)
    np.testing.assert_array_equal(tt.PILToTensor()(image).numpy(), array)


def test_floats_become_bytes_in_pillow() -> None:
    image = tt.ToPILImage()(tensor())
    assert image.mode == "RGB"
    np.testing.assert_array_equal(np.array(image)[..., 0], (IMAGES["float"][0] * 255).astype("u1"))
    assert tt.ToPILImage("1")(tl.asarray(IMAGES["gray"])).mode == "1"
    black = tt.ToTensor()(Image.new("1", (3, 2), 1))
    assert (black.numpy() == 1).all() and black.shape == (1, 2, 3)


def test_whitening() -> None:
    matrix = np.random.default_rng(0).normal(size=(12, 12)).astype(np.float32)
    mean = np.arange(12, dtype=np.float32)
    image = np.random.default_rng(1).normal(size=(3, 2, 2)).astype(np.float32)
    transform = tt.LinearTransformation(tl.asarray(matrix), tl.asarray(mean))
    expected = ((image.reshape(-1) - mean) @ matrix).reshape(3, 2, 2)
    np.testing.assert_allclose(transform(tl.asarray(image)).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_gradients_flow() -> None:
    x = tl.rand(1, 3, 9, 8, requires_grad=True)
    for change in (
        lambda x: functional.resize(x, [5, 6]),
        lambda x: functional.rotate(x, 20, "bilinear"),
        lambda x: functional.adjust_contrast(x, 0.5),
        lambda x: functional.gaussian_blur(x, 3),
    ):
        x.grad = None
        change(x).sum().backward()
        assert x.grad is not None and float(abs(x.grad).sum()) > 0


def _call(transform: Any, image: Any = None) -> Callable[[], Any]:
    return lambda: transform()(tensor() if image is None else image())


def _gray4() -> tl.Tensor:
    return tl.zeros((4, 9, 9))


BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "size 0": (lambda: tt.Resize(0), OptionError, "above 0"),
    "size below 0": (lambda: tt.RandomCrop((4, -1)), OptionError, "above 0"),
    "three sizes": (lambda: tt.CenterCrop([1, 2, 3]), OptionError, "above 0"),
    "half a pixel": (lambda: tt.RandomResizedCrop(2.5), OptionError, "above 0"),  # type: ignore[arg-type]
    "max_size": (lambda: functional.resize(tensor(), 20, max_size=20), OptionError, "max_size"),
    "max_size, two": (
        lambda: functional.resize(tensor(), [2, 2], max_size=9), OptionError, "max_size",
    ),
    "large crop": (_call(lambda: tt.RandomCrop(24)), ShapeError, "larger than the image"),
    "large five": (_call(lambda: tt.FiveCrop(24)), ShapeError, "larger than the image"),
    "five images": (
        _call(lambda: tt.Compose([tt.FiveCrop(3), tt.RandomInvert()])), OptionError, "Lambda",
    ),
    "probability": (lambda: tt.RandomHorizontalFlip(1.5), OptionError, "from 0 to 1"),
    "probability of some": (lambda: tt.RandomApply([], -0.1), OptionError, "from 0 to 1"),
    "probability of erasing": (lambda: tt.RandomErasing(p=2), OptionError, "from 0 to 1"),
    "weights": (lambda: tt.RandomChoice([abs], p=[1, 2]), OptionError, "a weight"),
    "no list": (lambda: tt.Compose(tt.ToTensor()), OptionError, "a list"),  # type: ignore[arg-type]
    "no transform": (lambda: tt.Compose([3]), OptionError, "cannot be called"),  # type: ignore[list-item]
    "no function": (lambda: tt.Lambda(3), OptionError, "no function"),  # type: ignore[arg-type]
    "interpolation": (lambda: tt.Resize(3, "cubic"), OptionError, "'cubic' is not one of"),
    "interpolation of tensors": (
        _call(lambda: tt.Resize(3, tt.InterpolationMode.LANCZOS)), OptionError, "lanczos",
    ),
    "bicubic rotation": (
        lambda: functional.rotate(tensor(), 3, "bicubic"), OptionError, "nearest, bilinear",
    ),
    "padding": (lambda: tt.Pad([1, 2, 3]), OptionError, "1, 2 or 4"),
    "padding below 0": (lambda: functional.pad(tensor(), -1), OptionError, "from 0 on"),
    "padding mode": (lambda: tt.Pad(1, padding_mode="wrap"), OptionError, "'wrap'"),
    "wide mirror": (
        lambda: functional.pad(tensor(), 40, padding_mode="reflect"), ShapeError, "mirrors",
    ),
    "fill": (lambda: functional.pad(tensor(), 1, fill=[1, 2]), ShapeError, "2 numbers"),
    "four channels": (_call(lambda: tt.ColorJitter(0.5), _gray4), ShapeError, "4 channels"),
    "gray of four": (_call(tt.Grayscale, _gray4), ShapeError, "4 channels"),
    "grays": (lambda: tt.Grayscale(2), OptionError, "neither 1 nor 3"),
    "jitter": (lambda: tt.ColorJitter(brightness=-1), OptionError, "below 0"),
    "hue": (lambda: tt.ColorJitter(hue=0.6), OptionError, "from -0.5|within -0.5"),
    "hue factor": (lambda: functional.adjust_hue(tensor(), 0.7), OptionError, "0.7"),
    "factor": (lambda: functional.adjust_contrast(tensor(), -1), OptionError, "below 0"),
    "bits": (lambda: tt.RandomPosterize(9), OptionError, "0 to 8"),
    "bits of floats": (lambda: functional.posterize(tensor(), 3), DTypeError, "uint8"),
    "equalize": (lambda: functional.equalize(tensor()), DTypeError, "uint8"),
    "threshold": (lambda: functional.solarize(tensor(), 2), OptionError, "above white"),
    "even window": (lambda: tt.GaussianBlur(4), OptionError, "odd"),
    "sigma": (lambda: tt.GaussianBlur(3, 0), OptionError, "sigma"),
    "large window": (lambda: functional.gaussian_blur(tensor(), 51), ShapeError, "window"),
    "degrees": (lambda: tt.RandomRotation(-3), OptionError, "degrees"),
    "degrees, three": (lambda: tt.RandomRotation([1, 2, 3]), OptionError, "degrees"),
    "translate": (lambda: tt.RandomAffine(0, (2, 0)), OptionError, "translate"),
    "scale": (lambda: tt.RandomAffine(0, scale=(2, 1)), OptionError, "scale"),
    "scale of 0": (
        lambda: functional.affine(tensor(), 0, [0, 0], 0, [0]), OptionError, "scale=0",
    ),
    "distortion": (lambda: tt.RandomPerspective(2), OptionError, "distortion_scale"),
    "points": (
        lambda: functional.perspective(tensor(), [[0, 0]] * 4, [[0, 0]] * 4), OptionError, "line",
    ),
    "std": (lambda: tt.Normalize([0], [0]), OptionError, "std of 0"),
    "means": (_call(lambda: tt.Normalize([0] * 2, [1] * 2)), ShapeError, "2 numbers"),
    "bytes": (lambda: functional.normalize(tensor("bytes"), [0], [1]), DTypeError, "uint8"),
    "digits": (
        lambda: functional.convert_image_dtype(tensor(), "int32"), DTypeError, "digits",
    ),
    "matrix": (
        lambda: tt.LinearTransformation(tl.zeros((2, 3)), tl.zeros(2)), ShapeError, "matrix",
    ),
    "array": (_call(lambda: tt.Resize(3), lambda: np.zeros((3, 4))), DTypeError, "ToTensor"),
    "no image": (lambda: functional.hflip(tl.zeros(3)), ShapeError, "no image"),
    "tensor": (_call(tt.ToTensor), DTypeError, "to_tensor"),
    "not Pillow": (_call(tt.PILToTensor), DTypeError, "no image of Pillow"),
    "axes": (lambda: tt.ToPILImage()(tl.zeros((1, 2, 3, 4))), ShapeError, "neither"),
    "channels": (lambda: tt.ToPILImage()(tl.zeros((5, 2, 3))), ShapeError, "not 5"),
    "mode": (lambda: tt.ToPILImage("L")(tensor()), OptionError, "'L'"),
    "type": (
        lambda: tt.ToPILImage()(tl.zeros((1, 2, 3), "uint32")), DTypeError, "uint32",
    ),
    "erasing pictures": (lambda: functional.erase(picture(), 0, 0, 1, 1, 0), DTypeError, "erase"),  # type: ignore[arg-type]
    "erasing scale": (lambda: tt.RandomErasing(scale=(0.1, 2)), OptionError, "from 0 to 1"),
    "erasing value": (lambda: tt.RandomErasing(value="noise"), OptionError, "'noise'"),
    "erasing values": (
        _call(lambda: tt.RandomErasing(1.0, value=[1, 2])), OptionError, "2 values",
    ),
    "noise": (lambda: tt.GaussianNoise(sigma=-1), OptionError, "sigma"),
    "elastic": (lambda: tt.ElasticTransform(sigma=-1), OptionError, "sigma"),
    "displacement": (
        lambda: functional.elastic_transform(tensor(), tl.zeros((1, 2, 2, 2))), ShapeError,
        "displacement",
    ),
    "operations": (lambda: tt.RandAugment(0), OptionError, "num_ops"),
    "found": (lambda: tt.AutoAugment("imagenet"), OptionError, "CIFAR10"),  # type: ignore[arg-type]
    "bins": (lambda: tt.TrivialAugmentWide(1), OptionError, "num_magnitude_bins"),
    "per sample, single": (lambda: tt.PerSample(tt.FiveCrop(3)), OptionError, "single images"),
    "per sample, within": (
        lambda: tt.PerSample(tt.RandomApply([tt.RandomPerspective()])), OptionError, "single",
    ),
    "per sample, sizes": (
        lambda: tt.PerSample(tt.RandomApply([tt.RandomCrop(4)]))(tensor("batch")), ShapeError,
        "keep the size",
    ),
    "per sample, bicubic": (
        lambda: tt.PerSample(tt.RandomAffine(3, interpolation="bicubic"))(tensor("batch")),
        OptionError, "nearest, bilinear",
    ),
    "per sample, expand": (
        lambda: tt.PerSample(tt.RandomRotation(3, expand=True))(tensor("batch")), OptionError,
        "expand",
    ),
    "translation": (
        lambda: functional.affine(tensor(), 0, [1], 1, [0]), OptionError, "translate",
    ),
    "per sample, one": (_call(lambda: tt.PerSample(tt.RandomCrop(3))), ShapeError, "no batch"),
    "compiled": (
        lambda: tl.jit(lambda x: tt.RandomRotation(3)(x))(tensor()), TracingError, "PerSample",
    ),
    "alpha": (lambda: tt.MixUp(alpha=0), OptionError, "alpha"),
    "classes": (lambda: tt.CutMix(num_classes=0), OptionError, "num_classes"),
    "getter": (lambda: tt.CutMix(labels_getter="second"), OptionError, "labels_getter"),
    "no classes": (
        lambda: tt.MixUp()(tensor("batch"), tl.asarray([0, 1])), OptionError, "num_classes",
    ),
    "label floats": (
        lambda: tt.MixUp()(tensor("batch"), tl.zeros(2)), ShapeError, "neither integers",
    ),
    "labels": (
        lambda: tt.MixUp(num_classes=2)(tensor("batch"), tl.asarray([0, 1, 1])), ShapeError,
        "beside labels",
    ),
    "no labels": (lambda: tt.MixUp()(tensor("batch")), OptionError, r"\(images, labels\)"),
    "numbers": (
        lambda: tt.MixUp(num_classes=2)(tensor("batch"), [0, 1]), DTypeError, "not a tensor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_options(name: str) -> None:
    call, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        call()
