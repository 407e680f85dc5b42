"""Ops of a user's: what is refused when they are declared, called, differentiated and computed;
and the arithmetic of expressions on NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from custom_cases import SCALE, drawn, scaled, swish

import tallow as tl
from tallow import scalar as s
from tallow.compile import compile_graph
from tallow.errors import OptionError
from tallow.graph import Graph, input_node
from tallow.ops.kinds import REGISTRY, Elementwise
from tallow.ops.numpy_scalar import evaluate


@pytest.fixture(autouse=True)
def on_numpy() -> Iterator[None]:
    before = tl.default_device()
    tl.set_default_device("numpy")
    yield
    tl.set_default_device(before)


def declared(**changes: Any) -> Any:
    """An op of two operands with some of what it is declared with replaced."""
    given = {
        "numpy": lambda x, factor: x * factor,
        "shape": lambda x, factor: x.shape,
        "wgsl": SCALE,
        "workgroups": lambda x, factor: 1,
        "constants": lambda x, factor: {"COUNT": x.size},
    }
    return tl.custom_op("declared", **{**given, **changes})


# ---- declaring --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"numpy": None}, "declared: give numpy= and shape=, or expression="),
        ({"shape": None}, "give numpy= and shape="),
        ({"numpy": lambda x: x}, "numpy= must take 2 arguments by position: too many"),
        ({"numpy": 3}, "numpy= must be a function, not 3"),
        ({"shape": lambda *operands: ()}, "shape= must take each operand by position, 1 to 7"),
        ({"shape": lambda: ()}, "shape= must take each operand by position"),
        ({"shape": (2, 3)}, r"shape= must be a function with named operands, not \(2, 3\)"),
        ({"vjp": lambda g, y, x: g}, "vjp= must take 4 arguments by position"),
        ({"workgroups": None}, "wgsl= needs workgroups="),
        ({"workgroups": lambda x: 1}, "workgroups= must take 2 arguments"),
        ({"constants": lambda x: {}}, "constants= must take 2 arguments"),
        ({"wgsl": None}, "workgroups= and constants= are for wgsl=, which is missing"),
        ({"wgsl": 3}, "wgsl= must be the text of a module, not 3"),
        ({"expression": lambda x: x}, "leave out numpy, shape, wgsl, workgroups, constants"),
        ({"dtype": "float33"}, "'float33' is not an element type"),
    ],
)
def test_what_is_declared_is_checked(changes: dict[str, Any], wrong: str) -> None:
    with pytest.raises((OptionError, tl.DTypeError), match=wrong):
        declared(**changes)


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ("fn main", "fn other", "its WGSL has no entry point; write @compute"),
        ("@compute ", "// @compute ", "its WGSL has no entry point"),
        ("@group(0) @binding(1)", "@group(1) @binding(1)", r"must bind 2 operands and the result"),
        ("@binding(2)", "@binding(3)", r"to @binding\(2\).*it has 3 of them: \[0, 1, 3\]"),
        ("@compute", "@group(0) @binding(3) var<uniform> more: u32;\n@compute", "must bind 2"),
        ("read> factor", "read_write> factor", r"@binding\(1\) .* factor, is operand 1; .* read>"),
        ("read_write> out", "read> out", "out, is the result; declare it as .*read_write>"),
        ("array<f32>;", "array<vec3f>;", r"@binding\(0\) .* x, has the type array<vec3f>"),
        ("array<f32>;", "array<f32, 4>;", "without a length"),
        ("override COUNT", "@id(7) override COUNT", "numbers the override COUNT; leave out"),
    ],
)
def test_wgsl_follows_the_conventions(before: str, after: str, wrong: str) -> None:
    with pytest.raises(OptionError, match=f"(?s)declared: .*{wrong}"):
        declared(wgsl=SCALE.replace(before, after, 1))


def test_overrides_without_a_value_need_constants() -> None:
    with pytest.raises(OptionError, match="its WGSL needs values of COUNT; give constants="):
        declared(constants=None)


@pytest.mark.parametrize("name", ["", "two words", "2nd", "ünder", None, "a-b"])
def test_names_are_identifiers(name: Any) -> None:
    with pytest.raises(OptionError, match="must begin with a letter"):
        tl.custom_op(name, expression=lambda x: x)


@pytest.mark.parametrize("name", ["matmul", "add"])
def test_names_of_tallows_own_ops_are_taken(name: str) -> None:
    with pytest.raises(OptionError, match=f"Tallow has an op '{name}'"):
        tl.custom_op(name, expression=lambda x: x)


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        (lambda x: np.exp(x), "expression= fails for float32 scalars"),
        (lambda x: 3.0, "expression= gives 3.0, which is no Scalar"),
        (lambda x: s.cast(x, tl.int32) + x, "takes scalars of one type"),
        (lambda x: s.bits(x), "cast to one type"),
        (lambda *x: x[0], "must take each operand by position"),
    ],
)
def test_expressions_are_checked(expression: Any, wrong: str) -> None:
    with pytest.raises(OptionError, match=wrong):
        tl.custom_op("wrong", expression=expression)


# ---- calling ----------------------------------------------------------------------------------


def test_calls_are_checked() -> None:
    x = np.ones((2, 3), np.float32)
    with pytest.raises(TypeError, match="scaled_rows: takes 2 operands, got 1"):
        scaled()(x)
    with pytest.raises(tl.ShapeError, match="shape= gives None, which is no tuple"):
        declared(shape=lambda x, factor: None)(x, x)
    with pytest.raises(tl.ShapeError, match=r"shape= gives \(2, -1\)"):
        declared(shape=lambda x, factor: (2, -1))(x, x)
    with pytest.raises(tl.DTypeError, match="declared: operand 0 is int32"):
        declared()(x.astype(np.int32), x)
    with pytest.raises(tl.DTypeError, match="the result is int32, but its WGSL has f32 there"):
        declared(dtype="int32")(x, x)
    with pytest.raises(tl.DTypeError, match="no kernel reads bfloat16; cast it"):
        declared()(tl.asarray(x).astype("bfloat16"), x)
    with pytest.raises(tl.ShapeError, match="own_sum"):
        tl.custom_op("own_sum", expression=lambda x, y: x + y)(x, np.ones(2, np.float32))


def test_what_numpy_gives_is_checked() -> None:
    x = np.ones((2, 3), np.float32)
    with pytest.raises(tl.ShapeError, match=r"numpy= gives the shape \(3, 2\), shape= says \(2, 3"):
        declared(numpy=lambda x, factor: x.T)(x, x).numpy()
    with pytest.raises(tl.DTypeError, match=r"numpy= gives float64, .*astype\('float32'\)"):
        declared(numpy=lambda x, factor: x * np.float64(2))(x, x).numpy()
    with pytest.raises(ValueError, match="read-only"):
        declared(numpy=lambda x, factor: np.add(x, 1, out=x))(x, x).numpy()


def test_numpy_may_return_its_operand() -> None:
    x, same = drawn(2, 3), declared(numpy=lambda x, factor: x)
    y = tl.asarray(x).realize()
    found = same(y, y).realize()
    np.testing.assert_array_equal((found + y).numpy(), 2 * x)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"workgroups": lambda x, f: 0}, "workgroups= gives 0; it must be one to three whole"),
        ({"workgroups": lambda x, f: (1, 2, 3, 4)}, r"workgroups= gives \(1, 2, 3, 4\)"),
        (
            {"workgroups": lambda x, f: 70000},
            "gives 70000; .* from 1 to 65535",
        ),
        ({"workgroups": lambda x, f: 1.5}, "workgroups= gives 1.5"),
        ({"constants": lambda x, f: {}}, "constants= gives missing COUNT .*COUNT, WIDTH"),
        ({"constants": lambda x, f: {"COUNT": 1, "N": 2}}, "constants= gives unknown N"),
        ({"constants": lambda x, f: {"COUNT": "6"}}, "constants= gives COUNT='6', which is no num"),
    ],
)
def test_the_numbers_of_a_kernel_are_checked(changes: dict[str, Any], wrong: str) -> None:
    x = tl.asarray(drawn(2, 3))
    graph = Graph((), {"y": declared(**changes)(x, x).node}, "own")
    with pytest.raises(OptionError, match=f"declared: .*{wrong}"):
        compile_graph(graph, "webgpu")


# ---- derivatives ------------------------------------------------------------------------------


def test_without_vjp_there_is_no_derivative() -> None:
    x = tl.asarray(drawn(2, 3))
    with pytest.raises(tl.GradientError, match="has no derivative: it was declared without vjp="):
        tl.grad(lambda x: tl.sum(declared()(x, x)))(x)


@pytest.mark.parametrize(
    ("vjp", "wrong"),
    [
        (lambda g, y, x, f: g, "vjp= gives 1 gradients for 2 operands"),
        (lambda g, y, x, f: (g, g, g), "vjp= gives 3 gradients for 2 operands"),
        (lambda g, y, x, f: (g, 3.0), "vjp= gives float for operand 1; return a tensor, or None"),
        (lambda g, y, x, f: (tl.sum(g), g), r"gives float32 \(\) for operand 0, .* float32 \(2, 3"),
        (lambda g, y, x, f: (None, g.astype("float64")), "vjp= gives float64"),
    ],
)
def test_gradients_are_checked(vjp: Any, wrong: str) -> None:
    x = tl.asarray(drawn(2, 3))
    with pytest.raises(tl.GradientError, match=f"declared: .*{wrong}"):
        tl.grad(lambda x: tl.sum(declared(vjp=vjp)(x, x)))(x)


def test_an_operand_without_a_gradient() -> None:
    x = tl.asarray(drawn(2, 3))
    op = declared(vjp=lambda g, y, x, f: (g * f, None))
    np.testing.assert_allclose(tl.grad(lambda x: tl.sum(op(x, x)))(x).numpy(), drawn(2, 3))


def test_backward_reaches_parameters_through_an_op() -> None:
    factor = tl.asarray(drawn(2), requires_grad=True)
    tl.sum(scaled()(drawn(2, 3), factor) * 2.0).backward()
    assert factor.grad is not None
    np.testing.assert_allclose(factor.grad.numpy(), 2 * drawn(2, 3).sum(1), rtol=1e-5)


# ---- plans ------------------------------------------------------------------------------------


def plan_of(function: Any, *shapes: tuple[int, ...]) -> Any:
    inputs = [input_node(f"x{n}", shape, tl.float32) for n, shape in enumerate(shapes)]
    y = function(*map(tl.Tensor, inputs))
    return compile_graph(Graph(tuple(inputs), {"y": y.node}, "own"), "webgpu").plan


def test_an_expression_shares_the_kernel_of_its_neighbours() -> None:
    op = swish()
    plan = plan_of(lambda x: tl.sum(op(x * 2.0) + 1.0, axis=1), (8, 32))
    assert len(plan.run) == 1
    assert "own_swish" in plan.run[0].name


def test_a_kernel_is_a_step_of_its_own_between_two() -> None:
    op = scaled()
    plan = plan_of(lambda x, f: op(x * 2.0, f) + 1.0, (8, 32), (8,))
    assert [len(step.host) for step in plan.run] == [2, 1, 2]  # with the expands of the numbers
    step = plan.run[1]
    assert step.kernel["op"] == "scaled_rows"
    assert step.kernel["workgroups"] == [4, 1, 1]
    assert step.kernel["constants"] == {"COUNT": 256, "WIDTH": 32}


def test_equal_calls_are_computed_once_but_not_those_of_another_declaration() -> None:
    one, other = scaled(), scaled()
    both = plan_of(lambda x, f: one(x, f) + one(x, f), (8, 32), (8,))
    assert len(both.run) == 2
    assert len(plan_of(lambda x, f: one(x, f) + other(x, f), (8, 32), (8,)).run) == 3


def test_a_file_of_onnx_has_no_place_for_it(tmp_path: Path) -> None:
    for op, name in ((swish(), "own_swish"), (lambda x: scaled()(x, x[:, 0]), "scaled_rows")):
        with pytest.raises(tl.OnnxUnsupportedError, match=f"save: {name}.* has no ONNX form"):
            tl.onnx.save(op, tmp_path / "own.onnx", inputs=[((2, 3), "float32")])


# ---- expressions on NumPy ---------------------------------------------------------------------


def known(kind: str) -> list[str]:
    return [
        name
        for name, op in REGISTRY.items()
        if type(op) is Elementwise
        and kind in op.accepts
        and name not in ("cast", "bitcast", "to_half", "position", "checked")
    ]


@pytest.mark.parametrize("name", known("f"))
def test_expressions_mean_on_numpy_what_the_records_say(name: str) -> None:
    op = REGISTRY[name]
    assert isinstance(op, Elementwise)
    points = np.array([-2.5, -1.0, -0.75, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0], np.float32)
    operands = [x.reshape(-1) for x in np.meshgrid(*[points] * op.arity)]
    expression = op.scalar(*(s.operand(n, tl.float32) for n in range(op.arity)))
    with np.errstate(all="ignore"):
        wanted = np.asarray(op.numpy(np, *operands))
    found = evaluate(np, expression, operands)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", known("i"))
def test_expressions_of_integers_mean_the_same(name: str) -> None:
    op = REGISTRY[name]
    assert isinstance(op, Elementwise)
    points = np.array([-7, -2, 1, 3, 6], np.int32)
    shifts = "shift" in name
    operands = [x.reshape(-1) for x in np.meshgrid(points, *[abs(points) if shifts else points]
                                                   * (op.arity - 1))]  # fmt: skip
    expression = op.scalar(*(s.operand(n, tl.int32) for n in range(op.arity)))
    with np.errstate(all="ignore"):
        wanted = np.asarray(op.numpy(np, *operands))
    np.testing.assert_array_equal(evaluate(np, expression, operands), wanted)


def test_leading_zeros() -> None:
    for dtype, values, wanted in (
        (tl.uint32, [0, 1, 255, 2**31], [32, 31, 24, 0]),
        (tl.int32, [0, 1, 255, -1], [32, 31, 24, 0]),
    ):
        expression = s.count_leading_zeros(s.operand(0, dtype))
        operands: list[Any] = [np.array(values, dtype.name)]
        found = evaluate(np, expression, operands)
        np.testing.assert_array_equal(found, wanted)
