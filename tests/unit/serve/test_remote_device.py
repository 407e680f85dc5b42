"""A device of another machine computes what it computes there."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from tests.unit.serve.lender import TOKEN, LenderThread, lending
from tests.unit.train import problem
from websockets.sync.server import serve

import tallow as tl
from tallow import nn, optim
from tallow.core import context
from tallow.devices.remote import device as remote_device
from tallow.devices.remote.connection import Connection
from tallow.devices.remote.device import RemoteDevice
from tallow.runtime import device
from tallow.serve.compute import Terms
from tallow.train import Callback, Run
from tallow_build.paths import ROOT

ASKED = ["numpy", "wasm"]


@pytest.fixture(scope="module", params=ASKED)
def lent(request: pytest.FixtureRequest) -> Iterator[LenderThread]:
    with lending(request.param) as lender:
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        yield lender


def test_it_says_what_it_is(lent: LenderThread) -> None:
    info = asyncio.run(tl.open_device(lent.name))
    there = device.backend(lent.device).info
    assert (info.device, info.adapter, info.features) == (lent.name, there.adapter, there.features)
    assert lent.name not in tl.devices()
    assert tl.default_device() != lent.name


def test_tensors_live_there(lent: LenderThread) -> None:
    before = tl.live_buffers(lent.name)
    x = tl.asarray(np.arange(12.0, dtype=np.float32).reshape(3, 4)).to(lent.name)
    y = (x @ x.T).realize()
    assert x.device == y.device == lent.name
    assert (
        y.numpy().tolist()
        == (np.arange(12.0).reshape(3, 4) @ np.arange(12.0).reshape(3, 4).T).tolist()
    )
    assert y.to(lent.device).device == lent.device
    for dtype in ("bool", "int8", "int64", "uint16", "float16", "float64"):
        values = np.array([0, 1, 1, 0]).astype(dtype)
        held = tl.asarray(values).to(lent.name)
        assert tl.flip(held).numpy().tolist() == values[::-1].tolist()
        assert held.dtype.name == dtype
    assert tl.zeros((0, 3), device=lent.name).numpy().shape == (0, 3)
    del x, y, held
    gc.collect()
    assert tl.live_buffers(lent.name) == before


def test_a_network_answers_as_there(lent: LenderThread) -> None:
    model = tl.onnx.load(ROOT / "models" / "mnist" / "mnist.onnx")
    x = np.random.default_rng(0).random((1, 1, 28, 28), np.float32)
    found = [model.session(device=name) for name in (lent.name, lent.device)]
    feeds = {model.inputs[0].name: x}
    here, there = (next(iter(session.run(feeds).values())).tolist() for session in found)
    assert here == there
    again = asyncio.run(found[0].run_async(feeds))
    assert next(iter(again.values())).tolist() == there
    assert found[0].stats["runs"] == 2
    assert found[0].profile(feeds).milliseconds > 0


@contextmanager
def default(name: str) -> Iterator[None]:
    """The default device, within."""
    previous = context.default_device.get()
    tl.set_default_device(name)
    try:
        yield
    finally:
        tl.set_default_device(previous)


def trained(name: str) -> list[Any]:
    """The losses and weights of a training under jit."""
    tl.manual_seed(1)
    with default(name):
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
        optimizer = optim.Adam(model.parameters(), lr=0.02)

        @tl.jit
        def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        x, y = tl.asarray(problem.X), tl.asarray(problem.Y)
        losses = [step(x, y) for _ in range(5)]
        values = [*losses, *model.state_dict().values()]
        assert all(each.device == name for each in values)
        return [each.numpy().tolist() for each in values]


def test_training_learns_the_same_to_the_bit(lent: LenderThread) -> None:
    assert trained(lent.name) == trained(lent.device)


def test_an_error_of_a_step_names_its_cause(lent: LenderThread) -> None:
    if lent.device != "numpy":
        pytest.skip("only NumPy checks an index that was computed")

    @tl.jit(device=lent.name)
    def picked(x: tl.Tensor, index: tl.Tensor) -> tl.Tensor:
        return tl.take(x, index + 1, axis=0)

    x = tl.ones((3,), device=lent.name)
    with pytest.raises(tl.IndexRangeError, match="5"):
        picked(x, tl.asarray([4]).to(lent.name)).numpy()
    assert picked(x, tl.asarray([1]).to(lent.name)).numpy().tolist() == [1]


def large(lender: LenderThread) -> tl.Tensor:
    return tl.asarray(np.ones(200_000, np.float32)).to(lender.name).realize()


def test_what_has_no_room_is_refused() -> None:
    with lending("numpy", Terms(TOKEN, memory=1 << 20)) as lender:
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        kept = large(lender)
        with pytest.raises(tl.DeviceMemoryError, match=r"lends 1,048,576"):
            large(lender).numpy()
        with pytest.raises(tl.DeviceMemoryError, match="free tensors"):
            (kept * 2).numpy()
        assert kept.numpy().sum() == 200_000
        del kept
        gc.collect()
        assert large(lender).numpy().sum() == 200_000


@pytest.mark.parametrize("token", [None, "", "another"])
def test_a_wrong_token_lets_nobody_in(monkeypatch: pytest.MonkeyPatch, token: str | None) -> None:
    monkeypatch.delenv("TALLOW_TOKEN", raising=False)
    with lending("numpy") as lender:
        with pytest.raises(tl.DeviceUnavailableError, match="the token is wrong"):
            asyncio.run(tl.open_device(lender.name, token=token))
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        assert tl.ones(2, device=lender.name).numpy().tolist() == [1, 1]


def test_the_token_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLOW_TOKEN", TOKEN)
    with lending("numpy") as lender:
        assert tl.ones(2, device=lender.name).numpy().tolist() == [1, 1]


def test_only_the_same_version_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    with lending("numpy") as lender:
        monkeypatch.setattr(remote_device, "__version__", "0.0.7")
        with pytest.raises(tl.DeviceUnavailableError, match=r"you have 0\.0\.7; install the same"):
            asyncio.run(tl.open_device(lender.name, token=TOKEN))


def test_no_more_borrowers_than_allowed_at_a_time() -> None:
    with lending("numpy", Terms(TOKEN, borrowers=1)) as lender:
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        another = RemoteDevice(lender.name)
        another.use_token(TOKEN)
        with pytest.raises(tl.DeviceUnavailableError, match="all 1 borrowers"):
            asyncio.run(another.open())


@pytest.mark.parametrize(
    "name",
    ["remote:", "remote:host", "remote:ftp://host", "remote:https://", "remote:http://a b"],
)
def test_addresses_that_are_none(name: str) -> None:
    with pytest.raises(tl.DeviceUnavailableError, match="write remote:https://HOST"):
        asyncio.run(tl.open_device(name))


def test_nobody_there() -> None:
    with pytest.raises(tl.DeviceUnavailableError, match="no connection"):
        asyncio.run(tl.open_device("remote:http://127.0.0.1:9", token=TOKEN))


def test_somebody_else_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A WebSocket that takes the greeting, and never answers."""
    monkeypatch.setattr(remote_device, "GREETING_SECONDS", 0.2)
    with serve(lambda socket: list(socket), "127.0.0.1", 0) as server:
        Thread(target=server.serve_forever).start()
        name = f"remote:http://127.0.0.1:{server.socket.getsockname()[1]}"
        with pytest.raises(tl.DeviceUnavailableError, match="does not answer"):
            asyncio.run(tl.open_device(name, token=TOKEN))


def test_other_devices_take_no_token() -> None:
    with pytest.raises(tl.OptionError, match="'numpy' takes no token"):
        asyncio.run(tl.open_device("numpy", token=TOKEN))


# ---- a server that goes away -------------------------------------------------------------------


def test_a_server_that_goes_away_is_a_lost_device() -> None:
    with lending("numpy") as lender:
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        x = tl.ones((3,), device=lender.name).realize()
        lender.stop()
        for used in (lambda: (x + 1).numpy(), lambda: tl.ones(2, device=lender.name).numpy()):
            with pytest.raises(tl.DeviceLostError, match="has ended: the server ends"):
                used()
        with pytest.raises(tl.DeviceUnavailableError, match="no connection"):
            asyncio.run(tl.open_device(lender.name))
        lender.start()
        assert tl.ones((3,), device=lender.name).numpy().tolist() == [1, 1, 1]


def test_a_program_closes_though_its_server_goes_away_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The end of the connection may not be known yet when the program tells it."""

    def gone(*_: object, **__: object) -> None:
        raise tl.DeviceLostError("the connection has ended")

    with lending("numpy") as lender:
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        node = tl.graph.input_node("x", (2,), tl.float32)
        graph = tl.graph.Graph((node,), {"y": (tl.Tensor(node) + 1).node}, "one more")
        session = tl.compile_session(graph, lender.name)
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "tell", gone)
            session.close()
        session.close()


class Restart(Callback):
    """Ends the server in the middle of a run, and starts it again."""

    def __init__(self, lender: LenderThread, step: int) -> None:
        self.lender, self.step = lender, step

    def on_step_end(self, learner: Run) -> None:
        if learner.steps == self.step:
            self.step = -1
            self.lender.stop()
            self.lender.start()


def test_a_learner_goes_on_after_its_server_was_away(tmp_path: Path) -> None:
    with default("numpy"):
        wanted = problem.learner()
        wanted.fit(*problem.loaders(), epochs=3)
    with lending("numpy") as lender:
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        with default(lender.name), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            learner = problem.learner(tmp_path, callbacks=[Restart(lender, 10)])
            learner.fit(*problem.loaders(), epochs=3)
            found = problem.weights(learner)
        assert any("The run goes on from" in str(each.message) for each in told)
        assert found == problem.weights(wanted)
