"""torch.utils.tensorboard's `SummaryWriter`. The package tensorboard writes the files."""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from ..core.packages import package
from ..errors import MissingError, ShapeError
from .summaries import array, board, histogram, image, number, png, session_end


class SummaryWriter:
    """Writes figures, histograms, pictures and texts into a folder that TensorBoard shows.

    What it is given may be on a device: it is read, which blocks.

    log_dir: the folder, which is made; None is a new one in `runs`, named after the time and this
      computer. comment: ends the name of such a folder.
    purge_step: TensorBoard forgets what earlier files have from this step on.
    max_queue, flush_secs: what is not written yet is written after so many events, and so many
      seconds. filename_suffix: ends the name of the file.
    Raises: PackageError without tensorboard: pip install tallow[tensorboard].
    Source: PyTorch, `torch.utils.tensorboard.SummaryWriter`. Graphs, embeddings, sounds, videos,
      meshes and curves of precision are missing: MissingError.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = time.strftime("%b%d_%H-%M-%S")
            log_dir = str(Path("runs") / f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = str(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self._files: dict[str, Any] = {}
        if purge_step is not None:
            events = board("compat.proto.event_pb2")
            start = events.SessionLog(status=events.SessionLog.START)
            self._event(purge_step, None, session_log=start)
        else:
            self._file(self.log_dir)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            raise MissingError(
                f"SummaryWriter.{name}: is not there; tensorboardX's SummaryWriter has it"
            )
        raise AttributeError(f"SummaryWriter has no attribute {name!r}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def flush(self) -> None:
        """Writes what was not written yet."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Writes what was not written yet, and closes the files; a later call opens new ones."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    # ---- what is written -----------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Adds a number to a curve.

        tag: the curve's name; those with the same part before a slash are shown together.
        scalar_value: a number, or a tensor of one. global_step: its place.
        walltime: seconds since 1970; None is now.
        new_style, double_precision: change nothing: the number is written as float32.
        """
        self._summary(global_step, walltime, tag=tag, simple_value=number(scalar_value))

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds numbers to several curves of one picture: each is a run, in a folder of its own.

        main_tag: the picture's name. tag_scalar_dict: a number for each curve, by name.
        global_step, walltime: as for `add_scalar`.
        """
        for tag, value in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            self._summary(global_step, walltime, folder, tag=main_tag, simple_value=number(value))

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "auto",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Adds how often values occur; those that are not finite are left out.

        tag: its name. values: an array, or a tensor. global_step, walltime: as for `add_scalar`.
        bins: edges, or what `numpy.histogram` takes; "tensorflow", "auto" and "fd" are at most 64
          bins of the same width. max_bins: at most so many.
        """
        self._summary(global_step, walltime, tag=tag, histo=histogram(values, bins, max_bins))

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Adds a picture.

        tag: its name. img_tensor: bytes, or floating numbers from 0 to 1, in 1, 3 or 4 channels.
        global_step, walltime: as for `add_scalar`. dataformats: the order of the axes: "CHW",
          "HWC" or "HW".
        Raises: ShapeError for other axes, and for another number of channels.
        """
        picture = image(array(img_tensor), dataformats)
        self._summary(global_step, walltime, tag=tag, image=picture)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Adds several pictures, side by side; see `add_image`. dataformats: with N, such as
        "NHWC"."""
        import numpy as np

        pictures = array(img_tensor)
        if pictures.ndim != len(dataformats) or "N" not in dataformats:
            raise ShapeError(
                f"SummaryWriter.add_images: {pictures.shape} has not the axes {dataformats}"
            )
        rest = dataformats.replace("N", "")
        parts = np.moveaxis(pictures, dataformats.index("N"), 0)
        row = np.concatenate(list(parts), axis=rest.index("W"))
        self._summary(global_step, walltime, tag=tag, image=image(row, rest))

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Adds a figure of matplotlib, as a picture.

        tag: its name. figure: the figure. global_step, walltime: as for `add_scalar`.
        close: whether the figure is closed then.
        """
        content = io.BytesIO()
        figure.savefig(content, format="png")
        width, height = (round(inches * figure.dpi) for inches in figure.get_size_inches())
        picture = png(content.getvalue(), (height, width, 4))
        self._summary(global_step, walltime, tag=tag, image=picture)
        if close:
            package("matplotlib.pyplot", "add_figure", "matplotlib").close(figure)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Adds a text, which may be Markdown. Arguments as for `add_scalar`."""
        summary = board("plugins.text.summary_v2").text_pb(tag, text_string)
        self._event(global_step, walltime, summary=summary)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Any] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Adds what a run was given, and how good it became, in a folder of its own.

        hparam_dict: numbers, truths and texts by name. metric_dict: numbers by name.
        hparam_domain_discrete: changes nothing. run_name: the folder; None is the time.
        global_step: the place of the numbers.
        """
        folder = f"{self.log_dir}/{run_name or time.time()}"
        plugin = board("plugins.hparams.summary_v2")
        given = {
            name: value if isinstance(value, (bool, int, float, str)) else number(value)
            for name, value in hparam_dict.items()
        }
        names, metrics = map(plugin.HParam, given), map(plugin.Metric, metric_dict)
        for summary in (
            plugin.hparams_config_pb(list(names), list(metrics)),
            plugin.hparams_pb(given),
            session_end(),
        ):
            self._event(None, None, folder, summary=summary)
        for name, value in metric_dict.items():
            self._summary(global_step, None, folder, tag=name, simple_value=number(value))
        self._files.pop(folder).close()

    # ---- files ---------------------------------------------------------------------------------

    def _file(self, folder: str) -> Any:
        if folder not in self._files:
            made = board("summary.writer.event_file_writer").EventFileWriter
            self._files[folder] = made(folder, *self._options)
        return self._files[folder]

    def _event(
        self, step: int | None, when: float | None, folder: str | None = None, **content: Any
    ) -> None:
        event = board("compat.proto.event_pb2").Event
        seconds = time.time() if when is None else when
        made = event(wall_time=seconds, step=0 if step is None else int(step), **content)
        self._file(folder or self.log_dir).add_event(made)

    def _summary(
        self, step: int | None, when: float | None, folder: str | None = None, **value: Any
    ) -> None:
        summary = board("compat.proto.summary_pb2").Summary
        self._event(step, when, folder, summary=summary(value=[summary.Value(**value)]))
