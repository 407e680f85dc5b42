"""A tab that computes on another machine: here, on this test's process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.conftest import Notebook
from tests.unit.serve.lender import TOKEN, LenderThread, lending


@pytest.fixture(scope="module")
def lender() -> Iterator[LenderThread]:
    with lending("numpy") as found:
        yield found


@pytest.fixture(scope="module")
def python(browser_python: Callable[[str], Notebook], lender: LenderThread) -> Iterator[Notebook]:
    """A page that other files use, too: its own device is the default one again afterwards."""
    found = browser_python("wasm")
    found.run(f"""
import tallow as tl
from tallow import nn, optim
NAME, TOKEN = {lender.name!r}, {TOKEN!r}
""")
    yield found
    found.run("tl.set_default_device('wasm')")


def test_a_wrong_token_is_told(python: Notebook) -> None:
    said = python.run("""
try:
    await tl.open_device(NAME, token="wrong")
except tl.errors.DeviceUnavailableError as error:
    said = str(error)
said
""")
    assert "the token is wrong" in said


def test_a_network_trains_there(python: Notebook) -> None:
    device, adapter, places, falls, blocked = python.run("""
info = await tl.open_device(NAME, token=TOKEN)
tl.set_default_device(NAME)
tl.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = optim.Adam(model.parameters(), lr=0.05)

@tl.jit
def step(x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss

x = tl.randn(64, 4)
y = tl.argmax(x[:, :3], axis=1)
losses = [step(x, y) for _ in range(50)]
found = [float(await each.numpy_async()) for each in losses]
[info.device, info.adapter, [each.device for each in losses[:2]], found[-1] < 0.5 * found[0],
 step(x, y).item() < found[0]]
""")
    assert device.startswith("remote:http://127.0.0.1:")
    assert adapter.startswith("NumPy")
    assert places == [device, device]
    assert falls
    assert blocked


def test_a_machine_that_goes_away_is_a_lost_device(python: Notebook, lender: LenderThread) -> None:
    python.run("kept = tl.ones(3).realize()\nNone")
    lender.stop()
    kind, words = python.run("""
try:
    await (kept + 1).numpy_async()
except tl.errors.TallowError as error:
    kind, words = type(error).__name__, str(error)
[kind, words]
""")
    assert kind == "DeviceLostError"
    assert "the server ends" in words
    lender.start()
    values = python.run("""
await tl.open_device(NAME, token=TOKEN)
(await tl.ones(3).numpy_async()).tolist()
""")
    assert values == [1, 1, 1]
