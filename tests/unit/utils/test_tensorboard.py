"""SummaryWriter: what TensorBoard reads of its files."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

import tallow as tl
from tallow.core import context
from tallow.errors import MissingError, ShapeError
from tallow.utils.tensorboard import SummaryWriter

with context.pytorch.override(True):  # its habits stay within
    import tallow.torch as torch


def read(folder: Path) -> Any:
    found = EventAccumulator(str(folder), {"scalars": 0, "images": 0, "histograms": 0})
    found.Reload()
    return found


def test_numbers_are_curves(tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_scalar("train/loss", tl.asarray(1.5) / (step + 1), step, walltime=100 + step)
        writer.add_scalar("once", 7)
        assert writer.get_logdir() == writer.log_dir == str(tmp_path)
    found = read(tmp_path).Scalars("train/loss")
    assert [(each.step, each.value, each.wall_time) for each in found] == [
        (0, 1.5, 100.0), (1, 0.75, 101.0), (2, 0.5, 102.0)
    ]  # fmt: skip
    assert read(tmp_path).Scalars("once")[0].step == 0


def test_numbers_of_one_picture_are_runs(tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalars("a/loss", {"train": 1.0, "valid": 2.0}, 5)
    for name, value in (("train", 1.0), ("valid", 2.0)):
        (found,) = read(tmp_path / f"a_loss_{name}").Scalars("a/loss")
        assert (found.step, found.value) == (5, value)


@pytest.mark.parametrize("bins", ["auto", 4, [0.0, 1.0, 2.0, 3.0]])
def test_histograms_count_what_is_finite(tmp_path: Path, bins: Any) -> None:
    values = tl.asarray([0.0, 1.0, 1.0, 3.0, float("nan"), float("inf")])
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_histogram("w", values, 2, bins=bins)
        writer.add_histogram("none", tl.asarray([float("nan")]))
    found = read(tmp_path)
    (event,) = found.Histograms("w")
    histogram = event.histogram_value
    assert (histogram.min, histogram.max, histogram.num) == (0.0, 3.0, 4)
    assert (histogram.sum, histogram.sum_squares) == (5.0, 11.0)
    assert sum(histogram.bucket) == 4
    assert len(histogram.bucket) == len(histogram.bucket_limit)
    assert found.Histograms("none")[0].histogram_value.num == 0


@pytest.mark.parametrize("axes", ["CHW", "HWC", "HW"])
def test_pictures_are_what_they_were(tmp_path: Path, axes: str) -> None:
    drawn = np.random.default_rng(0).integers(0, 256, (4, 5, 3), np.uint8)
    picture = drawn[:, :, 0] if axes == "HW" else drawn
    given = picture.transpose(2, 0, 1) if axes == "CHW" else picture
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_image("bytes", given, 1, dataformats=axes)
        writer.add_image("numbers", tl.asarray(given.astype(np.float32) / 255), dataformats=axes)
    for name in ("bytes", "numbers"):
        (found,) = read(tmp_path).Images(name)
        assert (found.height, found.width) == (4, 5)
        shown = np.asarray(Image.open(io.BytesIO(found.encoded_image_string)))
        assert np.abs(shown.astype(int) - picture).max() <= (name == "numbers")


def test_several_pictures_are_side_by_side(tmp_path: Path) -> None:
    pictures = np.zeros((3, 1, 2, 4), np.float32)
    pictures[1] = 1
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_images("row", pictures)
    (found,) = read(tmp_path).Images("row")
    shown = np.asarray(Image.open(io.BytesIO(found.encoded_image_string)))
    assert shown.shape == (2, 12)
    assert shown[0].tolist() == [0] * 4 + [255] * 4 + [0] * 4


def test_texts_and_what_a_run_was_given(tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_text("note", "a *text*", 3)
        writer.add_hparams(
            {"lr": 0.1, "layers": tl.asarray(3), "bias": True, "kind": "mlp"},
            {"accuracy": tl.asarray(0.5)},
            run_name="tried",
            global_step=9,
        )
    (text,) = read(tmp_path).Tensors("note")
    assert text.tensor_proto.string_val[0] == b"a *text*"
    tried = read(tmp_path / "tried")
    (accuracy,) = tried.Scalars("accuracy")
    assert (accuracy.step, accuracy.value) == (9, 0.5)
    metadata = tried.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    given = HParamsPluginData.FromString(metadata).session_start_info.hparams
    assert {name: getattr(value, value.WhichOneof("kind")) for name, value in given.items()} == {
        "lr": 0.1, "layers": 3.0, "bias": True, "kind": "mlp"
    }  # fmt: skip


def test_steps_from_a_place_on_are_forgotten(tmp_path: Path) -> None:
    for start in (0, 2):
        with SummaryWriter(
            str(tmp_path), purge_step=start, filename_suffix=f".of.{start}"
        ) as writer:
            for step in range(start, 4):
                writer.add_scalar("x", start, step)
        (file,) = tmp_path.glob(f"*.of.{start}")
        file.rename(tmp_path / f"events.out.tfevents.{start}")  # else two of a second may be turned
    assert [each.value for each in read(tmp_path).Scalars("x")] == [0.0, 0.0, 2.0, 2.0]


def test_a_folder_is_made_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    SummaryWriter(comment="_first").close()
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("_first")


def test_what_is_missing_and_what_does_not_fit(tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path)) as writer:
        with pytest.raises(MissingError, match=r"add_graph: is not there; tensorboardX"):
            writer.add_graph(None)
        with pytest.raises(ShapeError, match=r"\(2, 3\) has not the axes CHW"):
            writer.add_image("x", np.zeros((2, 3)))
        with pytest.raises(ShapeError, match="1, 3 or 4 channels, not 2"):
            writer.add_image("x", np.zeros((2, 4, 4)))
        with pytest.raises(ShapeError, match="has not the axes NCHW"):
            writer.add_images("x", np.zeros((2, 4, 4)))


def test_pytorchs_name_is_the_same_and_an_import_error_without_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert torch.utils.tensorboard.SummaryWriter is SummaryWriter
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ImportError, match=r"pip install tallow\[tensorboard\]"):
        _ = torch.utils.tensorboard.SummaryWriter
