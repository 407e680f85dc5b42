"""`python -m tallow`: info, run, bench, convert."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from PIL import Image

import tallow as tl
from tallow.cli import main

from .graphs import model, network, node, value, weight

ROOT = Path(__file__).resolve().parents[2]
Said = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path) -> Callable[[onnx.ModelProto], str]:
    """Writes a model and returns its path."""

    def write(proto: onnx.ModelProto, name: str = "model.onnx") -> str:
        path = tmp_path / name
        path.write_bytes(proto.SerializeToString())
        return str(path)

    return write


def doubling(*shape: Any, dtype: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """y = x + x."""
    return model([node("Add", "x x", "y")], [value("x", shape, dtype)], [value("y", shape, dtype)])


def said(capsys: Said, *arguments: str) -> str:
    """The output of a command that succeeds."""
    assert main(list(arguments)) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys: Said, *arguments: str) -> str:
    """The error line of a command that fails."""
    assert main(list(arguments)) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("tallow: ")
    return line


# ---- as users start it -------------------------------------------------------------------------


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "py")}
    return subprocess.run(
        [sys.executable, "-m", "tallow", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_whole_road(file: Callable[..., str], tmp_path: Path) -> None:
    source, target, output = file(network()), tmp_path / "small.onnx", tmp_path / "y.npy"
    done = started("convert", source, str(target), "--float16")
    assert done.returncode == 0, done.stderr
    done = started("info", str(target))
    assert done.returncode == 0, done.stderr
    assert "producer:      tallow" in done.stdout
    options = ["--fill", "random", "--device", "numpy", "--output", str(output)]
    done = started("run", str(target), *options)
    assert done.returncode == 0, done.stderr
    assert np.load(output).size


def test_a_mistake_is_one_line_and_status_1(tmp_path: Path) -> None:
    done = started("info", str(tmp_path / "none.onnx"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"tallow: {tmp_path / 'none.onnx'}: No such file or directory\n"


def test_the_installed_command_is_the_same() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, name = project["scripts"]["tallow"].split(":")
    assert getattr(importlib.import_module(module), name) is main


@pytest.mark.parametrize("command", ["", "info", "run", "bench", "convert"])
def test_help(command: str, capsys: Said) -> None:
    with pytest.raises(SystemExit) as end:
        main([*filter(None, [command]), "--help"])
    assert end.value.code == 0
    assert "usage: tallow" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["jump", "x.onnx"], "invalid choice: 'jump'"),
        (["run"], "MODEL"),
        (["convert", "a", "b", "--int8", "--float16"], "not allowed with"),
        (["run", "x.onnx", "--mean", "a"], "'a' is not a list of numbers"),
        (["run", "x.onnx", "--scale", "1/0"], "'1/0' is not a list of numbers"),
    ],
)
def test_arguments_that_are_wrong(arguments: list[str], words: str, capsys: Said) -> None:
    assert words in refused(capsys, *arguments)


# ---- info --------------------------------------------------------------------------------------


def test_info(file: Callable[..., str], capsys: Said) -> None:
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("GlobalAveragePool", "r", "y"),
    ]
    proto = model(
        nodes,
        [value("x", ["N", 3, 8, 8])],
        [value("y", ["N", 4, 1, 1])],
        [weight("w", np.ones((4, 3, 3, 3), np.float32))],
        producer_name="maker",
    )
    text = said(capsys, "info", file(proto), "--shape", "N=2")
    lines = [line.partition(":") for line in text.splitlines()]
    found = {key: rest.strip() for key, _, rest in lines}
    assert found["producer"] == "maker"
    assert found["opsets"] == "ai.onnx 17 (IR 10)"
    assert found["input"] == "x: float32 (N, 3, 8, 8)"
    assert found["parameters"] == "108"
    assert found["bytes"] == "432"
    assert found["multiply-adds"] == f"{2 * 64 * 108:,}"


def test_info_says_all_that_is_unsupported(file: Callable[..., str], capsys: Said) -> None:
    proto = model([node("Nope", "x", "a"), node("Neither", "a", "y")], [value("x", [2])])
    text = said(capsys, "info", file(proto))
    assert "unsupported:   node 'a': Nope (ai.onnx, opset 17): Tallow has no such" in text
    assert "unsupported:   node 'y': Neither" in text


def test_summary_of_control_flow_and_unknown_shapes() -> None:
    then, other = (
        model([node(op, "x", "b")], outputs=[value("b", None)]).graph for op in ("Neg", "Size")
    )
    proto = model(
        [node("If", "c", "y", then_branch=then, else_branch=other), node("Exp", "x", "z")],
        [value("c", [], TensorProto.BOOL), value("x", [3])],
        [value("y", None), value("z", [3])],
    )
    summary = tl.onnx.load(proto.SerializeToString()).summary()
    assert [(use.operator, use.place, use.count) for use in summary.uses] == [
        ("Exp", "device", 1),
        ("If", "host", 1),
        ("Neg", "device", 1),
        ("Size", "device", 1),
    ]
    assert (summary.nodes, str(summary.uses[1].reason)) == (4, "it decides what is computed")
    assert (summary.multiply_adds, summary.at_least) == (0, True)
    unknown = tl.onnx.load(doubling(2, "M").SerializeToString()).summary()
    assert unknown.multiply_adds is None
    assert "unknown until the shapes are known" in str(unknown)


# ---- run ---------------------------------------------------------------------------------------


def test_run_on_arrays(file: Callable[..., str], tmp_path: Path, capsys: Said) -> None:
    path = file(doubling("N", 3))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "all.npz", x=x)
    for given in ("x.npy", "all.npz"):
        out = tmp_path / f"{given}.out.npy"
        options = ["--device", "numpy", "--top", "2", "--output", f"y={out}"]
        text = said(capsys, "run", path, "--input", str(tmp_path / given), *options)
        assert "numpy: 1 nodes in 1 plan" in text
        assert "y: float32 (2, 3), 0 to 10, mean 5\n  [1, 2] 10\n  [1, 1] 8\n" in text
        np.testing.assert_array_equal(np.load(out), 2 * x)
    said(capsys, "run", path, "--fill", "zeros", "--shape", "N=4", "--output",
         str(tmp_path / "out.npz"))  # fmt: skip
    with np.load(tmp_path / "out.npz") as arrays:
        np.testing.assert_array_equal(arrays["y"], np.zeros((4, 3)))


def test_what_is_given_says_the_shape_of_what_is_filled(
    file: Callable[..., str], tmp_path: Path, capsys: Said
) -> None:
    proto = model([node("Add", "a b", "y")], [value("a", [2, "N"]), value("b", [2, "N"])],
                  [value("y", [2, "N"])])  # fmt: skip
    np.save(tmp_path / "a.npy", np.ones((2, 5), np.float32))
    text = said(capsys, "run", file(proto), "--input", f"a={tmp_path / 'a.npy'}", "--fill",
                "random")  # fmt: skip
    assert "y: float32 (2, 5)" in text


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("colors", ["RGB", "BGR"])
def test_run_on_a_picture(
    layout: str, colors: str, file: Callable[..., str], tmp_path: Path, capsys: Said
) -> None:
    pixels = np.zeros((6, 8, 3), np.uint8)
    pixels[...] = [10, 100, 200]
    Image.fromarray(pixels).save(tmp_path / "picture.png")
    shape = ("N", 3, "H", "W") if layout == "NCHW" else ("N", "H", "W", 3)
    out = tmp_path / "y.npy"
    options = ["--layout", layout, "--colors", colors, "--size", "3,4", "--mean", "10,20,30",
               "--scale", "1/2"]  # fmt: skip
    said(capsys, "run", file(doubling(*shape)), "--input", str(tmp_path / "picture.png"),
         "--output", str(out), *options)  # fmt: skip
    order = [10, 100, 200] if colors == "RGB" else [200, 100, 10]
    wanted = np.broadcast_to(np.array(order) - [10, 20, 30], (1, 3, 4, 3)).astype(np.float32)
    wanted = wanted if layout == "NHWC" else wanted.transpose(0, 3, 1, 2)
    np.testing.assert_allclose(np.load(out), wanted)


def test_a_grey_picture_of_bytes(file: Callable[..., str], tmp_path: Path, capsys: Said) -> None:
    Image.fromarray(np.full((4, 4, 3), 9, np.uint8)).save(tmp_path / "grey.png")
    path = file(doubling(1, 4, 4, dtype=TensorProto.UINT8))
    text = said(capsys, "run", path, "--input", str(tmp_path / "grey.png"), "--top", "0")
    assert "y: uint8 (1, 4, 4), 18 to 18" in text


def test_without_pillow_pictures_are_refused(
    file: Callable[..., str], tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    line = refused(capsys, "run", file(doubling(1, 3, 4, 4)), "--input", str(tmp_path / "p.png"))
    assert "reading pictures needs Pillow, which is not installed" in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "no value for x: float32 (N, 3): use --input x=FILE, or --fill random"),
        (["--input", "z=a.npy"], "the inputs are x"),
        (["--input", "a.txt"], "neither .npy, .npz, nor a picture"),
        (["--input", "missing.npy"], "missing.npy: No such file or directory"),
        (["--input", "bad.npy"], "bad.npy: not a .npy file of numbers"),
        (["--input", "bad.npz"], "bad.npz: not a .npz file of numbers"),
        (["--input", "other.npz"], "contains other; inputs are x"),
        (["--input", "long.npy"], "expects float32 ('N', 3), got float32 (2, 4)"),
        (["--input", "pickle.npy"], "pickle.npy: not a .npy file of numbers"),
        (["--input", "bad.png"], "a picture needs a numeric input with three or four axes"),
        (["--fill", "zeros", "--shape", "N"], "--shape N: expected N=8"),
        (["--fill", "zeros", "--shape", "M=3"], "there is no dimension of that name"),
        (["--fill", "zeros", "--output", "y.txt"], "outputs are written as .npy"),
        (["--fill", "zeros", "--output", "q=y.npy"], "the outputs are y"),
        (["--fill", "zeros", "--top", "-1"], "can't be negative"),
    ],
)
def test_inputs_that_do_not_fit(
    options: list[str], words: str, file: Callable[..., str], capsys: Said, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name in ("bad.npy", "bad.npz", "bad.png"):
        Path(name).write_bytes(b"PK\x03\x04 nothing of the kind")
    np.save("long.npy", np.zeros((2, 4), np.float32))
    np.save("pickle.npy", np.array([{}], object), allow_pickle=True)
    np.savez("other.npz", other=np.zeros(3))
    assert words in refused(capsys, "run", file(doubling("N", 3)), *options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Pillow can't read this picture"),
        (["--mean", "1,2"], "--mean: 2 numbers for 3 channels"),
        (["--size", "1.5"], "--size: expected one whole number"),
    ],
)
def test_pictures_that_do_not_fit(
    options: list[str], words: str, file: Callable[..., str], tmp_path: Path, capsys: Said
) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(b"no picture")
    if options:
        Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(path)
    source = file(doubling(1, 3, 4, 4))
    assert words in refused(capsys, "run", source, "--input", str(path), *options)


# ---- bench, convert ----------------------------------------------------------------------------


def test_bench(file: Callable[..., str], capsys: Said) -> None:
    text = said(capsys, "bench", file(network()), "--device", "numpy", "--runs", "3")
    assert text.startswith("numpy (NumPy ")
    assert "warm median" in text
    assert "of 3 runs" in text


def test_bench_runs_at_least_once(file: Callable[..., str], capsys: Said) -> None:
    assert "at least one run is needed" in refused(capsys, "bench", file(network()), "--runs", "0")


def test_convert(file: Callable[..., str], tmp_path: Path, capsys: Said) -> None:
    matrix = np.random.default_rng(0).standard_normal((64, 64), dtype=np.float32)
    proto = model([node("MatMul", "x w", "y")], [value("x", ["N", 64])], [value("y", ["N", 64])],
                  [weight("w", matrix)])  # fmt: skip
    source, sizes = file(proto), {}
    for option in ("--float16", "--int8", "--external"):
        target = tmp_path / f"{option}.onnx"
        text = said(capsys, "convert", source, str(target), option, "--shape", "N=3")
        assert "fixed:         x: float32 (3, 64)" in text
        onnx.checker.check_model(str(target), full_check=True)
        sizes[option] = target.stat().st_size
    assert sizes["--int8"] < 5000 < sizes["--float16"] < 9000
    assert (tmp_path / "--external.onnx.data").stat().st_size == matrix.nbytes


def test_convert_folds_batch_norm(file: Callable[..., str], tmp_path: Path, capsys: Said) -> None:
    four = np.array([1, 2, 3, 4], np.float32)
    weights = [weight("w", np.ones((4, 3, 3, 3), np.float32)), *(weight(n, four) for n in "sbmv")]
    proto = model(
        [node("Conv", "x w", "c"), node("BatchNormalization", "c s b m v", "y")],
        [value("x", [1, 3, 8, 8])],
        [value("y", [1, 4, 6, 6])],
        weights,
    )
    source, target = file(proto), tmp_path / "out.onnx"
    text = said(capsys, "convert", source, str(target))
    assert "on the device: 1 Conv\n" in text
    assert "fixed:" not in text
    text = said(capsys, "convert", source, str(target), "--keep-batch-norm")
    assert "on the device: 1 Conv\n" not in text


def test_convert_does_not_write_over_its_source(file: Callable[..., str], capsys: Said) -> None:
    source = file(network())
    assert "would overwrite the model" in refused(capsys, "convert", source, source)


def test_convert_lists_what_has_no_place_in_the_file(
    file: Callable[..., str], tmp_path: Path, capsys: Said
) -> None:
    proto = model([node("Nope", "x", "a"), node("Neither", "a", "y")], [value("x", [2])])
    line = refused(capsys, "convert", file(proto), str(tmp_path / "out.onnx"))
    assert "needs 2 things that Tallow does not have: node 'a': Nope" in line
    assert "; node 'y': Neither" in line
