"""Ops of a user's, on NumPy, WebAssembly and desktop WebGPU; and how their WGSL fails there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from custom_cases import CASES, PICK, SCALE, run_case, scaled

import tallow as tl
from tallow.graph import Graph, input_node
from tallow_build.paths import ROOT

RunAsync = Callable[..., Any]


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples")


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("name", CASES)
def test_on_the_host(name: str, device: str, run_async: RunAsync) -> None:
    assert run_async(run_case(name, device))["device"] == device


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("native")
def test_on_a_desktop_gpu(name: str, run_async: RunAsync) -> None:
    outcome = run_async(run_case(name, "webgpu"))
    assert outcome["device"] == "webgpu"
    assert outcome["adapter"]


def broken(text: str, wrong: str, line: str) -> None:
    """A kernel with a mistake on the line that has `line`: the error says which it is."""
    op = scaled(text)
    x, factor = np.ones((2, 3), np.float32), np.ones(2, np.float32)
    for _ in range(2):  # the second time, too
        with pytest.raises(tl.KernelError, match=wrong) as raised:
            op(x, factor).numpy("webgpu")
        assert raised.value.op == "scaled_rows"
        assert raised.value.line is not None
        assert line in text.splitlines()[raised.value.line - 1]
        assert f"the WGSL of scaled_rows, line {raised.value.line}: " in str(raised.value)
    np.testing.assert_array_equal(op(x, factor).numpy("numpy"), x + 1)


@pytest.mark.usefixtures("native")
def test_a_mistake_is_an_error_with_the_line() -> None:
    broken(SCALE.replace("* factor[", "* factr["), "factr", "factr[")
    broken(SCALE.replace("+ 1.0;", "+ 1u;"), "(?s)Add|add", "+ 1u;")
    broken(SCALE.replace("return;\n", "return\n"), "expected", "}")


@pytest.mark.usefixtures("native")
def test_a_kernel_that_is_too_large_is_an_error_that_names_the_op() -> None:
    op = scaled(SCALE.replace("@workgroup_size(64)", "@workgroup_size(100000)"))
    with pytest.raises(tl.KernelError, match=r"(?s)the WGSL of scaled_rows: .*Workgroup") as raised:
        op(np.ones((2, 3), np.float32), np.ones(2, np.float32)).numpy("webgpu")
    assert raised.value.op == "scaled_rows"


@pytest.mark.usefixtures("native")
def test_a_session_runs_it_and_its_plan_has_the_text() -> None:
    x = input_node("x", (4, 5), tl.float32)
    y = scaled()(tl.Tensor(x) * 2.0, tl.arange(4, dtype=tl.float32))
    graph = Graph((x,), {"y": (y + 1.0).node}, "own")
    given = np.arange(20, dtype=np.float32).reshape(4, 5)
    results = {}
    for device in ("webgpu", "wasm", "numpy"):
        with tl.compile_session(graph, device) as session:
            results[device] = session.run({"x": given})["y"]
            steps = [step for step in session.plan.run if step.name == y.node.op.name]
            assert len(steps) == 1, str(session.plan)
            if device == "webgpu":
                text = session.plan.modules[steps[0].kernel["module"]]
                assert text.splitlines()[0] == SCALE.splitlines()[0]
                assert len(text.splitlines()) == len(SCALE.splitlines())
            else:
                assert not steps[0].kernel  # NumPy computes it
            assert y.node.op.name in str(session.profile({"x": given}))
    wanted = 2 * given * np.arange(4, dtype=np.float32)[:, None] + 2
    for found in results.values():
        np.testing.assert_allclose(found, wanted)


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("native")
def test_without_wgsl_a_gpu_leaves_the_plan_to_numpy_and_says_so() -> None:
    ranks = tl.custom_op(
        "ranks",
        numpy=lambda x, on: np.where(on, x.argsort(-1).argsort(-1), -1).astype(np.int32),
        shape=lambda x, on: x.shape,
        dtype="int32",
    )
    x = np.array([[0.5, -1.0, 3.0], [2.0, 1.0, 0.0]])
    on = np.array([[True, True, False], [True, True, True]])
    wanted = [[2, 0, -2], [4, 2, 0]]
    given = (tl.asarray(x.astype(np.float32)) * 2.0).realize("webgpu")
    says = "'webgpu' has no code for ranks; give it a kernel"
    with pytest.warns(tl.NoKernelWarning, match=says):
        y = (ranks(given, on) * 2).realize()
    assert (y.device, y.numpy().tolist()) == ("webgpu", wanted)
    assert ((y.astype("float32") + given).numpy() == np.array(wanted) + 2 * x).all()  # on the GPU

    count = tl.Variable([0.0] * 3)

    @tl.jit(device="webgpu")
    def step(x: tl.Tensor) -> tl.Tensor:
        count.assign(count + tl.sum(ranks(x, on), axis=0).astype("float32"))
        return count * 2.0

    with pytest.warns(tl.NoKernelWarning, match=says):
        step(given)
    assert step(given).numpy().tolist() == [12.0, 4.0, -4.0]
    assert count.numpy().tolist() == [6.0, 2.0, -2.0]

    nodes = input_node("x", (2, 3), tl.float64), input_node("on", (2, 3), tl.bool_)
    graph = Graph(nodes, {"y": ranks(*map(tl.Tensor, nodes)).node}, "own")
    with pytest.warns(tl.NoKernelWarning, match=f"own runs on NumPy: {says}"):
        session = tl.compile_session(graph, "webgpu")
    with session:
        assert session.plan.device == "numpy"
        assert "NumPy" in session.stats["adapter"]
        assert (session.run({"x": x, "on": on})["y"] * 2).tolist() == wanted
        kept = session.run({"x": tl.asarray(x), "on": on}, fetch=())["y"]
        assert (kept.device, (kept * 2).numpy().tolist()) == ("webgpu", wanted)
        assert "ranks" in str(session.profile({"x": x, "on": on}))


@pytest.mark.usefixtures("native")
def test_the_examples_of_the_documents() -> None:
    text = (ROOT / "docs/tensors.md").read_text("utf-8")
    section = text.split("## A kernel of your own")[1].split("\n## ")[0]
    names: dict[str, Any] = {"tl": tl, "np": np}
    for block in re.findall(r"^```python\n(.*?)^```", section, re.M | re.S):
        exec(block, names)
    x = np.random.default_rng(1).normal(size=(70, 9)).astype(np.float32)
    ways = {
        "swish": (x / (1 + np.exp(-x)), lambda x: tl.functional.silu(x)),
        "cumulate": (x.cumsum(1), lambda x: tl.cumulative_sum(x, axis=1)),
    }
    for device in ("numpy", "wasm", "webgpu"):
        for name, (wanted, same) in ways.items():
            operand, op = tl.asarray(x).realize(device), names[name]
            np.testing.assert_allclose(op(operand).numpy(), wanted, rtol=1e-4, atol=1e-5)
            mine, known = (
                tl.grad(lambda x, of=of: tl.sum(of(x) ** 2))(operand) for of in (op, same)
            )
            np.testing.assert_allclose(mine.numpy(), known.numpy(), rtol=1e-3, atol=1e-4)


def test_types_that_the_text_does_not_bind_are_refused_where_the_op_is_called() -> None:
    with pytest.raises(tl.DTypeError, match=r"scaled_rows: operand 1 is int32, but .* f32"):
        scaled()(np.ones((2, 3), np.float32), np.ones(2, np.int32))
    pick = tl.custom_op(
        "pick_unsigned",
        numpy=lambda data, at, on: at,
        shape=lambda data, at, on: at.shape,
        wgsl=PICK,
        workgroups=lambda data, at, on: 1,
    )
    with pytest.raises(tl.DTypeError, match="the result is float32, but its WGSL has i32"):
        pick(np.ones((2, 4), np.float32), np.ones(2, np.int32), np.ones(2, bool))
