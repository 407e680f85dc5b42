"""names.py: each public name is defined once, the stubs are fresh, and nothing else looks up
definitions by their names."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tallow as tl
from tallow import nn
from tallow.binding import bind, rows
from tallow.errors import ArgumentError
from tallow.names import NAMES, PACKAGES
from tallow.tensor.methods import Methods

from .stubs import PACKAGE, defined, file_of, imported, stubs

SURFACE = ("functions", "functional", "methods")
"""The packages whose public definitions have a row each, or serve others."""

ROOMS = {"tallow": tl, "functional": tl.functional, "nn": nn, "nn.utils": nn.utils, "zoo": tl.zoo}

FORMS = {
    *ROOMS, "method", "in-place", "operator", "static", "second", "torch", "torch_",
    "number-first", "unlisted", "internal",
}  # fmt: skip

FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", stubs(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_stubs_are_fresh(path: Path) -> None:
    fresh = path.read_text("utf-8") == stubs()[path]
    assert fresh, "run: PYTHONPATH=py:. python -m tests.unit.project.stubs"


def test_each_row_says_where_a_definition_is_and_in_which_forms() -> None:
    for home, groups in NAMES.items():
        for forms, names in groups.items():
            assert set(forms.split()) <= FORMS, (home, forms)
            for each in names.split():
                own = (each.partition("=")[2] or each).partition(".")[0]
                assert own in defined(home) or own in imported(home), f"{home}: {own}"


def test_a_name_has_one_definition_in_each_room() -> None:
    found: Counter[tuple[str, str]] = Counter()
    for groups in NAMES.values():
        for forms, names in groups.items():
            for form in {*forms.split()} - {"second", "in-place"}:
                found.update((form, each.partition("=")[0]) for each in names.split())
    assert not [key for key, count in found.items() if count > 1]
    assert not {*rows("torch")} & {*rows("number-first")}


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_is_found_and_listed(room: str) -> None:
    module = ROOMS[room]
    for name, row in rows(room).items():
        found = getattr(module, name)
        assert getattr(found, "__wrapped__", found) is row.find() or found is row.find()
        if room != "nn.utils":
            assert name in module.__all__
    assert tl.float is tl.float32 and "float" not in tl.__all__
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = module.nonsense


def test_no_public_name_is_that_of_a_file_in_its_package() -> None:
    """An import of the file would hide the name. `tl.tensor` and `tl.devices` are set when Tallow
    is imported."""
    inside = {"tallow": PACKAGE, "functional": PACKAGE / "functional", "nn": PACKAGE / "nn"}
    for room, folder in inside.items():
        files = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
        assert {*rows(room)} & files <= {"devices", "tensor"}
    functions = {path.stem for path in (PACKAGE / "functions").iterdir()}
    assert not {*rows("tallow")} & functions - {"linalg"}
    assert callable(tl.tensor) and callable(tl.devices)


def test_a_public_function_stands_in_one_file() -> None:
    """Two definitions of one name are two rows: the array API's meaning and PyTorch's."""
    meant = {(row.home, row.own) for form in FORMS for row in rows(form).values()}
    meant |= {(row.home, name) for form in FORMS for name, row in rows(form).items()}
    names = {name for form in ("tallow", "functional", "method") for name in rows(form)}
    found = []
    for folder in SURFACE:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            home = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            home = home.removesuffix(".__init__")
            if home == "functions.linalg":  # a room of its own, with the standard's arguments
                continue
            found += [(home, own) for own in defined(home) if own in names]
    assert len(found) > 400
    assert {pair for pair in found if pair not in meant} == INNER


INNER = {("functions.philox", "normal")}
"""A draw by a key of its own."""


def test_the_library_looks_up_nothing_by_text() -> None:
    """binding.py does, by names.py, and core/devices.py, which lists the devices; one package of
    others is imported where it is used."""
    late, looked_up, rooms = [], [], set()
    for path in FILES:
        name = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "importlib":
                late += [name for alias in node.names if alias.name == "import_module"]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "imported":
                rooms.add(name.partition("/")[0])
            elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "globals()":
                looked_up += [name] if isinstance(node.ctx, ast.Load) else []
    assert late == ["binding.py", "core/devices.py", "devices/webgpu/native/device.py"]
    assert not looked_up
    # core: telemetry, if the environment asks for it, and other packages; torch: by torch/names.py
    assert rooms == {"core", "torch"}


def test_methods_come_late_and_take_their_place() -> None:
    class Mine(Methods):
        __slots__ = ()

    bind(Mine)
    late = vars(Mine)["hypot"]
    assert type(late).__name__ == "_Late"
    assert Mine.hypot is vars(Mine)["hypot"] is not late  # type: ignore[comparison-overlap]
    assert "hypot" in dir(tl.zeros(1)) and "hypot_" in dir(tl.Tensor)


def test_arguments_of_methods_have_both_names() -> None:
    x: Any = tl.asarray([[1.0, 2.0], [3.0, 5.0]])
    total: Any = tl.sum
    both = ({"axis": 1, "keepdims": True}, {"dim": 1, "keepdim": True})
    for named in both:
        assert x.sum(**named).tolist() == [[3.0], [8.0]]
        assert x.amax(**named).tolist() == [[2.0], [5.0]]
        assert x.logsumexp(**named).shape == (2, 1)
    assert x.pow(exponent=2).tolist() == x.pow(y=2).tolist() == [[1.0, 4.0], [9.0, 25.0]]
    assert tl.amax(x, dim=1).tolist() == x.amax(axis=1).tolist() == [2, 5]
    assert tl.unsqueeze(x, dim=0).shape == (1, 2, 2)
    assert x.maximum(other=x + 1).tolist() == (x + 1).tolist()
    with pytest.raises(ArgumentError, match=r"sum\(\) takes no argument 'across'; it takes axis"):
        x.sum(across=1)
    with pytest.raises(TypeError, match="across"):
        total(x, across=1)


def test_packages_are_imported_late() -> None:
    for name in PACKAGES.split():
        assert getattr(tl, name).__name__ == f"tallow.{name}"
        assert file_of(name).exists()
