"""Mixed precision: which ops compute what, when it is on, and what a GPU makes of it. Values and
gradients beside PyTorch's are in tests/parity/."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import amp, nn, optim
from tallow.compile import Limits, compile_graph
from tallow.core import context
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.graph import Graph, input_node
from tallow.ops.kinds import REGISTRY
from tallow.runtime.device import backend

F = nn.functional
HARDWARE = Limits(traits=Traits(subgroups=True, float16=True))

# https://docs.pytorch.org/docs/stable/amp.html, "CUDA Ops that can autocast": those that are ops
# here, and the functions composed of them.
IN_FLOAT16 = {"matmul", "conv2d"}
IN_FLOAT32 = {
    "pow", "acos", "asin", "cosh", "sinh", "tan", "exp", "expm1", "log", "log1p", "reciprocal",
    "prod", "sum",
}  # fmt: skip


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = tl.default_device()
    yield
    tl.set_default_device(before)
    assert not context.autocast.get()


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Autocast is on for all devices: graphs of float16 give the same everywhere."""
    monkeypatch.setattr(amp, "is_autocast_available", lambda device: True)


def half(*shape: int) -> tl.Tensor:
    return tl.full(shape, 0.5, "float16")


# ---- which ops --------------------------------------------------------------------------------


def test_the_records_are_pytorchs_table() -> None:
    assert {n for n, op in REGISTRY.items() if op.autocast == "float16"} == IN_FLOAT16
    assert {n for n, op in REGISTRY.items() if op.autocast == "float32"} == IN_FLOAT32


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(
    "function",
    [
        F.softmax, F.log_softmax, F.softmin, F.softplus, tl.cumulative_sum, tl.cumulative_prod,
        lambda x: F.layer_norm(x, (4,)), lambda x: F.group_norm(x, 2), F.normalize,
        lambda x: F.cross_entropy(x, x), lambda x: F.mse_loss(x, x), lambda x: x**2,
        lambda x: F.cosine_similarity(x, x), lambda x: F.kl_div(x, x), tl.sum, tl.exp,
        lambda x: F.nll_loss(x, tl.zeros(4, "int32")), lambda x: F.poisson_nll_loss(x, x),
        lambda x: F.margin_ranking_loss(x, x, x), lambda x: F.triplet_margin_loss(x, x, x),
    ],
)  # fmt: skip
def test_what_is_computed_in_float32(function: Callable[..., tl.Tensor]) -> None:
    x = half(4) if function in (tl.cumulative_sum, tl.cumulative_prod) else half(4, 4)
    assert function(x).dtype == tl.float16
    with amp.autocast("cuda"):
        assert function(x).dtype == tl.float32


@pytest.mark.usefixtures("everywhere")
def test_other_types_stay() -> None:
    with amp.autocast("cuda"):
        for name in ("float64", "int32"):
            x = tl.ones((3, 3), name)
            assert (x @ x).dtype == x.dtype
        assert F.scaled_dot_product_attention(
            half(2, 3, 4), half(2, 3, 4), half(2, 3, 4)
        ).dtype == (tl.float16)
        x = tl.ones((2, 3, 4))
        assert nn.GRU(4, 5)(x)[0].dtype == tl.float32
        assert nn.GRU(4, 5)(x.astype("float16"))[0].dtype == tl.float32


# ---- when -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("everywhere")
def test_context_decorator_and_nesting() -> None:
    x = tl.ones((3, 3))

    @amp.autocast("cuda")
    def decorated(again: bool = False) -> tl.Tensor:
        return decorated() if again else x @ x

    on, off = amp.autocast("cuda", dtype=tl.float16), amp.autocast("cuda", enabled=False)
    with on:
        with off:
            assert (x @ x).dtype == tl.float32
            with on:  # entered twice
                assert (x @ x).dtype == tl.float16
            assert (x @ x).dtype == tl.float32
        assert (x @ x).dtype == tl.float16
    assert (x @ x).dtype == tl.float32
    assert decorated().dtype == decorated(True).dtype == tl.float16
    with pytest.raises(ZeroDivisionError), on:
        1 / 0  # noqa: B018
    assert (x @ x).dtype == tl.float32


@pytest.mark.usefixtures("everywhere")
def test_it_is_part_of_what_a_jitted_function_is_compiled_for() -> None:
    tl.set_default_device("numpy")

    @tl.jit
    def product(x: tl.Tensor) -> tl.Tensor:
        return x @ x

    x = tl.ones((3, 3))
    for _ in range(2):
        assert product(x).dtype == tl.float32
        with amp.autocast("cuda"):
            assert product(x).dtype == tl.float16
    assert product.plans == 2


@pytest.mark.usefixtures("everywhere")
def test_a_backward_pass_within_it_is_as_outside() -> None:
    def gradients(within: bool) -> list[Any]:
        w = tl.asarray(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), requires_grad=True)
        with amp.autocast("cuda"):
            loss = tl.square(F.softmax(F.gelu(tl.ones((2, 4)) @ w.mT))).sum()
            if within:
                loss.backward()
        if not within:
            loss.backward()
        assert w.grad is not None and w.grad.dtype == tl.float32
        return w.grad.tolist()

    assert gradients(True) == gradients(False)


def test_where_there_is_no_float16_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amp, "_told", set())
    x = tl.ones((3, 3))
    assert not amp.is_autocast_available("numpy") and not amp.is_autocast_available("wasm")
    told = pytest.warns(UserWarning, match="'numpy' does not compute float16")
    with told, amp.autocast("numpy"):
        assert (x @ x).dtype == tl.float32
    told = pytest.warns(UserWarning, match="no device computes bfloat16")
    with told, amp.autocast("webgpu", dtype="bfloat16"):
        assert (x @ x).dtype == tl.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said; and there is nothing to say
        with amp.autocast("numpy"), amp.autocast("numpy", enabled=False):
            pass


def test_cuda_means_the_default_device(monkeypatch: pytest.MonkeyPatch) -> None:
    tl.set_default_device("numpy")
    assert not amp.is_autocast_available("cuda:0")
    with pytest.raises(tl.OptionError, match="'gpu' is not a device; choose one of 'webgpu'"):
        amp.is_autocast_available("gpu")
    with pytest.raises(tl.OptionError, match="'tpu' is not a device"):
        amp.autocast("tpu")
    with pytest.raises(tl.OptionError, match="float16, not float32"):
        amp.autocast("cuda", dtype="float32")


# ---- on a GPU ---------------------------------------------------------------------------------


def training_step(on: bool) -> Graph:
    """The loss and the gradients of a convolution and a product, large enough for tiles."""
    x, filters, w = (
        input_node(name, shape, tl.float32)
        for name, shape in (
            ("x", (8, 32, 32, 32)), ("filters", (64, 32, 3, 3)), ("w", (512, 65536)),
        )
    )  # fmt: skip

    def loss(filters: tl.Tensor, w: tl.Tensor) -> tl.Tensor:
        with context.autocast.override(on):
            pixels = F.relu(F.conv2d(tl.Tensor(x), filters, padding=1))
            scores = F.linear(tl.reshape(pixels, (512, 1024)), w[:, :1024])
            return F.cross_entropy(scores, tl.zeros(512, "int32"))

    value, gradients = tl.value_and_grad(loss, (0, 1))(tl.Tensor(filters), tl.Tensor(w))
    outputs = {"loss": value, "filters": gradients[0], "w": gradients[1]}
    assert all(each.dtype == tl.float32 for each in outputs.values())
    return Graph((x, filters, w), {n: t.node for n, t in outputs.items()}, "step")


def kernels(graph: Graph, traits: Traits) -> list[str]:
    return compile_graph(graph, "webgpu", Limits(traits=traits)).plan.modules


def test_products_on_hardware_are_in_float16() -> None:
    """Forward and backward: of the product by both factors, and of the convolution."""
    modules = kernels(training_step(True), HARDWARE.traits)
    halves = [text for text in modules if "enable f16;" in text]
    assert all(re.search(r"var<workgroup> \w+: array<(vec4h|vec4<f16>|f16)", t) for t in halves)
    assert sum("matmul" in text.splitlines()[0] for text in halves) >= 2, halves
    assert any("conv2d" in text.splitlines()[0] for text in halves)
    whole = [t for t in modules if "matmul" in t.splitlines()[0] and "enable f16;" not in t]
    assert not whole


@pytest.mark.parametrize(
    ("on", "traits"),
    [(False, HARDWARE.traits), (True, Traits(subgroups=True)), (False, Traits(subgroups=True))],
)
def test_no_float16_without_autocast_or_without_the_feature(on: bool, traits: Traits) -> None:
    assert not any("f16" in text for text in kernels(training_step(on), traits))


def test_a_weight_that_is_known_is_not_transformed_in_float32() -> None:
    """Winograd's product would be one of float32."""
    x, weight = input_node("x", (4, 64, 64, 64), tl.float32), tl.ones((64, 64, 3, 3))
    with context.autocast.override(True):
        y = F.conv2d(tl.Tensor(x), weight, padding=1)
    (text,) = [t for t in kernels(Graph((x,), {"y": y.node}), HARDWARE.traits) if "conv2d" in t]
    assert "enable f16;" in text


# ---- training ---------------------------------------------------------------------------------


def learned(device: str, jitted: bool) -> None:
    """A network learns with autocast and a loss scale, and skips the step whose gradients overflow:
    the first ones, with a scale beyond what float16 holds."""
    tl.set_default_device(device)
    tl.manual_seed(3)
    model = nn.Sequential(
        nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)
    )
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    scaler = amp.GradScaler(init_scale=2.0**30, growth_interval=1000)
    x = tl.rand(64, 2).realize()
    y = (x[:, :1] * x[:, 1:]).realize()

    def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
        with amp.autocast(device):
            predicted = model(x)
            loss = F.mse_loss(predicted, y)
        assert predicted.dtype == tl.float16 and loss.dtype == tl.float32
        scaler.scale(loss).backward()
        assert all(p.grad is not None and p.grad.dtype == tl.float32 for p in model.parameters())
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        return loss

    run = tl.jit(step) if jitted else step
    before = [p.tolist() for p in model.parameters()]
    first = run(x, y).item()
    assert scaler.get_scale() == 2.0**29
    assert [p.tolist() for p in model.parameters()] == before
    for _ in range(80 if jitted else 30):
        last = run(x, y).item()
    assert 1.0 < scaler.get_scale() < 2.0**28
    assert all(p.dtype == tl.float32 for p in model.parameters())
    assert last < first / 4


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(("device", "jitted"), [("numpy", True), ("numpy", False), ("wasm", True)])
def test_a_network_learns(device: str, jitted: bool) -> None:
    learned(device, jitted)


@pytest.mark.usefixtures("native")
def test_a_kernel_of_float16_multiplies_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the rule for hardware chooses, also if a CPU plays the GPU here."""
    used = backend("webgpu")
    if not used.limits.traits.float16:
        pytest.skip("this adapter has no shader-f16")
    hardware = replace(used.limits, traits=HARDWARE.traits)
    monkeypatch.setattr(type(used), "limits", hardware)
    random = np.random.default_rng(4)
    a, b = random.standard_normal((2, 512, 512), dtype=np.float32)
    given = [input_node(name, (512, 512), tl.float32) for name in "ab"]
    with context.autocast.override(True):
        y = tl.Tensor(given[0]) @ tl.Tensor(given[1])
    graph = Graph(tuple(given), {"y": y.astype("float32").node}, "product")
    with tl.compile_session(graph, "webgpu") as session:
        assert any("enable f16;" in text for text in session.plan.modules)
        got = session.run({"a": a, "b": b})["y"]
    rounded = [x.astype(np.float16).astype(np.float32) for x in (a, b)]
    np.testing.assert_allclose(got, rounded[0] @ rounded[1], rtol=2e-3, atol=2e-3)


@pytest.mark.usefixtures("native")
def test_a_network_learns_on_webgpu() -> None:
    if not amp.is_autocast_available("webgpu"):
        pytest.skip("this adapter has no shader-f16")
    learned("webgpu", True)
