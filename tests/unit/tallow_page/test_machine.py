"""The page computes on another machine: `connect` and `start` of app.py."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from tests.files import Files
from tests.unit.serve.lender import TOKEN, LenderThread, lending
from tests.unit.tallow_page.long_actions import finished

from tallow.errors import DeviceLostError, DeviceUnavailableError
from tallow.runtime.device import backend, default_device, set_default_device
from tallow_build.paths import ROOT
from tallow_page import app
from tallow_page import open as view

MODEL = ROOT / "models" / "mnist"
PIXELS = np.random.default_rng(5).random((28, 28), np.float32)


async def fetch() -> Files:
    return Files(MODEL / "mnist.onnx")


@pytest.fixture
def lender() -> Iterator[LenderThread]:
    with warnings.catch_warnings(), lending("numpy") as found:
        yield found
        set_default_device(None)


async def _answer() -> list[float]:
    card = (MODEL / "card.json").read_text("utf-8")
    await app.load_model("mnist", fetch, card)
    return np.array(await app.predict("mnist", PIXELS)).view(np.float32).tolist()


def test_models_answer_there_as_here(lender: LenderThread) -> None:
    async def answers() -> None:
        await app.start("wasm")
        here = await _answer()
        found = json.loads(await app.connect(lender.name, TOKEN))
        assert found["device"] == lender.name
        assert default_device() == "wasm"  # until `start`
        assert json.loads(await app.start(lender.name, TOKEN))["adapter"] == found["adapter"]
        assert default_device() == lender.name
        there = await _answer()
        assert app.session_of("mnist").device == lender.name
        np.testing.assert_allclose(there, here, atol=1e-5)
        _, told = await finished(app.run_on("mnist", "wasm", 1, PIXELS, fetch))
        np.testing.assert_allclose(told["probabilities"], there, atol=1e-5)
        assert (await finished(app.run_on("mnist", lender.name, 1, PIXELS, fetch)))[1][
            "first"
        ] is None
        assert json.loads(await app.profile("mnist", PIXELS))["profile"]["kernels"]

    asyncio.run(answers())


def test_the_machine_is_given_back_when_another_device_is_chosen(lender: LenderThread) -> None:
    async def chosen() -> None:
        await app.start(lender.name, TOKEN)
        connection = backend().connection  # type: ignore[attr-defined]
        await _answer()
        await app.start(lender.name, TOKEN)
        assert backend().connection is connection and connection.lost is None  # type: ignore[attr-defined]
        await app.start("wasm")
        assert connection.lost is not None
        await app.start(lender.name, TOKEN)
        assert len(await _answer()) == 10

    asyncio.run(chosen())


def test_a_refusal_tells_the_reason_alone_and_changes_nothing(lender: LenderThread) -> None:
    async def refused() -> None:
        await app.start("numpy")
        with pytest.raises(DeviceUnavailableError, match=r"^the token is wrong; "):
            await app.connect(lender.name, "wrong")
        with pytest.raises(DeviceUnavailableError, match=r"^the token is wrong; "):
            await app.start(lender.name, "wrong")
        assert default_device() == "numpy"

    asyncio.run(refused())


@pytest.mark.parametrize("name", ["remote:ftp://host", "remote:", "remote:http://127.0.0.1:1"])
def test_a_machine_that_can_not_be_reached_is_refused(name: str) -> None:
    with pytest.raises(DeviceUnavailableError):
        asyncio.run(app.connect(name, "token"))


def test_a_machine_that_is_gone_is_a_lost_device(lender: LenderThread) -> None:
    async def lost() -> None:
        await app.start(lender.name, TOKEN)
        await _answer()
        lender.stop()
        with pytest.raises(DeviceLostError, match="has ended"):
            await app.predict("mnist", PIXELS)
        await app.start("numpy")
        assert len(await _answer()) == 10

    asyncio.run(lost())


def test_the_page_knows_another_machine_by_its_kind() -> None:
    assert view._kind("remote:https://lab.example:8443/gpu") == "remote"
    assert view._kind("wasm") == "wasm"
