"""Which tests share a process."""

from __future__ import annotations

from tests.conftest import OP_SUITE, process_group

from tallow_build.paths import ROOT


def test_a_file_is_a_group_but_the_op_suite_is_one_for_each_device() -> None:
    assert process_group("tests/ops/test_packed.py::test_a[x-y]") == "tests/ops/test_packed.py"
    wasm = {process_group(f"{OP_SUITE}wasm-{case}]") for case in ("add", "argsort-many-int64")}
    assert wasm == {f"{OP_SUITE}wasm"}


def test_the_op_suite_has_its_name() -> None:
    path, _, name = OP_SUITE.partition("::")
    assert f"def {name[:-1]}(" in (ROOT / path).read_text("utf-8")
