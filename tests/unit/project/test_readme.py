"""README.md: the op that it adds is one that Tallow lacks, and adding it works."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import tallow as tl
from tallow_build.paths import ROOT
from tallow_build.process import environment

USED = """
import numpy as np
import tallow as tl

x = np.float32([8, -27, 0.5, 0])
for device in ("numpy", "wasm"):
    assert np.allclose(tl.cbrt(tl.asarray(x)).numpy(device=device), np.cbrt(x), rtol=1e-5), device
w = tl.asarray(x[:3], requires_grad=True)
tl.cbrt(w).sum().backward()
assert np.allclose(w.grad.numpy(), np.cbrt(x[:3]) ** -2 / 3, rtol=1e-5)
tl.onnx.save(tl.cbrt, "cbrt.onnx", inputs=[((2, 3), "float32")])
"""


def applied(diff: str, root: Path) -> None:
    """Changes files as a diff without line numbers says: what is added follows, or precedes, lines
    that are there once."""
    for name, body in re.findall(r"^\+\+\+ b/(\S+)\n(.*?)(?=^--- |\Z)", diff, re.M | re.S):
        path = root / name
        text = path.read_text("utf-8")
        # A run of lines without and with the change; one that was there first ends a run.
        for part in re.findall(r"(?:^[ -].*\n)*(?:^\+.*\n)+(?:^ .*\n)?", body, re.M):
            lines = part.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] in " -")
            after = "".join(line[1:] for line in lines if line[0] in " +")
            assert text.count(before) == 1, (name, before)
            text = text.replace(before, after)
        path.write_text(text, "utf-8")


def test_the_op_that_the_readme_adds(tmp_path: Path) -> None:
    (diff,) = re.findall(r"```diff\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    assert not hasattr(tl, "cbrt")
    for folder in ("py/tallow", "kernels_wgsl", "tests/ops/cases/op_cases"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    applied(diff, tmp_path)
    cases = tmp_path / "tests" / "ops" / "cases" / "op_cases" / "elementwise.py"
    compile(cases.read_text("utf-8"), cases, "exec")
    run = subprocess.run(
        [sys.executable, "-c", USED],
        cwd=tmp_path,
        env=environment({"PYTHONPATH": str(tmp_path / "py")}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "cbrt.onnx").exists()
