"""The op suite on NumPy in Pyodide, where an index has 32 bits and products have no BLAS."""

from __future__ import annotations

from typing import Any

from op_cases import CASES

_ALL = """
import run_case
found = {name: await run_case.run_case(name, "numpy") for name in run_case.CASES}
{name: each["wrong"] or each["device"] for name, each in found.items()}
"""


def test_every_case(python: Any) -> None:
    found = python.run(_ALL)
    assert found == dict.fromkeys(CASES, "numpy")
