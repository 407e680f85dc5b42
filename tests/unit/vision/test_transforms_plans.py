"""Transforms on a device: batches, parameters for each image, and which plans are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.data import DataLoader, TensorDataset
from tallow.train import Learner
from tallow.vision import transforms as tt
from tallow.vision.transforms import functional
from tallow.vision.transforms.draws import DeviceDraws, HostDraws, part_of, place
from tallow.vision.transforms.geometry import erased, moved_crop
from tallow.vision.transforms.resampling import resized_part
from tallow.vision.transforms.warps import inverse_matrices, inverse_matrix, warped

BATCHED: dict[str, Callable[[], Any]] = {
    "crop": lambda: tt.RandomCrop(12, padding=2),
    "resized crop": lambda: tt.RandomResizedCrop(10),
    "nearest resized crop": lambda: tt.RandomResizedCrop(10, interpolation="nearest"),
    "flip": tt.RandomHorizontalFlip,
    "rotation": lambda: tt.RandomRotation(40, "bilinear", fill=0.5),
    "affine": lambda: tt.RandomAffine(30, (0.2, 0.1), (0.8, 1.2), (-5, 5, -8, 8)),
    "colours": lambda: tt.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "gray": lambda: tt.RandomGrayscale(0.5),
    "blur": lambda: tt.GaussianBlur(3),
    "erasing": lambda: tt.RandomErasing(0.7, value=[0.1, 0.2, 0.3]),
    "noise": tt.GaussianNoise,
    "some": lambda: tt.RandomApply([tt.RandomRotation(20), tt.GaussianBlur(3)], p=0.5),
}
ONE = {
    "perspective": lambda: tt.RandomPerspective(p=1.0),
    "brightness": lambda: tt.ColorJitter(0.4),
}


def batch(device: str = "numpy", n: int = 4) -> tl.Tensor:
    values = np.random.default_rng(0).random((n, 3, 14, 15)).astype(np.float32)
    return tl.asarray(values).realize(device)


@pytest.mark.parametrize(
    "name", [*(each for each in BATCHED if each not in ("colours", "some")), *ONE]
)
def test_another_parameter_needs_no_other_plan(name: str, compiled: list[int]) -> None:
    transform, x = {**BATCHED, **ONE}[name](), batch()
    tl.manual_seed(0)
    results = [transform(x).numpy()]
    first = len(compiled)
    results += [transform(x).numpy() for _ in range(6)]
    assert len(compiled) == first <= 2
    assert any(np.any(results[0] != each) for each in results)


@pytest.mark.parametrize("name", BATCHED)
def test_each_image_has_its_own_parameters_in_one_plan(name: str, device: str) -> None:
    transform = tt.PerSample(BATCHED[name]())
    x = batch(device, 1)
    same = tl.concat([x] * 8).realize(device)
    step = tl.jit(transform)
    tl.manual_seed(0)
    first, second = step(same).numpy(), step(same).numpy()
    assert step.plans == 1
    assert np.any(first != second)
    assert any(np.any(first[0] != each) for each in first[1:])
    tl.manual_seed(0)
    np.testing.assert_array_equal(step(same).numpy(), first)
    if name != "noise":
        assert np.isfinite(first).all() and first.min() > -1e-5 and first.max() < 1 + 1e-5


@pytest.mark.parametrize("name", BATCHED)
def test_eager_batches_share_a_plan(name: str, compiled: list[int]) -> None:
    transform, x = tt.PerSample(BATCHED[name]()), batch()
    transform(x).numpy()
    first = len(compiled)
    for _ in range(4):
        transform(x).numpy()
    assert len(compiled) == first


def test_bytes_become_normalized_batches(device: str) -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 3, 9, 9)).astype(np.uint8)
    transform = tt.PerSample(
        tt.RandomHorizontalFlip(1.0),
        tt.RandomCrop(9),
        tt.ToDtype("float32", scale=True),
        tt.Normalize([0.5], [0.25]),
    )
    found = tl.jit(transform)(tl.asarray(images).realize(device)).numpy()
    np.testing.assert_allclose(found, (images[..., ::-1] / 255 - 0.5) / 0.25, atol=1e-5)


def test_the_device_draws_as_the_host() -> None:
    tl.manual_seed(0)
    count, size = 3000, (30, 40)
    scale, ratio = (0.2, 0.9), (0.5, 2.0)
    host = HostDraws()
    one = np.array([part_of(host, size, scale, ratio) for _ in range(count)], np.float64)
    device = DeviceDraws(count)
    drawn = part_of(device, size, scale, ratio)
    tensors = [each for each in drawn if isinstance(each, tl.Tensor)]
    many = np.stack([each.numpy().astype(np.float64) for each in tensors], 1)
    np.testing.assert_allclose(many.mean(0), one.mean(0), rtol=0.03)
    np.testing.assert_allclose(many.std(0), one.std(0), rtol=0.08)
    room = drawn[2]
    assert isinstance(room, tl.Tensor)
    tops = np.asarray(place(device, room).numpy())  # type: ignore[union-attr]
    np.testing.assert_array_equal(tops, np.floor(tops))
    assert (tops >= 0).all() and (tops <= room.numpy()).all()
    np.testing.assert_allclose(tops.mean(), room.numpy().mean() / 2, rtol=0.06)
    whole = device.integer(-2, 3).numpy()
    assert {*whole.tolist()} == {-2, -1, 0, 1, 2} and abs(whole.mean()) < 0.1
    assert abs(device.chance(0.3).numpy().mean() - 0.3) < 0.03


def test_in_evaluation_random_transforms_are_left_out() -> None:
    transform = tt.PerSample(tt.Compose([tt.RandomCrop(14, padding=2), tt.RandomInvert(1.0)]),
                            tt.Normalize([0.5], [0.5])).eval()  # fmt: skip
    x = batch()
    np.testing.assert_allclose(transform(x).numpy(), (x.numpy() - 0.5) * 2, atol=1e-6)
    assert "RandomInvert" in repr(transform)


def test_parts_are_as_those_of_one_image() -> None:
    x = batch()
    tops, lefts = [0, 2, 5, 4], [3, 0, 1, 5]
    heights, widths = [9, 4, 8, 10], [7, 11, 3, 10]
    given = [tl.asarray(np.array(each, np.float32)) for each in (tops, lefts, heights, widths)]
    top, left, height, width = given
    cut = moved_crop(x, top, left, 6, 7).numpy()
    gone = erased(x, top, left, height, width, 0.25).numpy()
    modes = [("bilinear", True), ("bilinear", False), ("bicubic", True), ("nearest", True)]
    sized = {
        mode: resized_part(x, top, left, height, width, (8, 5), *mode).numpy() for mode in modes
    }
    for n, part in enumerate(zip(tops, lefts, heights, widths, strict=True)):
        np.testing.assert_array_equal(
            cut[n], functional.crop(x[n], tops[n], lefts[n], 6, 7).numpy()
        )
        np.testing.assert_array_equal(gone[n], functional.erase(x[n], *part, 0.25).numpy())
        for mode, result in sized.items():
            inside = functional.crop(x[n], *part)
            expected = functional.resize(inside, [8, 5], mode[0], antialias=mode[1]).numpy()
            np.testing.assert_allclose(result[n], expected, atol=2e-5)


def test_matrices_are_as_those_of_one_image() -> None:
    numbers = np.array([[10, 2, -3, 0.8, 5, -6], [-50, 0, 1, 1.5, 0, 20]], np.float32)
    angle, right, down, scale, along, across = (tl.asarray(each) for each in numbers.T.copy())
    found = inverse_matrices(angle, (right, down), scale, (along, across))
    expected = [inverse_matrix((0, 0), a, (x, y), s, (b, c)) for a, x, y, s, b, c in numbers]
    np.testing.assert_allclose(found.numpy().reshape(2, 6), expected, rtol=1e-5, atol=1e-5)
    x = batch(n=2)
    turned = warped(x, found, "bilinear", 0.5).numpy()
    for n, (a, r, d, s, b, c) in enumerate(numbers.tolist()):
        one = functional.affine(x[n], a, [r, d], s, [b, c], "bilinear", [0.5])
        np.testing.assert_allclose(turned[n], one.numpy(), atol=1e-4)


@pytest.mark.parametrize("per_sample", [False, True])
@pytest.mark.parametrize("kind", [tt.MixUp, tt.CutMix])
def test_mixed_batches(kind: Any, per_sample: bool, device: str) -> None:
    mix = kind(num_classes=3, per_sample=per_sample)
    x, labels = batch(device), tl.asarray(np.array([0, 1, 2, 1])).realize(device)
    step = tl.jit(mix)
    tl.manual_seed(0)
    shares = []
    for _ in range(3):
        images, mixed = (each.numpy() for each in step(x, labels))
        np.testing.assert_allclose(mixed.sum(1), 1, atol=1e-5)
        own = mixed[[0, 1, 2, 3], [0, 1, 2, 1]]
        before = x.numpy()[[3, 0, 1, 2]]
        if kind is tt.MixUp:
            expected = (
                x.numpy() * own[:, None, None, None] + before * (1 - own)[:, None, None, None]
            )
            np.testing.assert_allclose(images, expected, atol=1e-5)
        else:
            kept = (images == x.numpy()).all(1)
            np.testing.assert_allclose(kept.mean((1, 2)), own, atol=1e-6)
            assert ((images == before).all(1) | kept).all()
        assert (len(set(own.tolist())) > 1) == per_sample
        shares.append(own[0])
    assert step.plans == 1 and len(set(shares)) == 3
    images, plain = mix.eval()(x, labels)
    np.testing.assert_array_equal(plain.numpy(), np.eye(3)[[0, 1, 2, 1]])
    np.testing.assert_array_equal(images.numpy(), x.numpy())


def test_a_learner_trains_with_transforms_in_its_model() -> None:
    tl.manual_seed(0)
    augment = tt.PerSample(
        tt.RandomCrop(14, padding=2), tt.RandomHorizontalFlip(), tt.ColorJitter(0.3, 0.3),
        tt.Normalize([0.5] * 3, [0.25] * 3), tt.RandomErasing(0.3),
    )  # fmt: skip
    x = batch(n=32)[..., :14].realize()
    y = (x.mean((1, 2, 3)) > 0.5).astype("int32")
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                        nn.Linear(4, 2))  # fmt: skip
    model = nn.Sequential(augment, net)
    learner = Learner(
        model, optim.Adam(model.parameters(), lr=0.01), nn.functional.cross_entropy,
        metrics=["accuracy"], progress=False,
    )  # fmt: skip
    loader = DataLoader(TensorDataset(x, y), 8, shuffle=True)
    history = learner.fit(loader, loader, epochs=3)
    assert len(history) == 3 and history[-1]["train_loss"] < history[0]["train_loss"] * 1.5
    assert learner._training.plans == 1
    still = DataLoader(TensorDataset(x, y), 8)
    first = learner.evaluate(still)["loss"]
    assert learner.evaluate(still)["loss"] == first  # nothing is drawn in an evaluation


def test_a_learner_trains_with_mixed_batches() -> None:
    tl.manual_seed(0)
    mix = tt.CutMix(num_classes=2)

    class Mixing(Learner):
        def step(self, batch: Any) -> Any:
            return super().step(mix(*batch) if self.model.training else batch)

    x = batch(n=16)
    y = (x.mean((1, 2, 3)) > 0.5).astype("int32")
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 14 * 15, 2))
    learner = Mixing(
        model, optim.SGD(model.parameters(), lr=0.0), nn.functional.cross_entropy,
        metrics=["accuracy"], progress=False,
    )  # fmt: skip
    loader = DataLoader(TensorDataset(x, y), 8)
    history = learner.fit(loader, loader, epochs=3)
    assert learner._training.plans == 1
    assert len({row["train_loss"] for row in history}) == 3  # nothing is learned, but mixed anew
    assert len({row["valid_loss"] for row in history}) == 1


def test_a_loader_transforms_batches_on_the_device(compiled: list[int]) -> None:
    augment = tt.PerSample(tt.RandomAffine(10), tt.RandomHorizontalFlip())
    x, y = batch(n=32), tl.asarray(np.arange(32) % 2).realize()

    def collate(samples: Any) -> Any:
        images, labels = tl.data.dataloader.default_collate(samples)
        return augment(images), labels

    loader = DataLoader(TensorDataset(x, y), 8, shuffle=True, collate_fn=collate)
    for _ in loader:
        pass
    first = len(compiled)
    for images, _ in loader:
        assert images.node.is_buffer and images.shape == (8, 3, 14, 15)
    assert len(compiled) == first


def test_samples_of_a_dataset_share_plans(compiled: list[int]) -> None:
    pipeline = tt.Compose(
        [
            tt.RandomCrop(12, padding=2),
            tt.RandomHorizontalFlip(),
            tt.RandomErasing(),
        ]
    )
    images = [batch(n=1)[0].numpy() for _ in range(16)]
    loader = DataLoader(
        images, 4, collate_fn=lambda s: tl.stack([pipeline(tl.asarray(x)) for x in s])
    )  # type: ignore[arg-type]
    for _ in loader:
        pass
    first = len(compiled)
    for _ in loader:
        pass
    assert len(compiled) == first
