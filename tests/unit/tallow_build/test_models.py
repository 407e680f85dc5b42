"""Model files: committed ones are checked; others are built once, and again if they are wrong."""

import hashlib
import json

import pytest

from tallow_build import files
from tallow_build.content import models, published
from tallow_build.errors import BuildError
from tallow_build.paths import VENV_PYTHON

SOURCE, MADE = b"weights", b"WEIGHTS"

MAKE = """
import argparse, pathlib
p = argparse.ArgumentParser()
p.add_argument("--source", type=pathlib.Path)
p.add_argument("--out", type=pathlib.Path)
o = p.parse_args()
o.out.write_bytes(o.source.read_bytes().upper())
"""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one committed and one made model; `fetch` writes the source."""
    assert VENV_PYTHON.exists(), "start the tests with: python3 build.py test"
    folder = tmp_path / "models"
    (folder / "committed").mkdir(parents=True)
    (folder / "committed" / "a.onnx").write_bytes(b"a")
    (folder / "committed" / "card.json").write_text("{}")
    (folder / "made").mkdir()
    (folder / "made" / "make.py").write_text(MAKE)
    (folder / "made" / "card.json").write_text("{}")
    origin = {"registry": "npm", "package": "p", "member": "data/w.bin", "sha256": sha256(SOURCE)}
    committed = {"file": "committed/a.onnx", "bytes": 1, "sha256": sha256(b"a")}
    made = {"file": "made/b.onnx", "bytes": 7, "sha256": sha256(MADE)}
    other = {"name": "c", "title": "C", "task": "write", "memory": 7, "licence": "MIT"}
    other["files"] = [{"file": "c.gguf", "bytes": 7, "sha256": sha256(SOURCE), "made_from": origin}]
    manifest = {
        "models": [
            {"name": "a", "card": "committed/card.json", **committed},
            {"name": "b", "card": "made/card.json", **made, "make": "made/make.py"}
            | {"made_from": origin},
        ],
        "labels": [],
        "published": [other],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(models, "MODELS", folder)
    monkeypatch.setattr(models, "MADE", tmp_path / "build")
    monkeypatch.setattr(models, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(models, "scratch", lambda name: files.scratch(name, tmp_path / "tmp"))
    fetched = []

    def fetch(wanted):
        for _, path in wanted:
            fetched.append(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(SOURCE)

    monkeypatch.setattr(models, "fetch", fetch)
    return folder, fetched


def test_each_file_is_made_once(project):
    _, fetched = project
    found = models.ensure()
    assert {name: path.read_bytes() for name, path in found.items()} == {
        "committed/a.onnx": b"a",
        "made/b.onnx": MADE,
    }
    assert models.ensure() == found
    assert len(fetched) == 1
    models.ensure(again=True)
    assert len(fetched) == 2


def test_a_damaged_made_file_is_made_again(project):
    found = models.ensure()["made/b.onnx"]
    found.write_bytes(b"WEI")
    assert models.ensure()["made/b.onnx"].read_bytes() == MADE


def test_a_recipe_that_gives_something_else_leaves_nothing(project):
    folder, _ = project
    (folder / "made" / "make.py").write_text(MAKE.replace("upper", "title"))
    with pytest.raises(BuildError, match=r"Building made/b\.onnx failed") as caught:
        models.ensure()
    assert "has sha256" in caught.value.why
    assert not (models.MADE / "made" / "b.onnx").exists()


def test_a_recipe_that_fails_is_quoted(project):
    folder, _ = project
    (folder / "made" / "make.py").write_text("raise SystemExit('no weights for conv1')")
    with pytest.raises(BuildError, match="no weights for conv1"):
        models.ensure()


@pytest.mark.parametrize(
    ("content", "words"), [(None, "is missing"), (b"other", "models/manifest.json has")]
)
def test_a_committed_file_that_is_not_right(project, content, words):
    folder, _ = project
    path = folder / "committed" / "a.onnx"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(BuildError, match=words) as caught:
        models.ensure()
    assert "restore it with git" in caught.value.remedy


def test_a_missing_card_is_named(project):
    folder, _ = project
    (folder / "made" / "card.json").unlink()
    with pytest.raises(BuildError, match=r"made/card\.json is missing"):
        models.cards()


WRONG = [
    "{",
    "[]",
    '{"models": [], "labels": []}',
    '{"models": [{}], "labels": [], "published": []}',
    '{"models": [], "labels": [], "published": [{"files": [{}]}]}',
    '{"models": [], "labels": [], "published": [{"name": "c", "files": []}]}',
]


@pytest.mark.parametrize("text", WRONG)
def test_a_manifest_that_cannot_be_used(project, text):
    (project[0] / "manifest.json").write_text(text)
    with pytest.raises(BuildError, match=r"Reading models/manifest\.json failed"):
        models.manifest()


def test_the_page_is_not_told_how_a_model_was_made(project):
    kept = models.published()["models"][1].keys()
    assert kept == {"name", "card", "file", "bytes", "sha256"}


def test_published_models_are_taken_as_they_are(project, monkeypatch):
    _, fetched = project
    monkeypatch.setattr(published, "CACHE", models.CACHE)
    monkeypatch.setattr(published, "fetch", models.fetch)
    assert published.ensure() == {"c/c.gguf": models.CACHE / "published" / "c" / "c.gguf"}
    assert fetched == [models.CACHE / "published" / "c" / "c.gguf"]
    (listed,) = published.listed()
    assert listed["memory"] == 7
    assert listed["files"] == [{"file": "c.gguf", "bytes": 7, "sha256": sha256(SOURCE)}]
