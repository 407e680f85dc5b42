"""What is in TensorBoard's files: messages of histograms and pictures, as the package tensorboard
defines them."""

from __future__ import annotations

import io
import time
from typing import Any

from ..core.packages import package
from ..errors import ShapeError


def board(name: str) -> Any:
    """A module of tensorboard. Raises PackageError."""
    return package(f"tensorboard.{name}", "SummaryWriter", "tensorboard")


def array(value: Any) -> Any:
    """An array of what may be a tensor."""
    import numpy as np

    value = value.detach() if hasattr(value, "detach") else value
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def number(value: Any) -> float:
    """A number of what may be a tensor with one."""
    return float(value.item() if hasattr(value, "item") else value)


def histogram(values: Any, bins: Any, max_bins: int | None) -> Any:
    """How often values occur; see `SummaryWriter.add_histogram`."""
    import numpy as np

    found = array(values).astype(np.float64).ravel()
    found = found[np.isfinite(found)]
    if isinstance(bins, str):
        bins = min(64, max_bins or 64)
    elif isinstance(bins, int) and max_bins is not None:
        bins = min(bins, max_bins)
    counts, edges = np.histogram(found, bins)
    return board("compat.proto.summary_pb2").HistogramProto(
        min=found.min() if found.size else 0.0,
        max=found.max() if found.size else 0.0,
        num=found.size,
        sum=found.sum(),
        sum_squares=(found**2).sum(),
        bucket_limit=edges,  # the first bucket, which is empty, ends where the values begin
        bucket=[0, *counts],
    )


def image(picture: Any, axes: str) -> Any:
    """A picture; see `SummaryWriter.add_image`."""
    import numpy as np

    if sorted(axes) not in (["C", "H", "W"], ["H", "W"]) or picture.ndim != len(axes):
        raise ShapeError(f"SummaryWriter.add_image: {picture.shape} has not the axes {axes}")
    turned = picture.transpose(tuple(axes.index(axis) for axis in "HWC" if axis in axes))
    if turned.ndim == 2:
        turned = turned[:, :, None]
    if turned.shape[2] not in (1, 3, 4):
        raise ShapeError(
            f"SummaryWriter.add_image: a picture has 1, 3 or 4 channels, not {turned.shape[2]}"
        )
    if turned.dtype != np.uint8:
        turned = (np.clip(turned, 0, 1) * 255).astype(np.uint8)
    pictures = package("PIL.Image", "SummaryWriter.add_image", "tensorboard")
    content = io.BytesIO()
    squeezed = turned[:, :, 0] if turned.shape[2] == 1 else turned
    pictures.fromarray(np.ascontiguousarray(squeezed)).save(content, "PNG")
    return png(content.getvalue(), turned.shape)


def png(content: bytes, shape: tuple[int, int, int]) -> Any:
    """A picture that is a file already. shape: height, width, channels."""
    height, width, channels = shape
    return board("compat.proto.summary_pb2").Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=content
    )


def session_end() -> Any:
    """Says that a run with its parameters is over. (tensorboard's own function for it needs
    TensorFlow.)"""
    data, facts = board("plugins.hparams.plugin_data_pb2"), board("plugins.hparams.metadata")
    done = board("plugins.hparams.api_pb2").STATUS_SUCCESS
    ended = data.SessionEndInfo(status=done, end_time_secs=time.time())
    made = facts.create_summary_metadata(data.HParamsPluginData(session_end_info=ended))
    summary = board("compat.proto.summary_pb2").Summary
    value = {"metadata": made, "tensor": facts.NULL_TENSOR}
    return summary(value=[summary.Value(tag=facts.SESSION_END_INFO_TAG, **value)])
