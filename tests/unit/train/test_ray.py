"""Inference for Ray Data, without Ray Data, which is not installed for the tests: it is large."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import ArgumentError, DataError, OptionError, PackageError


def model() -> nn.Module:
    """Two outputs of twelve numbers."""
    tl.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(12, 2))


def halved(picture: Any) -> Any:
    """A picture as floats."""
    return picture.astype(np.float32) / 2


BATCH = {
    "image": np.arange(60, dtype=np.uint8).reshape(5, 2, 2, 3),
    "path": np.asarray(["a", "b", "c", "d", "e"]),
}


class Named(nn.Module):
    """Gives a dict."""

    def forward(self, x: tl.Tensor) -> Any:
        return {"sum": x.sum(axis=(1, 2, 3)), "max": x.flatten(1).amax(dim=1)}


class Words(nn.Module):
    """Gives what no column is made of."""

    def forward(self, x: tl.Tensor) -> Any:
        return "words"


@pytest.mark.parametrize("given", [model(), model], ids=["a module", "a function"])
def test_outputs_stand_beside_the_other_columns(given: Any) -> None:
    made = tl.ray.Inference(pickle.loads(pickle.dumps(given)), transform=halved, device="numpy")
    got = made(BATCH)
    assert list(got) == ["path", "prediction"]
    assert got["path"].tolist() == BATCH["path"].tolist()
    inputs = tl.asarray(BATCH["image"].astype(np.float32) / 2)
    np.testing.assert_allclose(got["prediction"], model().eval()(inputs).numpy(), rtol=1e-6)
    tl.set_default_device(None)


def test_a_dict_becomes_several_columns() -> None:
    batch = {"x": BATCH["image"].astype(np.float32)}
    got = tl.ray.Inference(Named(), column="x", output="the")(batch)
    assert sorted(got) == ["the_max", "the_sum"]
    assert got["the_max"].tolist() == [11, 23, 35, 47, 59]


def test_a_transform_may_give_tensors_and_make_shapes_equal() -> None:
    pictures = np.empty(2, dtype=object)
    pictures[:] = [np.ones((3, 2, 3)), np.zeros((2, 2, 3))]
    cut = tl.ray.Inference(model, transform=lambda each: tl.asarray(each[:2].astype("float32")))
    assert cut({"image": pictures})["prediction"].shape == (2, 2)
    with pytest.raises(DataError, match=r"shapes \(2, 2, 3\) and \(3, 2, 3\)"):
        tl.ray.Inference(model)({"image": pictures})


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(DataError, match="no column 'picture'; there are: image, path"):
        tl.ray.Inference(model, column="picture")(BATCH)
    with pytest.raises(DataError, match="the model gave str"):
        tl.ray.Inference(Words())(BATCH)
    with pytest.raises(ArgumentError, match="the model is int"):
        tl.ray.Inference(3)
    for name in ("workers", "batch_size"):
        with pytest.raises(OptionError, match=f"{name}=0 is below 1"):
            tl.ray.predict_folder(model, "a", "b", **{name: 0})


def test_a_folder_without_ray_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(PackageError, match=r"pip install tallow\[ray-data\]"):
        tl.ray.predict_folder(model, "a", "b")


class Rows:
    """A stand-in for a dataset of Ray Data: applies a class to one batch."""

    def __init__(self, columns: Any) -> None:
        self.columns = columns
        self.options: dict[str, Any] = {}

    def map_batches(
        self, kind: Any, *, fn_constructor_args: Any, fn_constructor_kwargs: Any, **options: Any
    ) -> Rows:
        self.options.update(options)
        self.columns = kind(*fn_constructor_args, **fn_constructor_kwargs)(self.columns)
        return self

    def write_parquet(self, target: str) -> None:
        self.target = target


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    """What stands for Ray Data, on a cluster with four CPUs."""
    made = Rows(BATCH)
    data: Any = ModuleType("ray.data")

    def read_images(folder: str, include_paths: bool) -> Rows:
        made.options["read"] = (folder, include_paths)
        return made

    data.read_images = read_images
    data.ActorPoolStrategy = lambda size: f"{size} actors"
    ray: Any = ModuleType("ray")
    ray.is_initialized = lambda: True
    ray.cluster_resources = lambda: {"CPU": 4.0}
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.data", data)
    return made


def test_a_folder_goes_through_ray_data(rows: Rows) -> None:
    tl.ray.predict_folder(model, Path("in"), "out", transform=halved, workers=3, batch_size=4)
    assert rows.options == {
        "read": ("in", True), "batch_size": 4, "batch_format": "numpy", "compute": "3 actors",
    }  # fmt: skip
    assert (rows.target, rows.columns["prediction"].shape) == ("out", (5, 2))


def test_a_cpu_stays_for_reading(rows: Rows) -> None:
    with pytest.raises(OptionError, match="workers=4 leave none of the cluster's 4 CPUs"):
        tl.ray.predict_folder(model, "in", "out", workers=4)
    assert rows.options == {}
