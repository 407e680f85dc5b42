"""Models: what they take, batches, versions, loading again; without a server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

import tallow as tl
from tallow.errors import FeedError, OptionError, ServiceError, TallowError
from tallow.serve.figures import Figures
from tallow.serve.models import ModuleSpec, checked, computed, opened
from tallow.serve.repository import Repository, Source, sources_of, versions_of
from tallow.serve.serving import Limits

from . import running


def repository(*sources: Source, limits: Limits | None = None) -> Repository:
    return Repository(sources, "numpy", limits or Limits(), Figures(CollectorRegistry()))


def rows(*values: float) -> dict[str, Any]:
    return {"x": np.array([[x, -x] for x in values], np.float32)}


def test_what_batches(tmp_path: Path) -> None:
    assert opened(running.scaled(tmp_path / "a.onnx", 2), "numpy", None).batches
    assert opened(running.MNIST, "numpy", None).batches
    assert not opened(running.kinds(tmp_path / "k.onnx"), "numpy", None).batches
    assert not opened(running.counted(tmp_path / "c.onnx"), "numpy", None).batches


def test_requests_of_a_batch_get_their_own_rows(tmp_path: Path) -> None:
    model = opened(running.scaled(tmp_path / "a.onnx", 2), "numpy", None)
    asked = [rows(1), rows(2, 3, 4), rows(5, 6, 7, 8, 9), rows(10, 11, 12, 13)]
    found = computed(model, asked, 8)
    for feeds, answer in zip(asked, found, strict=True):
        assert np.array_equal(answer["y"], 2 * feeds["x"])


def test_filled_rows_are_not_answered(tmp_path: Path) -> None:
    seen: list[int] = []
    model: Any = opened(running.scaled(tmp_path / "a.onnx", 3), "numpy", None)

    class Watched:
        inputs, outputs, batches = model.inputs, model.outputs, True

        def __call__(self, feeds: Any) -> Any:
            seen.append(len(feeds["x"]))
            return model(feeds)

    (found,) = computed(Watched(), [rows(*range(7))], 8)
    assert seen == [8] and np.array_equal(found["y"], 3 * rows(*range(7))["x"])


@pytest.mark.parametrize(
    ("feeds", "words"),
    [
        ({}, "missing x"),
        ({"x": np.zeros((1, 2), np.float32), "z": np.zeros(1)}, "unknown z"),
        ({"x": np.zeros((1, 3), np.float32)}, r"FP32 \[1, 3\]; the model takes FP32 \[-1, 2\]"),
        ({"x": np.zeros((1, 2))}, "is FP64"),
        ({"x": np.zeros((0, 2), np.float32)}, "no rows"),
    ],
)
def test_inputs_that_do_not_fit(tmp_path: Path, feeds: Any, words: str) -> None:
    model = opened(running.scaled(tmp_path / "a.onnx", 2), "numpy", None)
    with pytest.raises(FeedError, match=words):
        checked(model.inputs, feeds, model.batches)


def test_weights_of_a_network(tmp_path: Path) -> None:
    network = tl.nn.Sequential(tl.nn.Linear(3, 2), tl.nn.ReLU())
    path = tmp_path / "w.safetensors"
    tl.save(path, network.state_dict())
    spec = ModuleSpec(f"{__name__}:network", (3,))
    model = opened(path, "numpy", spec)
    assert [port.shape for port in (*model.inputs, *model.outputs)] == [(-1, 3), (-1, 2)]
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    (found,) = computed(model, [{"input": x}], 4)
    assert np.allclose(found["output"], network(tl.asarray(x)).numpy())
    model.close()
    with pytest.raises(OptionError, match="--module"):
        opened(path, "numpy", None)
    for name in ("resnet0", "nowhere:network", f"{__name__}:rows"):
        with pytest.raises((OptionError, TypeError)):
            opened(path, "numpy", ModuleSpec(name, (3,)))
    with pytest.raises(TallowError, match="not everything fits"):
        opened(path, "numpy", ModuleSpec("LeNet5", (3,)))


def network() -> tl.nn.Module:
    return tl.nn.Sequential(tl.nn.Linear(3, 2), tl.nn.ReLU())


def test_names_and_versions(tmp_path: Path) -> None:
    one = running.scaled(tmp_path / "one.onnx", 1)
    folder = running.scaled(tmp_path / "many" / "1" / "model.onnx", 1).parents[1]
    running.scaled(folder / "12" / "other.onnx", 2)
    (folder / "notes").mkdir()
    assert [each.name for each in sources_of([str(one), str(folder)], [])] == ["one", "many"]
    assert [each.name for each in sources_of([str(one), str(folder)], ["x"])] == ["x", "many"]
    assert list(versions_of(folder)) == [1, 12] and versions_of(one) == {1: one}
    running.scaled(folder / "12" / "third.onnx", 2)
    with pytest.raises(OptionError, match="2 models"):
        versions_of(folder)
    with pytest.raises(OptionError, match="no folder of a version"):
        versions_of(folder / "notes")
    with pytest.raises(OptionError, match="3 names for 1"):
        sources_of([str(one)], ["a", "b", "c"])
    with pytest.raises(OptionError, match="two models"):
        sources_of([str(one), str(one)], [])
    with pytest.raises(OptionError, match="an address"):
        sources_of([str(one)], ["a/b"])


def test_a_model_that_is_loaded_again_loses_no_request(tmp_path: Path) -> None:
    path = running.scaled(tmp_path / "a.onnx", 1)

    async def go() -> None:
        found = repository(Source("a", path), limits=Limits(wait=0.001))
        await found.load_all()
        running.scaled(path, 2)
        done = asyncio.Event()
        factors: list[float] = []

        async def ask() -> None:
            while not done.is_set():
                answer = await found.find("a").infer(rows(1))
                factors.append(float(answer["y"][0, 0]))

        asking = [asyncio.create_task(ask()) for _ in range(8)]
        for _ in range(3):
            await asyncio.sleep(0)
            await found.load("a")
        before = len(factors)
        while len(factors) < before + 20:
            await asyncio.sleep(0)
        done.set()
        await asyncio.gather(*asking)
        assert set(factors) <= {1.0, 2.0} and factors[-1] == 2.0
        await found.close()

    asyncio.run(go())


def test_versions_come_and_go(tmp_path: Path) -> None:
    folder = running.scaled(tmp_path / "a" / "1" / "model.onnx", 1).parents[1]

    async def go() -> None:
        found = repository(Source("a", folder))
        assert not found.ready
        await found.load_all()
        assert found.ready and found.find("a").version == 1
        running.scaled(folder / "2" / "model.onnx", 2)
        broken = folder / "3" / "model.onnx"
        broken.parent.mkdir()
        broken.write_bytes(b"not ONNX")
        await found.load("a")
        assert found.versions("a") == [1, 2] and found.find("a").version == 2
        assert found.find("a", "1").version == 1
        assert [row["state"] for row in found.index()] == ["READY", "READY", "UNAVAILABLE"]
        for version, kind in (("3", "unready"), ("4", "missing"), ("x", "missing")):
            with pytest.raises(ServiceError) as error:
                found.find("a", version)
            assert error.value.kind == kind
        for number in (1, 2):
            (folder / str(number) / "model.onnx").write_bytes(b"gone")
        with pytest.raises(ServiceError, match="does not load"):
            await found.load("a")
        assert found.find("a").version == 2  # what served serves on
        await found.unload("a")
        with pytest.raises(ServiceError, match="unloaded"):
            found.find("a")
        with pytest.raises(ServiceError, match="there is no model 'b'; there are: a"):
            await found.load("b")
        await found.close()

    asyncio.run(go())


def test_one_bad_request_spoils_no_other(tmp_path: Path) -> None:
    path = running.picked(tmp_path / "p.onnx")

    async def go() -> None:
        answers: list[Any]
        found = repository(Source("p", path), limits=Limits(wait=0.2, batch=4))
        await found.load_all()
        ask = [found.find("p").infer({"i": np.array([i])}) for i in (1, 99, 3, 4)]
        answers = await asyncio.gather(*ask, return_exceptions=True)
        assert isinstance(answers[1], TallowError)
        assert [float(answers[i]["y"][0]) for i in (0, 2, 3)] == [1.0, 3.0, 4.0]
        await found.close()

    asyncio.run(go())


def test_a_deadline_that_passes(tmp_path: Path) -> None:
    path = running.scaled(tmp_path / "a.onnx", 1)

    async def go() -> None:
        found = repository(Source("a", path), limits=Limits(wait=5.0))
        await found.load_all()
        serving = found.find("a")
        with pytest.raises(ServiceError, match=r"no answer within 0\.01 s") as error:
            await serving.infer(rows(1), timeout=0.01)
        assert error.value.kind == "late"
        await found.close()

    asyncio.run(go())
