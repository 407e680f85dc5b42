"""What the page calls: predictions, and the same pixels again for the profile and the check."""

from __future__ import annotations

import asyncio
import json
import warnings

import numpy as np
import pytest
from tests.files import Files
from tests.unit.tallow_page.long_actions import finished

from tallow.errors import FeedError
from tallow.runtime.device import set_default_device
from tallow_build.paths import ROOT
from tallow_page import app

MODEL = ROOT / "models" / "mnist"


def test_answers_the_check_and_the_profile_are_of_the_pixels_that_are_given() -> None:
    random = np.random.default_rng(5)
    own, other = (random.random((28, 28), np.float32) for _ in range(2))

    fetched = []

    async def fetch() -> Files:
        fetched.append("mnist")
        return Files(MODEL / "mnist.onnx")

    async def answers() -> None:
        await app.start("numpy")
        card = (MODEL / "card.json").read_text("utf-8")
        facts = json.loads(await app.load_model("mnist", fetch, card))
        assert facts["seconds"] > 0
        first = np.array(await app.predict("mnist", own)).view(np.float32)
        second = np.array(await app.predict("mnist", other)).view(np.float32)
        assert first.shape == (10,) and abs(first.sum() - 1) < 1e-5
        assert not np.array_equal(first, second)
        _, told = await finished(app.run_on("mnist", "numpy", 1, own, fetch))
        assert told["probabilities"] == first.tolist()
        assert told["first"] is None  # it was loaded before
        assert told["warm"] > 0
        assert json.loads(await app.profile("mnist", own))["profile"]["kernels"]
        assert fetched == ["mnist"]  # on the chosen device, nothing needs the graph again
        with pytest.raises(FeedError, match="expects 3136 bytes"):
            await app.predict("mnist", own[:-1].copy())

    with warnings.catch_warnings():  # the page's own way of showing warnings ends here
        try:
            asyncio.run(answers())
        finally:
            set_default_device(None)
