"""What may import what: the seams of docs/architecture.md, held by tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "py" / "tallow"
FILES = sorted(LIBRARY.rglob("*.py"))


def imported(path: Path, top_level_only: bool = False) -> set[str]:
    """The first parts of the names of absolute imports."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_only_one_file_knows_the_browser(path: Path) -> None:
    browser = imported(path) & {"js", "pyodide", "pyodide_js"}
    assert not browser or path == LIBRARY / "backends" / "webgpu.py"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_nothing_imports_numpy_at_import_time(path: Path) -> None:
    assert "numpy" not in imported(path, top_level_only=True)


def test_importing_tallow_imports_neither_numpy_nor_wgpu() -> None:
    code = "import sys, tallow, tallow.app; sys.exit(bool({'numpy', 'wgpu'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "py")})
    assert done.returncode == 0


def test_importing_tallow_does_not_import_what_saves_models() -> None:
    code = "import sys, tallow; sys.exit('tallow.onnx.export' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "py")})
    assert done.returncode == 0


def test_compiling_for_webgpu_imports_no_numpy() -> None:
    code = """
import sys, tallow as tl
from tallow import functional as F
from tallow.compile import compile_graph
from tallow.graph import Graph, input_node
x = tl.Tensor(input_node("x", (1, 3, 8, 8), tl.float32))
w = tl.asarray([[[[0.5] * 3] * 3] * 3] * 4)
y = F.softmax(F.global_avg_pool(F.relu(F.conv2d(x, w))), 1)
compiled = compile_graph(Graph((x.node,), {"y": y.node}))
assert compiled.plan.modules and compiled.device_weights()
sys.exit("numpy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "py")})
    assert done.returncode == 0


def test_views_and_widgets_do_not_know_the_gpu() -> None:
    folders = [ROOT / "web" / name for name in ("views", "widgets")]
    paths = [path for folder in folders for path in folder.rglob("*.js")]
    assert len(paths) > 40
    for path in paths:
        assert not re.search(r"from \"[./]*gpu/", path.read_text("utf-8")), path


def test_backends_name_no_elementwise_op() -> None:
    """Facts live in records: only the table of hand-written kernels may name ops, and not these."""
    from tallow.op import REGISTRY, Elementwise

    names = [n for n, op in REGISTRY.items() if isinstance(op, Elementwise)]
    for path in (LIBRARY / "backends").glob("*.py"):
        text = path.read_text("utf-8")
        found = [n for n in names if re.search(rf"elementwise\.{n}\b|op\.name == \"{n}\"", text)]
        assert not found, f"{path.name} asks for {found}"
