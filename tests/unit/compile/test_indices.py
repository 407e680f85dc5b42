"""Indices that are fed: their range is found once a run, whatever moves them about, and one that is
out of range is named with its input, axis and allowed range."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.compile import indices
from tallow.core import hostarray
from tallow.core.hostarray import HostArray
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor

NODES, WIDTH, EDGES = 12, 3, 300


def edges(bound: tuple[int, int] = (NODES, NODES)) -> np.ndarray:
    """Of a graph whose ends may be different kinds of nodes."""
    rng = np.random.default_rng(1)
    return np.stack([rng.integers(0, most, EDGES) for most in bound]).astype(np.int64)


def network(ends: int = NODES) -> Graph:
    """Features of both ends of each edge, as exporters write it: slices of one input, moved about,
    read several times."""
    x, index = input_node("x", (NODES, WIDTH), tl.float32), input_node("edge", (2, EDGES), tl.int64)
    features, both = Tensor(x), Tensor(index)
    source, target = both[0:1, :].reshape((EDGES,)), both[1:2, :].reshape((EDGES,))
    wide = tl.broadcast_to(target.reshape((EDGES, 1)), (EDGES, WIDTH))
    total = tl.take(features, source, axis=0) + tl.take(features[:ends], target, axis=0)
    total = total * tl.take_along_axis(features[:ends], wide, axis=0)
    return Graph((x, index), {"y": total.node}, "edges")


FEATURES = np.random.default_rng(2).standard_normal((NODES, WIDTH)).astype(np.float32)


def expected(edge: np.ndarray) -> np.ndarray:
    return (FEATURES[edge[0]] + FEATURES[edge[1]]) * FEATURES[edge[1]]


class Looks:
    """Counts how often the elements of an array are listed, or their extremes found."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.flat = self.extremes = 0
        flat, extremes = HostArray.flat, HostArray.extremes

        def counted_flat(array: HostArray) -> list[Any]:
            self.flat += array.size > 1
            return flat(array)

        def counted_extremes(array: HostArray) -> tuple[Any, Any]:
            self.extremes += 1
            return extremes(array)

        monkeypatch.setattr(HostArray, "flat", counted_flat)
        monkeypatch.setattr(HostArray, "extremes", counted_extremes)


def test_the_range_is_found_once_a_run(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    edge = edges()
    with tl.compile_session(network(), device) as session:
        looks = Looks(monkeypatch)
        result = session.run({"x": FEATURES, "edge": edge})["y"]
        assert (looks.extremes, looks.flat) == (1, 0)
    np.testing.assert_allclose(result, expected(edge), rtol=1e-5)


@pytest.mark.parametrize("loaded", [True, False], ids=["NumPy", "no NumPy"])
def test_a_part_of_an_input_has_its_own_range(
    device: str, loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sources of the edges lie beyond the range of their targets."""
    edge = edges((NODES, 5))
    assert edge[0].max() > 5
    with tl.compile_session(network(5), device) as session:
        if not loaded:
            for module in (indices, hostarray):
                monkeypatch.setattr(module, "sys", SimpleNamespace(modules={}))
        result = session.run({"x": FEATURES, "edge": edge})["y"]
        np.testing.assert_allclose(result, expected(edge), rtol=1e-5)
        edge[1, 17] = 7
        with pytest.raises(tl.IndexRangeError) as caught:
            session.run({"x": FEATURES, "edge": edge})
    text = str(caught.value)
    for part in ("'edge'", "the index 7", "axis 0 of 5 elements", "-5 to 4"):
        assert part in text
    assert "\n" not in text


def test_what_slices_leave_out_is_not_refused(device: str) -> None:
    index = input_node("i", (4,), tl.int32)
    table = tl.asarray(np.arange(3, dtype=np.float32))
    graph = Graph((index,), {"y": tl.take(table, Tensor(index)[1:3], axis=0).node}, "part")
    with tl.compile_session(graph, device) as session:
        fed = np.array([99, 2, -3, -99], np.int32)
        assert session.run({"i": fed})["y"].tolist() == [2, 0]


def test_many_ignored_targets_are_not_listed_one_by_one(device: str) -> None:
    """-100 is out of range, and ignored, in each of many targets but one."""
    scores, target = input_node("s", (400, 3), tl.float32), input_node("t", (400,), tl.int64)
    loss = tl.nn.functional.cross_entropy(Tensor(scores), Tensor(target))
    given = np.full(400, -100)
    given[7] = 2
    zeros = np.zeros((400, 3), np.float32)
    with tl.compile_session(Graph((scores, target), {"y": loss.node}, "loss"), device) as session:
        assert session.run({"s": zeros, "t": given})["y"] == pytest.approx(np.log(3), rel=1e-5)
        given[9] = 3
        with pytest.raises(tl.IndexRangeError, match=r"the class 3 is not in 0 to 2.*'t'"):
            session.run({"s": zeros, "t": given})


def test_a_tensor_is_looked_at_for_each_of_its_uses() -> None:
    """Once it fits a long table, a short one may still be too short for it."""
    index = tl.asarray(np.array([0, 3], np.int32))
    long, short = tl.arange(4), tl.arange(3)

    @tl.jit
    def both(index: Tensor) -> Tensor:
        return tl.take(long, index, axis=0) + tl.take(short, index, axis=0)

    with pytest.raises(tl.IndexRangeError, match="3"):
        both(index).numpy()
