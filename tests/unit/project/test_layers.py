"""What may import what: the layers of docs/architecture.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tallow.compile import TARGETS
from tallow.core.devices import KINDS
from tallow.names import NAMES
from tallow.runtime.device import DEVICES
from tallow_build.paths import ROOT

PY = ROOT / "py"
LIBRARY = PY / "tallow"
FILES = sorted([*LIBRARY.rglob("*.py"), *(PY / "tallow_page").rglob("*.py")])


def module_of(path: Path, root: Path = PY) -> str:
    """ "tallow.ops" of py/tallow/ops/__init__.py."""
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


@dataclass(frozen=True)
class Import:
    """That one module imports another, and on which line."""

    by: str
    of: str
    where: str


def imports(files: Mapping[str, Path]) -> Iterator[Import]:
    """All imports between these modules, deferred and type-only ones included."""
    for name, path in files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for item in ast.walk(ast.parse(path.read_text("utf-8"))):
            found: list[str] = []
            if isinstance(item, ast.Import):
                found = [alias.name for alias in item.names]
            elif isinstance(item, ast.ImportFrom):
                parts = package.split(".")
                above = parts[: len(parts) - item.level + 1] if item.level else []
                source = ".".join([*above, *filter(None, [item.module])])
                names = [f"{source}.{alias.name}" for alias in item.names]
                found = [each if each in files else source for each in names]
            for each in dict.fromkeys(found):
                if each in files and each != name:
                    yield Import(name, each, f"{path}:{item.lineno}")


def listed(text: str) -> list[str]:
    """The layers that docs/architecture.md lists, the highest first."""
    part = text.partition("\n## Layers\n")[2].partition("\n## ")[0]
    return re.findall(r"^    (\w+) {2,}\S", part, re.M)


def layer_of(module: str) -> str:
    """ "ops" of tallow.ops.reduce, "tallow" of what `import tallow` gives."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] or first if first == "tallow" else first


def upward(found: Iterator[Import], order: list[str]) -> list[str]:
    """The imports of lower layers, as text."""
    rank = {name: index for index, name in enumerate(order)}
    return [
        f"{each.where}: {layer_of(each.by)} imports {layer_of(each.of)}, which stands below it"
        for each in found
        if rank[layer_of(each.by)] < rank[layer_of(each.of)]
    ]


def circles(found: list[Import], folder: str) -> list[str]:
    """The imports that form a cycle between the files and folders in a folder, as text."""

    def entry(module: str) -> str | None:
        if module == folder:
            return "__init__"
        if not module.startswith(f"{folder}."):
            return None
        return module.removeprefix(f"{folder}.").partition(".")[0]

    edges: dict[str, set[str]] = {}
    between: list[tuple[str, str, Import]] = []
    for each in found:
        by, of = entry(each.by), entry(each.of)
        if by and of and by != of:
            edges.setdefault(by, set()).add(of)
            between.append((by, of, each))

    @cache
    def reached(start: str) -> frozenset[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = edges.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return frozenset(seen)

    return [f"{e.where}: {by} imports {of}, and {of} {by}" for by, of, e in between
            if by in reached(of)]  # fmt: skip


@cache
def modules() -> dict[str, Path]:
    return {module_of(path): path for path in FILES if path.name != "__main__.py"}


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(imports(modules()))


def test_every_package_stands_in_the_list_of_layers() -> None:
    order = listed((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert len(set(order)) == len(order)
    assert {*order} == {layer_of(module) for module in modules()}


def test_names_bind_nothing_that_stands_below_tallow() -> None:
    """What names.py lists is imported by `import tallow`, late."""
    order = listed((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    homes = [Import("tallow", f"tallow.{home}", f"names.py: {home}") for home in NAMES]
    assert len(homes) > 80
    assert not upward(iter(homes), order)


def test_no_package_imports_one_below_it() -> None:
    order = listed((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert not upward(iter(all_imports()), order)


DEVICE = re.compile(r"tallow\.devices\.(\w+)")


def device_of(module: str) -> str | None:
    """The kind of device whose folder has a module."""
    found = DEVICE.match(module)
    return found[1] if found else None


def strangers(found: Iterable[Import]) -> list[str]:
    """The imports by which a device's folder is used from outside, but for NumPy's by others, which
    it computes for, and those of what another machine is told."""
    return [
        each.where
        for each in found
        if device_of(each.of) not in (None, device_of(each.by))
        and not (device_of(each.by) and device_of(each.of) == "numpy")
        and not (each.by.startswith("tallow.serve.") and device_of(each.of) == "remote")
    ]


OPENED = {"tallow.torch": "tallow.devices.wasm.device"}
"""What a room imports of a device's folder, since it is public: PyTorch's name for threads."""


def test_a_device_is_used_through_the_registry_alone() -> None:
    inside = {device_of(each.by) for each in all_imports()}
    assert {*KINDS, "remote"} <= inside
    found = [each for each in all_imports() if OPENED.get(each.by) != each.of]
    assert not strangers(found)


def test_this_test_sees_who_uses_a_device() -> None:
    def between(by: str, of: str) -> list[str]:
        return strangers([Import(f"tallow.{by}", f"tallow.{of}", "here")])

    assert between("runtime.eager", "devices.webgpu.target") == ["here"]
    assert between("devices.webgpu.target", "devices.wasm.target") == ["here"]
    assert between("devices.numpy.target", "devices.webgpu.target") == ["here"]
    assert between("runtime.hosted", "devices.numpy.runner") == ["here"]
    assert not between("devices.wasm.runner", "devices.numpy.step")
    assert not between("devices.wasm.runner", "devices.wasm.codegen")


def test_one_device_alone_names_wgsl() -> None:
    """custom_op has an argument of that name, which it hands on."""
    own = LIBRARY / "devices" / "webgpu"
    found = [path for path in FILES if "wgsl" in path.read_text("utf-8").lower()]
    assert len([path for path in found if path.is_relative_to(own)]) > 10
    assert [path for path in found if not path.is_relative_to(own)] == [LIBRARY / "custom.py"]
    text = (LIBRARY / "custom.py").read_text("utf-8")
    assert not re.findall(r"WGSL|wgsl\.|\.wgsl|wgsl[/_]|_wgsl", text)


def in_code(path: Path) -> Iterator[str]:
    """The names and texts of a file, but comments and docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    said = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in said and isinstance(node.value, str):
            yield node.value
        for field in ("id", "attr", "name", "arg", "module"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def test_compiler_and_code_generators_name_no_language_and_no_device() -> None:
    """What a kind of device needs, they ask its target."""
    named = re.compile("webgpu|wasm|wgsl|webassembly", re.I)
    files = [path for room in ("compile", "codegen") for path in (LIBRARY / room).rglob("*.py")]
    assert len(files) > 25
    assert not [f"{path}: {each}" for path in files for each in in_code(path) if named.search(each)]
    own = (LIBRARY / "devices" / "wasm").rglob("*.py")
    assert any(named.search(each) for path in own for each in in_code(path))


def test_the_runtime_knows_nothing_of_derivatives() -> None:
    """It asks by the protocol in graph/nodes.py."""
    found = [each for each in all_imports() if each.by.startswith("tallow.runtime.")]
    assert len(found) > 100
    assert not [each.where for each in found if each.of.startswith("tallow.autodiff")]


def test_nobody_else_reads_what_nodes_remember_for_derivatives() -> None:
    past = "tallow.autodiff.past"
    assert past in modules()
    outside = [each for each in all_imports() if not each.by.startswith("tallow.autodiff")]
    assert not [each.where for each in outside if each.of == past]


def test_derivatives_keep_no_weak_tables() -> None:
    """A node has one slot for them; a weak table leaks what holds its key from the value."""
    tables = re.compile(r"Weak(KeyDictionary|ValueDictionary|Set)")
    assert tables.search((LIBRARY / "runtime" / "evaluator.py").read_text("utf-8"))
    files = sorted((LIBRARY / "autodiff").rglob("*.py"))
    assert not [path for path in files if tables.search(path.read_text("utf-8"))]


FOLDERS = sorted(module_of(path) for path in FILES if path.name == "__init__.py")


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_circle_inside_a_folder(folder: str) -> None:
    # The list of layers covers the library as a whole; `tallow` itself is at its end.
    assert not circles(list(all_imports()), folder)


def test_no_circle_inside_the_folders_of_the_build() -> None:
    files = {module_of(path): path for path in (PY / "tallow_build").rglob("*.py")}
    found = list(imports(files))
    folders = [name for name, path in files.items() if path.name == "__init__.py"]
    assert len(folders) > 4
    assert not [line for folder in folders for line in circles(found, folder)]


def test_these_tests_find_steps_upwards_and_circles(tmp_path: Path) -> None:
    texts = {
        "tallow/__init__.py": "from .low import b\n",
        "tallow/high/__init__.py": "",
        "tallow/high/a.py": "def late():\n    from ..low.b import x\n",
        "tallow/low/__init__.py": "",
        "tallow/low/b.py": "import typing\nif typing.TYPE_CHECKING:\n    from . import c\n",
        "tallow/low/c.py": "import tallow.low.b\nfrom ..high import a\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    files = {module_of(path, tmp_path): path for path in tmp_path.rglob("*.py")}
    found = list(imports(files))
    (step,) = upward(iter(found), ["high", "low", "tallow"])
    assert step == f"{tmp_path}/tallow/high/a.py:2: high imports low, which stands below it"
    assert [line.rpartition("/")[2] for line in sorted(circles(found, "tallow.low"))] == [
        "b.py:3: b imports c, and c b",
        "c.py:1: c imports b, and b c",
    ]
    assert not circles(found, "tallow.high")


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


def test_one_file_of_each_runner_and_of_files_knows_the_browser() -> None:
    known = {LIBRARY / "runtime" / name for name in ("modules.py", "promised.py")}
    known |= {LIBRARY / room / "browser.py" for room in ("files", "vision/io")}
    known |= {LIBRARY / "devices" / name / "browser.py" for name in ("webgpu", "wasm", "remote")}
    browser = {"js", "pyodide", "pyodide_js"}
    found = [path for path in FILES if imported(path) & browser]
    assert set(found) - known == set()
    assert found, "this test sees what is imported"


def test_the_library_does_not_look_for_values_of_javascript() -> None:
    """Only the page's package and the browser's runner look for their methods."""
    sniffs = re.compile(r"hasattr\([^)]*\"to_(bytes|memoryview|py|js)\"")
    found = [path for path in FILES if sniffs.search(path.read_text("utf-8"))]
    assert found == [PY / "tallow_page" / "javascript.py"]


def test_nothing_imports_numpy_at_import_time() -> None:
    assert [path for path in FILES if "numpy" in imported(path, top_level_only=True)] == []
    assert [path for path in FILES if "numpy" in imported(path)], "this test sees what is imported"


def ended(code: str) -> int:
    """The exit status of a new Python that sees only the sources."""
    return subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(PY)}).returncode


def test_importing_tallow_imports_neither_numpy_nor_wgpu() -> None:
    modules = "tallow, tallow.onnx, tallow_page.app, tallow_page.open"
    assert (
        ended(f"import sys, {modules}; sys.exit(bool({{'numpy', 'wgpu'}} & {{*sys.modules}}))") == 0
    )


def test_importing_tallow_needs_python_alone() -> None:
    """-S -I: only the standard library, no installed packages."""
    code = f"import sys; sys.path.insert(0, {str(PY)!r}); import tallow; tallow.zeros((2,)) + 1"
    assert subprocess.run([sys.executable, "-I", "-S", "-c", code]).returncode == 0


def test_importing_tallow_imports_neither_onnx_nor_what_saves_models() -> None:
    seen = "'tallow.onnx' in sys.modules, 'tallow.formats.onnx.write.export' in sys.modules"
    assert ended(f"import sys, tallow; sys.exit(any(({seen})))") == 0
    assert ended(f"import sys, tallow as tl; tl.onnx; sys.exit(({seen}) != (True, False))") == 0


def test_compiling_for_webgpu_imports_no_numpy() -> None:
    code = """
import sys, tallow as tl
from tallow import functional as F
from tallow.compile import compile_graph
from tallow.graph import Graph, input_node
x = tl.Tensor(input_node("x", (1, 3, 8, 8), tl.float32))
w = tl.asarray([[[[0.5] * 3] * 3] * 3] * 4)
y = F.softmax(F.global_avg_pool(F.relu(F.conv2d(x, w))), 1)
compiled = compile_graph(Graph((x.node,), {"y": y.node}), "webgpu")
assert compiled.plan.modules and compiled.stored_weights()
sys.exit("numpy" in sys.modules)
"""
    assert ended(code) == 0


def test_views_and_widgets_do_not_know_the_gpu() -> None:
    folders = [ROOT / "web" / name for name in ("views", "widgets")]
    paths = [path for folder in folders for path in folder.rglob("*.js")]
    assert len(paths) > 40
    for path in paths:
        assert not re.search(r"from \"[./]*gpu/", path.read_text("utf-8")), path


def test_generators_and_runners_name_no_elementwise_op() -> None:
    """Facts live in records: only the table of hand-written kernels may name ops, and not these."""
    from tallow.ops.kinds import REGISTRY, Elementwise

    names = [n for n, op in REGISTRY.items() if isinstance(op, Elementwise)]
    rooms = ("codegen", "runtime", "devices")
    files = [path for room in rooms for path in (LIBRARY / room).rglob("*.py")]
    assert len(files) > 80
    for path in files:
        text = path.read_text("utf-8")
        found = [n for n in names if re.search(rf"elementwise\.{n}\b|op\.name == \"{n}\"", text)]
        assert not found, f"{path.name} asks for {found}"


def test_only_registries_compare_names_of_devices() -> None:
    """What differs between devices is a field of `Target`, or a method of a device's class."""
    names = set(DEVICES)
    assert names == set(TARGETS) and names
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                if any(isinstance(side, ast.Constant) and side.value in names for side in sides):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found
