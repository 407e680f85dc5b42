"""Decoders of all families against transformers: whole texts, texts through a cache."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.unit.zoo.decoder_cases import CASES, LENGTH, NEW, prompt, weight
from tests.unit.zoo.record_decoders import RECORDED

import tallow as tl
from tallow import zoo
from tallow.core.drivers import run_sync
from tallow.generation.cache import Cache
from tallow.generation.plans import Plans
from tallow.generation.sampling import Kinds

pytestmark = pytest.mark.usefixtures("on_numpy")

SMALL = ["llama3", "gemma3", "olmoe", "lfm2"]
"""Families with which parts that all share are tested on every device."""


@cache
def recorded() -> dict[str, np.ndarray]:
    with np.load(RECORDED) as archive:
        return dict(archive)


def config_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(recorded()["configs"]))[name]
    return found


def network(name: str) -> Any:
    net = zoo.from_config(config_of(name)).eval()
    net.load_state_dict({n: weight(n, p.shape) for n, p in net.named_parameters()})
    return net


def whole(net: Any, tokens: np.ndarray) -> np.ndarray:
    with tl.no_grad():
        scores: np.ndarray = net(tl.asarray(tokens)).numpy()
    return scores


def written(plans: Plans, tokens: list[int], count: int) -> list[int]:
    (first,) = plans.prefill(0, 0, 0, tokens, Kinds())
    found = [int(first.numpy()[0])]
    while len(found) < count:
        (one,) = run_sync(plans.decode(Kinds()))
        found.append(int(one.numpy()[0]))
    return found


@pytest.mark.parametrize("name", CASES)
def test_scores_of_whole_texts(name: str) -> None:
    expected = recorded()[f"scores of {name}"]
    np.testing.assert_allclose(whole(network(name), prompt()), expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_a_text_through_the_cache(name: str) -> None:
    net = network(name)
    plans = Plans(net, Cache(net.layout))
    tokens = prompt()[0].tolist()
    scores = [plans.every(0, 0, 0, tokens[:16]).numpy()]
    scores += [plans.every(0, at, 0, tokens[at : at + 1]).numpy() for at in range(16, LENGTH)]
    expected = recorded()[f"scores of {name}"][0]
    np.testing.assert_allclose(np.concatenate(scores), expected, rtol=1e-5, atol=2e-5)
    text = written(plans, tokens[: LENGTH // 2], NEW)
    assert text == recorded()[f"text of {name}"].tolist()


@pytest.mark.parametrize("name", SMALL)
def test_devices_agree(name: str, device: str) -> None:
    net = network(name)
    expected = recorded()[f"scores of {name}"]
    np.testing.assert_allclose(whole(net, prompt()), expected, rtol=1e-4, atol=1e-4)
    plans = Plans(net, Cache(net.layout))
    text = written(plans, prompt()[0, : LENGTH // 2].tolist(), NEW)
    assert text == recorded()[f"text of {name}"].tolist()
    assert plans.plans == 2


def test_every_family_has_a_case() -> None:
    kinds = {config_of(name)["model_type"] for name in CASES}
    assert kinds == set(zoo.families.FAMILIES)
