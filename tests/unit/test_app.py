"""What the page calls: the pixels that are kept for the profile and the check."""

from __future__ import annotations

import asyncio
import json
import warnings

import numpy as np
import pytest
from tests.files import Files

from tallow import app
from tallow.device import set_default_device
from tallow.errors import FeedError
from tallow_build.paths import ROOT

MODEL = ROOT / "models" / "mnist"


def test_only_what_is_to_be_kept_is_computed_again() -> None:
    random = np.random.default_rng(5)
    own, covered = (random.random((28, 28), np.float32) for _ in range(2))

    fetched = []

    async def fetch() -> Files:
        fetched.append("mnist")
        return Files(MODEL / "mnist.onnx")

    async def answers() -> list[list[float]]:
        await app.start("numpy")
        card = (MODEL / "card.json").read_text("utf-8")
        await app.load_model("mnist", fetch, card)
        await app.predict("mnist", covered, keep=False)
        with pytest.raises(FeedError, match="answered nothing yet"):
            await app.run_on("mnist", "numpy", 0, fetch)
        told = [
            await app.predict("mnist", own),
            await app.predict("mnist", covered, keep=False),
            await app.run_on("mnist", "numpy", 0, fetch),
        ]
        assert json.loads(await app.profile("mnist"))["profile"]["kernels"]
        assert fetched == ["mnist"]  # on the chosen device, nothing needs the graph again
        return [json.loads(each)["probabilities"] for each in told]

    with warnings.catch_warnings():  # the page's own way of hearing them ends here
        try:
            first, other, again = asyncio.run(answers())
        finally:
            set_default_device(None)
    assert again == first != other
