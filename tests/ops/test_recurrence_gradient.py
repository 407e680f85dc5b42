"""The gradient of recurrent layers on WebAssembly: its kernels, at sizes that leave something over
everywhere, beside NumPy's; and how many kernels a step of training has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recurrence_reference import NAMES, operands
from wasm_runs import given, run

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.functional.recurrent import DEFAULTS, recurrence
from tallow.graph import Graph, Node, input_node
from tallow.ops.recurrence import MAX_STATE
from tallow.tensor import Tensor

HARD = ("HardSigmoid", 0.3, 0.4)
SOFT = ("Softsign", 0.0, 0.0)


def loss(cell: str, tensors: list[Tensor], names: tuple[str, ...], **options: Any) -> Tensor:
    """A number that depends on all results."""
    found = dict(zip(NAMES, tensors, strict=True))
    x, weights, hidden = (found[name] for name in NAMES[:3])
    more = {name: found[name] for name in names}
    y, last = recurrence(cell, x, weights, hidden, **more, **options)
    return tl.sum(y * y * y) + tl.sum(last * last)


def gradients(
    cell: str, arrays: tuple[np.ndarray, ...], names: tuple[str, ...] = NAMES[3:], **options: Any
) -> tuple[Node, dict[Node, np.ndarray]]:
    """All gradients, flat, and what is fed."""
    feeds = {given(f"x{n}", array): array for n, array in enumerate(arrays)}
    tensors = [Tensor(node) for node in feeds]
    names = tuple(name for name in names if name in NAMES[: len(arrays)])
    wanted = [NAMES.index(name) for name in (*NAMES[:3], *names) if name != "lengths"]

    def of(*changed: Tensor) -> Tensor:
        whole = list(tensors)
        for place, each in zip(wanted, changed, strict=True):
            whole[place] = each
        padded = NAMES[: len(whole)]
        assert len(padded) == len(whole)
        return loss(cell, [*whole, *[whole[0]] * (len(NAMES) - len(whole))], names, **options)

    found = tl.grad(of, argnums=tuple(range(len(wanted))))(*(tensors[n] for n in wanted))
    flat = [tl.reshape(each, (each.size,)) for each in found]
    return tl.concat(flat).node, feeds


def on_numpy(result: Node, feeds: dict[Node, np.ndarray]) -> np.ndarray:
    with tl.compile_session(Graph(tuple(feeds), {"y": result}, "numpy"), "numpy") as session:
        found: np.ndarray = session.run({n.attrs["name"]: a for n, a in feeds.items()})["y"]
        return found


CASES: dict[str, tuple[str, tuple[int, int, int, int], dict[str, Any]]] = {
    **{f"lstm, {n} sequences": ("lstm", (3, n, 2, 6), {}) for n in (1, 4, 5, 7, 16)},
    **{f"lstm, a state of {n}": ("lstm", (2, 3, 2, n), {}) for n in (1, 3, 4, 11, 32, 37)},
    **{f"gru, {n} sequences": ("gru", (3, n, 2, 9), {}) for n in (1, 3, 6)},
    "gru, linear": ("gru", (3, 5, 2, 9), {"linear_before_reset": True}),
    "gru, both ways": ("gru", (4, 6, 2, 33), {"backward": (False, True)}),
    "rnn": ("rnn", (5, 9, 2, 13), {"backward": (True,)}),
    "rnn, relu": ("rnn", (5, 2, 2, 13), {"activations": (("Relu", 0.0, 0.0),)}),
    "lstm, both ways": ("lstm", (4, 8, 3, 20), {"backward": (False, True)}),
    "lstm, coupled": ("lstm", (4, 4, 3, 8), {"input_forget": True}),
    "lstm, hard": ("lstm", (4, 4, 3, 8), {"activations": (HARD, HARD, ("Affine", 0.5, 0.1))}),
    "lstm, one step": ("lstm", (1, 16, 3, 8), {}),
}


def check(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("relaxed", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_numpy(name: str, relaxed: bool) -> None:
    cell, sizes, options = CASES[name]
    arrays = operands(cell, *sizes, len(options.get("backward", " ")))
    result, feeds = gradients(cell, arrays, **options)
    found, left = run(result, feeds, relaxed)
    assert not left
    check(found, on_numpy(result, feeds))


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("names", [(), ("bias",), ("states",), ("lengths",)])
def test_layers_without_some_operands(cell: str, names: tuple[str, ...]) -> None:
    result, feeds = gradients(cell, operands(cell, 4, 4, 2, 5), names)
    found, left = run(result, feeds, True)
    assert not left
    check(found, on_numpy(result, feeds))


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_no_sequences(cell: str) -> None:
    arrays = operands(cell, 4, 0, 2, 5)
    result, feeds = gradients(cell, arrays)
    found, _ = run(result, feeds, True)
    assert not found.any()
    assert found.size == sum(a.size for a in arrays if a.dtype.kind == "f")


def kernels(cell: str, time: int, device: str, size: int = 8, **options: Any) -> list[str]:
    """The kernels of all gradients of a layer, its result among their operands."""
    arrays = operands(cell, time, 2, 3, size)
    result, feeds = gradients(cell, arrays, **options)
    compiled = compile_graph(Graph(tuple(feeds), {"y": result}), device)
    return [step.name for step in compiled.plan.run]


@pytest.mark.parametrize("device", ["wasm", "webgpu"])
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_step_of_training_has_a_kernel_each_way(cell: str, device: str) -> None:
    found = kernels(cell, 40, device)
    assert sum("recurrence_kept" in name for name in found) == 1
    assert sum("recurrence_back" in name for name in found) == 1
    assert not any("recurrence_steps" in name for name in found)
    assert len(found) < 40
    assert kernels(cell, 80, device) == found


@pytest.mark.parametrize("options", [{"activations": (SOFT, *DEFAULTS["lstm"][1:])}, {"clip": 0.5}])
def test_other_layers_go_back_step_by_step(options: dict[str, Any]) -> None:
    found = kernels("lstm", 9, "wasm", **options)
    assert sum("recurrence_steps" in name for name in found) == 1
    assert not any("recurrence_back" in name for name in found)


def test_webgpu_takes_long_sequences_in_parts() -> None:
    found = kernels("lstm", 300, "webgpu", size=512)
    forth, back = (
        sum(name.startswith(f"recurrence_{n}") for name in found) for n in ("kept", "back")
    )
    assert forth == back == 3


def test_states_beyond_the_room_of_webgpus_kernel() -> None:
    found = kernels("rnn", 2, "webgpu", size=MAX_STATE)
    assert not any("recurrence_back" in name for name in found)


def test_the_parts_of_a_long_sequence_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy takes the steps of WebGPU's plan."""
    from tallow.devices.numpy.runner import NumpyProgram
    from tallow.ops import recurrence as ops

    monkeypatch.setattr(ops, "most_steps", lambda cell, size: 3)
    for cell, back in (("lstm", (False, True)), ("gru", (True,)), ("rnn", (False,))):
        result, feeds = gradients(cell, operands(cell, 8, 3, 2, 5, len(back)), backward=back)
        compiled = compile_graph(Graph(tuple(feeds), {"y": result}), "webgpu")
        (found,) = run_sync(NumpyProgram(compiled).run(list(feeds.values())))
        check(found.numpy(), on_numpy(result, feeds))


def test_a_result_that_was_computed_before_serves_as_well() -> None:
    """The layer's result is fed, so its steps are taken again."""
    arrays = operands("lstm", 4, 2, 3, 5)
    feeds = {given(f"x{n}", array): array for n, array in enumerate(arrays)}
    x, weights, hidden, *more = map(Tensor, feeds)
    options = dict(zip(NAMES[3:], more, strict=True))
    layer = recurrence("lstm", x, weights, hidden, **options)[0].node.inputs[0]
    y = input_node("y", layer.shape, tl.float32)
    from tallow.graph import make
    from tallow.ops.recurrence_gradient import recurrence_gradient

    gradient = tl.ones(layer.shape)
    result = make(recurrence_gradient, gradient.node, y, *layer.inputs, **dict(layer.attrs))
    value = on_numpy(layer, feeds)
    fed = {**feeds, y: value}
    found, left = run(result, fed, True)
    assert not left
    check(found, on_numpy(result, fed))
