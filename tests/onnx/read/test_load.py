"""tl.onnx.load: the information in a Model, and the kinds of sources."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.formats import onnx as package

from .. import graphs
from ..graphs import model, node, value, weight

IMAGE = np.random.default_rng(1).standard_normal((1, 3, 8, 8), dtype=np.float32)
SOURCES = Path(package.__file__).parent


def test_model_says_what_the_file_holds() -> None:
    proto = graphs.network()
    proto.producer_version = "1.2"
    proto.model_version = 3
    helper.set_model_props(proto, {"author": "nobody"})
    loaded = tl.onnx.load(proto.SerializeToString())
    assert [(i.name, i.shape, i.dtype) for i in loaded.inputs] == [
        ("image", ("N", 3, 8, 8), tl.float32)
    ]
    assert [(o.name, o.shape, o.dtype) for o in loaded.outputs] == [("y", ("N", 5), tl.float32)]
    assert loaded.name == "test"
    assert loaded.opset == 17
    assert loaded.opsets == {"": 17}
    metadata = loaded.metadata
    assert (metadata.producer, metadata.producer_version, metadata.ir_version) == (
        "tests",
        "1.2",
        10,
    )
    assert (metadata.doc, metadata.version) == ("a network", 3)
    assert metadata.properties == {"author": "nobody"}
    assert loaded.unsupported == []
    assert "image: float32 (N, 3, 8, 8) -> y: float32 (N, 5), opset 17" in repr(loaded)


@pytest.mark.parametrize("kind", ["str", "path", "bytes", "bytearray", "memoryview"])
def test_every_source_gives_the_same_answer(kind: str, tmp_path: Path) -> None:
    data = graphs.network().SerializeToString()
    path = tmp_path / "network.onnx"
    path.write_bytes(data)
    sources = {
        "str": str(path), "path": path, "bytes": data, "bytearray": bytearray(data),
        "memoryview": memoryview(data),
    }  # fmt: skip
    session = tl.onnx.load(sources[kind]).session(device="numpy")
    wanted = onnxruntime.InferenceSession(data).run(None, {"image": IMAGE})[0]
    np.testing.assert_allclose(session.run({"image": IMAGE})["y"], wanted, rtol=1e-4)


def test_session_async(run_async: Callable[..., np.ndarray]) -> None:
    data = graphs.network().SerializeToString()

    async def run() -> np.ndarray:
        session = await tl.onnx.load(data).session_async("numpy")
        return (await session.run_async({"image": IMAGE}))["y"]

    got = run_async(run())
    wanted = onnxruntime.InferenceSession(data).run(None, {"image": IMAGE})[0]
    np.testing.assert_allclose(got, wanted, rtol=1e-4)


def test_missing_file() -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.onnx"):
        tl.onnx.load("nowhere.onnx")


def test_initializers_are_not_inputs() -> None:
    proto = model(
        [node("Add", "x w", "y")],
        [value("w", [2]), value("x", [2])],
        weights=[weight("w", np.float32([1, 2]))],
    )
    loaded = tl.onnx.load(proto.SerializeToString())
    assert [info.name for info in loaded.inputs] == ["x"]
    got = loaded.session("numpy").run({"x": np.float32([3, 4])})
    assert got["y"].tolist() == [4, 6]


def test_nodes_in_any_order_and_dead_ones() -> None:
    proto = model(
        [
            node("NotAnOperator", "b", "dead"),
            node("Neg", "b", "y"),
            node("Abs", "a", "b"),
            node("Neg", "x", "a"),
        ],
        [value("x", [2])],
    )
    loaded = tl.onnx.load(proto.SerializeToString())
    assert loaded.unsupported == []
    assert loaded.session("numpy").run({"x": np.float32([3, -4])})["y"].tolist() == [-3, -4]


def test_outputs_that_are_inputs_initializers_or_twice_the_same() -> None:
    proto = model(
        [node("Identity", "x", "z")],
        [value("x", [2])],
        "x w z",
        [weight("w", np.int64([5]))],
    )
    got = tl.onnx.load(proto.SerializeToString()).session("numpy").run({"x": np.float32([1, 2])})
    assert {name: y.tolist() for name, y in got.items()} == {"x": [1, 2], "w": [5], "z": [1, 2]}


def test_domain_ai_onnx_is_the_standard_one() -> None:
    proto = model([node("Relu", "x", "y", domain="ai.onnx")], [value("x", [2])])
    proto.opset_import[0].domain = "ai.onnx"
    loaded = tl.onnx.load(proto.SerializeToString())
    assert loaded.opset == 17
    assert loaded.session("numpy").run({"x": np.float32([1, -2])})["y"].tolist() == [1, 0]


def test_attributes_without_a_type() -> None:
    """As in files before IR version 2."""
    proto = model([node("Transpose", "x", "y", perm=[1, 0])], [value("x", [1, 2])])
    proto.graph.node[0].attribute[0].ClearField("type")
    session = tl.onnx.load(proto.SerializeToString()).session("numpy")
    assert session.run({"x": np.float32([[1, 2]])})["y"].shape == (2, 1)


def _imports(path: Path) -> set[str]:
    found = set()
    for item in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(item, ast.Import):
            found |= {name.name.split(".")[0] for name in item.names}
        elif isinstance(item, ast.ImportFrom) and not item.level and item.module:
            found.add(item.module.split(".")[0])
    return found


def test_only_the_schema_of_onnx_is_used() -> None:
    files = {path: _imports(path) for path in SOURCES.rglob("*.py")}
    assert [path.name for path, names in files.items() if "onnx" in names] == ["proto.py"]
    assert not [path for path, names in files.items() if "google" in names]


def test_loads_with_the_schema_alone_and_without_numpy(tmp_path: Path) -> None:
    """As in a browser, where `onnx` is a folder with only the schema."""
    (tmp_path / "onnx").mkdir()
    shutil.copy(Path(onnx.__file__).parent / "onnx_ml_pb2.py", tmp_path / "onnx")
    (tmp_path / "network.onnx").write_bytes(graphs.network().SerializeToString())
    code = (
        "import sys\nsys.modules['numpy'] = None\n"
        f"sys.path[:0] = [{str(tmp_path)!r}, {str(SOURCES.parents[2])!r}]\n"
        "import tallow as tl\n"
        f"graph = tl.onnx.load({str(tmp_path / 'network.onnx')!r}).graph()\n"
        "import onnx\nassert onnx.__file__ is None\n"
        "print(graph.outputs['y'].shape)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", _with_protobuf(code)], capture_output=True)
    assert done.stdout.decode().split() == ["(1,", "5)"], done.stderr.decode()


def _with_protobuf(code: str) -> str:
    """-S excludes site-packages, including onnx; only protobuf is added again."""
    import google.protobuf

    packages = Path(google.protobuf.__file__).parents[2]
    return (
        "import importlib.machinery, sys\n"
        "class Only:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'google' or name.startswith('google.'):\n"
        f"            where = [{str(packages)!r}] if path is None else path\n"
        "            return importlib.machinery.PathFinder.find_spec(name, where, target)\n"
        "sys.meta_path.append(Only())\n" + code
    )


def test_types_of_inputs() -> None:
    proto = model(
        [node("Cast", "x", "y", to=TensorProto.FLOAT)], [value("x", ["N"], TensorProto.STRING)]
    )
    (info,) = tl.onnx.load(proto.SerializeToString()).inputs
    assert (info.dtype, info.type, info.shape) == (None, "string", ("N",))
