"""Tables of files as datasets: CSV, arrays of NumPy's, Parquet."""

from __future__ import annotations

import csv
import io
import math
import os
import warnings
import zipfile
from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any, TextIO

from ..core import dtype as dt
from ..core.hostarray import HostArray
from ..errors import DataError, MissingError, OptionError
from ..graph import constant
from ..tensor import Tensor, asarray
from .dataset import TensorDataset

Path = str | os.PathLike[str]
Column = str | int


class TableDataset(TensorDataset):
    """Rows of a table: sample i is (features,), or (features, target).

    columns: the names of the features. classes: the names of the classes, if the target is texts;
    else none.
    """

    def __init__(
        self, tensors: Sequence[Tensor], columns: Sequence[str], classes: Sequence[str]
    ) -> None:
        super().__init__(*tensors)
        self.columns, self.classes = list(columns), list(classes)


def from_csv(
    path: Path | TextIO,
    target: Column | None = None,
    *,
    columns: Sequence[Column] | None = None,
    delimiter: str = ",",
    header: bool = True,
    encoding: str = "utf-8",
    missing: float | None = None,
) -> TableDataset:
    """A table of numbers in a text file.

    path: of the file, or an open one. target: the column that is to be predicted, by its name or
    its number. Whole numbers become int64, other numbers float32 (rows, 1); texts are classes, and
    become their numbers in the order of the alphabet. columns: the features, float32 (rows,
    columns); all others, if None. header: whether the first line has the names; else they are 0,
    1, ... missing: stands for empty fields, which are an error if it is None.

    Raises DataError for a damaged line, with the file, the line and what is wrong; for a file
    without rows. OptionError for a column that is not there. One class alone is a warning.
    """
    if not isinstance(path, (str, os.PathLike)):
        return _csv(
            path,
            str(getattr(path, "name", "the text")),
            target,
            columns,
            delimiter,
            header,
            missing,
        )
    content = FilePath(path).read_bytes()
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(f"{path}, line {line}: {error}") from error
    file = io.StringIO(text.removeprefix("\ufeff"), newline="")
    return _csv(file, str(path), target, columns, delimiter, header, missing)


def _csv(
    file: TextIO, where: str, target: Column | None, columns: Sequence[Column] | None,
    delimiter: str, header: bool, missing: float | None,
) -> TableDataset:  # fmt: skip
    lines = csv.reader(file, delimiter=delimiter, strict=True)

    def following() -> list[str] | None:
        began = lines.line_num + 1
        try:
            return next(lines, None)
        except csv.Error as error:
            raise DataError(f"{where}, line {began}: {error}") from error

    names = following() or []
    first = None if header else names
    names = [name.strip() for name in names] if header else [str(n) for n in range(len(names))]
    at, kept = _wanted(names, target, columns, where)
    features, goals, found_at = array("f"), [], []

    def add(fields: list[str]) -> None:
        line = lines.line_num
        if len(fields) != len(names):
            raise DataError(f"{where}, line {line}: {len(fields)} fields, and {len(names)} columns")
        for each in kept:
            features.append(_number(fields[each], missing, where, line, names[each]))
        if at is not None:
            goals.append(fields[at].strip())
            found_at.append(line)

    if first:
        add(first)
    while (fields := following()) is not None:
        if fields:  # not an empty line
            add(fields)
    rows = len(goals) if at is not None else len(features) // max(len(kept), 1)
    if not rows:
        raise DataError(f"{where}: it has no rows")
    shape = (rows, len(kept))
    tensors = [Tensor(constant(HostArray(memoryview(features.tobytes()), shape, dt.float32)))]
    classes: list[str] = []
    if at is not None:
        for goal, line in zip(goals, found_at, strict=True):
            if not goal:
                raise DataError(f"{where}, line {line}, column {names[at]!r}: it is empty")
        goal_tensor, classes = _targets(goals, where)
        tensors.append(goal_tensor)
    return TableDataset(tensors, [names[each] for each in kept], classes)


def _number(text: str, missing: float | None, where: str, line: int, name: str) -> float:
    text = text.strip()
    if not text and missing is not None:
        return missing
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        what = f"{text!r} is no finite number" if text else "it is empty; give missing="
        raise DataError(f"{where}, line {line}, column {name!r}: {what}")
    return found


def _targets(goals: Sequence[str], where: str) -> tuple[Tensor, list[str]]:
    """Targets as a tensor, and the names of the classes if they are texts."""
    classes: list[str] = []
    numbers: list[Any]
    try:
        numbers = [int(each) for each in goals]
        whole = True
    except ValueError:
        try:
            numbers, whole = [float(each) for each in goals], False
        except ValueError:
            classes = sorted(set(goals))
            index = {name: number for number, name in enumerate(classes)}
            numbers, whole = [index[each] for each in goals], True
    if whole:
        warn_of_one_class(numbers, where)
        return asarray(numbers, dtype="int64"), classes
    if not all(map(math.isfinite, numbers)):
        raise DataError(f"{where}: a target is not finite")
    return asarray([[each] for each in numbers], dtype="float32"), classes


def warn_of_one_class(labels: Sequence[Any], where: str) -> None:
    """Warns if all labels are the same."""
    if len(set(labels)) == 1:
        warnings.warn(
            f"{where}: all targets are {labels[0]}, so that there is nothing to learn", stacklevel=3
        )


def _wanted(
    names: Sequence[str], target: Column | None, columns: Sequence[Column] | None, where: str
) -> tuple[int | None, list[int]]:
    """The numbers of the target's column and of those of the features."""

    def number(column: Column) -> int:
        if isinstance(column, int) and -len(names) <= column < len(names):
            return column % len(names)
        if column in names:
            return names.index(str(column))
        raise OptionError(f"{where} has no column {column!r}; it has {', '.join(names)}")

    at = None if target is None else number(target)
    if columns is None:
        return at, [each for each in range(len(names)) if each != at]
    return at, [number(each) for each in columns]


def from_arrays(path: Path, *names: str) -> TensorDataset:
    """The arrays of a .npz file as a dataset, sample i being a row of each; or that of a .npy file.

    names: of the arrays, in order; all of the file, if there are none. Raises DataError for a
    damaged file, OptionError for a name that it does not have, ShapeError for other lengths.
    """
    import numpy as np

    try:
        found = np.load(io.BytesIO(FilePath(path).read_bytes()), allow_pickle=False)
        arrays = dict(found) if hasattr(found, "files") else {"": found}
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise DataError(f"{path} is damaged, or holds no arrays of numbers: {error}") from error
    for name in names:
        if name not in arrays:
            known = ", ".join(arrays) if "" not in arrays else "one array without a name"
            raise OptionError(f"{path} has no array {name!r}; it has {known}")
    return TensorDataset(*(asarray(arrays[name]) for name in names or arrays))


def from_parquet(
    path: Path, target: str | None = None, *, columns: Sequence[str] | None = None
) -> TableDataset:
    """A table of a Parquet file; see `from_csv`. Raises MissingError without pyarrow, DataError for
    a damaged file, for empty fields, and for features that are no numbers."""
    if find_spec("pyarrow") is None:
        raise MissingError("from_parquet needs pyarrow: pip install pyarrow")
    import numpy as np
    from pyarrow import ArrowInvalid, parquet  # type: ignore[import-not-found,unused-ignore]

    try:
        table = parquet.read_table(path)
    except ArrowInvalid as error:
        raise DataError(f"{path} is damaged, or no Parquet file: {error}") from error
    names = list(table.column_names)
    at, kept = _wanted(names, target, columns, str(path))
    if not table.num_rows:
        raise DataError(f"{path}: it has no rows")
    features = []
    for each in [*kept, *([] if at is None else [at])]:
        if table.column(each).null_count:
            raise DataError(
                f"{path}, column {names[each]!r}: {table.column(each).null_count} empty"
            )
    for each in kept:
        values = table.column(each).to_numpy()
        if values.dtype.kind not in "biuf":
            raise DataError(
                f"{path}, column {names[each]!r}: {table.column(each).type}, no numbers"
            )
        features.append(values.astype(np.float32))
    tensors = [asarray(np.stack(features, axis=1) if features else np.zeros((table.num_rows, 0)))]
    classes: list[str] = []
    if at is not None:
        goal, classes = _targets([str(v) for v in table.column(at).to_pylist()], str(path))
        tensors.append(goal)
    return TableDataset(tensors, [names[each] for each in kept], classes)
