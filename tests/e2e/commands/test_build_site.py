"""dist/ is what the page expects; `build.py serve` starts fast, prints its address, and stops."""

import json
import re
import resource
import signal
import subprocess
import sys
import urllib.request
import zipfile

import pytest
from PIL import Image
from tests.e2e.runtime import known

from tallow_build.content.small import BOX
from tallow_build.environment import sources
from tallow_build.files import file_sha256, files_below
from tallow_build.page import budget, snapshot, wheels
from tallow_build.paths import ROOT


def test_the_worker_s_list_of_python_s_files_is_right(dist):
    runtime = dist / "runtime"
    listed = known(dist)
    assert listed["pyodide"]["version"] == "314.0.4"
    pyodide = listed["pyodide"]
    files = {f"{pyodide['folder']}/{name}": one for name, one in pyodide["files"].items()}
    numpy = listed["numpy"]
    for one in (listed["snapshot"], numpy["snapshot"], *numpy["libraries"]):
        files[one["file"]] = one
    own = {"tallow", "page", "numpy", "protobuf", "onnx", "templates"}
    assert set(listed["packages"]) == own
    packages = {one["file"]: one for one in listed["packages"].values()}
    for name, one in {**files, **packages}.items():
        path = runtime / name
        assert (path.stat().st_size, file_sha256(path)) == (one["bytes"], one["sha256"])


def test_the_wheel_of_tallow_has_nothing_of_the_page(dist):
    library, page = (
        zipfile.ZipFile(wheel).namelist() for wheel in (wheels.tallow(), wheels.page())
    )
    packages = {name.partition("/")[0] for name in library if ".dist-info/" not in name}
    assert packages == {"tallow"} and "tallow/devices/webgpu/browser.py" in library
    assert {name.partition("/")[0] for name in page if ".dist-info/" not in name} == {"tallow_page"}
    assert "tallow_page/app.py" in page
    assert not [name for name in (*library, *page) if name.endswith(".md")]


def test_the_snapshots_do_not_depend_on_where_they_are_made(dist, tmp_path, monkeypatch):
    changed = {"TZ": "Asia/Kathmandu", "LANG": "de_DE.UTF-8", "LC_ALL": "fr_FR.UTF-8", "USER": "x"}
    for name, value in {**changed, "HOME": str(tmp_path), "PYTHONHASHSEED": "7"}.items():
        monkeypatch.setenv(name, value)
    numpy, protobuf = sources.pyodide_numpy(), sources.pure_protobuf()
    imported = [wheels.tallow(), wheels.page(), protobuf[1], wheels.onnx_schema()]
    imported.append(wheels.templates())
    snapshot.make(tmp_path, imported, numpy[1])
    made = {path.name: file_sha256(path) for path in tmp_path.iterdir()}
    assert len(made) == 12
    assert made == {path.name: file_sha256(path) for path in snapshot.MADE.iterdir()}


def test_every_file_that_the_manifest_names_is_there(dist):
    manifest = json.loads((dist / "models" / "manifest.json").read_text())
    assert [model["name"] for model in manifest["models"]] == [
        *("mnist", "efficientnet_lite0", "squeezenet1_1")
    ]
    for entry in [*manifest["models"], *manifest["labels"]]:
        path = dist / "models" / entry["file"]
        assert (path.stat().st_size, file_sha256(path)) == (entry["bytes"], entry["sha256"])
    for model in manifest["models"]:
        card = json.loads((dist / "models" / model["card"]).read_text())
        assert card["sha256"] == model["sha256"]
        for labels in (card["labels"], *card.get("labels_in", {}).values()):
            assert (dist / "models" / labels).is_file()


def test_every_published_model_is_there_and_is_not_kept_offline(dist):
    listed = json.loads((dist / "models" / "published.json").read_text())
    assert {model["task"] for model in listed} == {"write", "find", "listen", "voice", "train"}
    for model in listed:
        for entry in model["files"]:
            path = dist / "models" / "published" / model["name"] / entry["file"]
            assert (path.stat().st_size, file_sha256(path)) == (entry["bytes"], entry["sha256"])
    service_worker = (dist / "service-worker.js").read_text()
    assert "models/published.json" in service_worker
    assert "models/published/" not in service_worker


def test_every_sample_is_there(dist):
    known = json.loads((ROOT / "samples" / "samples.json").read_text("utf-8"))["samples"]
    listed = json.loads((dist / "samples" / "samples.json").read_text("utf-8"))
    assert [sample["name"] for sample in listed] == [sample["name"] for sample in known]
    for sample, published in zip(known, listed, strict=True):
        path = dist / "samples" / published["file"]
        assert file_sha256(path) == sample["made_from"]["sha256"]
        with Image.open(path) as whole, Image.open(path.with_name(published["small"])) as small:
            width, height = small.size
            assert width * whole.height == pytest.approx(height * whole.width, rel=0.01)
        assert min(width - BOX[0], height - BOX[1]) == 0  # it fills the box exactly
        assert path.with_name(published["small"]).stat().st_size < 12_000


def test_everything_has_a_line_in_the_budget_and_keeps_to_it(dist):
    assert len(budget.check(dist)) > 20
    folder = known(dist)["pyodide"]["folder"]
    wasm = dist / "runtime" / folder / "pyodide.asm.wasm"
    assert budget.wire_bytes(wasm) < 0.35 * wasm.stat().st_size


def test_the_licences_are_there(dist):
    for name in ("LICENSE", "NOTICE"):
        assert (dist / name).read_text() == (ROOT / name).read_text()


def test_the_guide_has_nginx_give_the_types_that_we_give(dist, server):
    guide = (ROOT / "docs" / "guide.md").read_text("utf-8")
    (types,) = re.findall(r"types \{(.*?)\}", guide, re.S)
    rules = types.split(";")[:-1]
    listed = {f".{ending}": kind for kind, *endings in map(str.split, rules) for ending in endings}
    for suffix, path in {path.suffix: path for path in files_below(dist)}.items():
        if suffix in ("", ".py", ".zip", ".br", ".gz"):  # their type does not matter
            continue
        request = urllib.request.Request(server + path.relative_to(dist).as_posix(), method="HEAD")
        with urllib.request.urlopen(request) as response:
            kind = response.headers.get_content_type()
        assert listed.get(suffix, "application/octet-stream") == kind, path.name


def worked():
    """CPU seconds of all programs that have ended, without the time they waited, for a processor
    or for another build.py."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_serve_starts_with_three_seconds_of_work_and_stops_in_order(dist):
    command = [sys.executable, str(ROOT / "build.py"), "serve", "--port", "0"]
    before = worked()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            address = line.removeprefix("Tallow is at ").split()[0]
            with urllib.request.urlopen(f"{address}models/manifest.json") as answer:
                assert answer.read() == (dist / "models" / "manifest.json").read_bytes()
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=60) == 0
        finally:
            server.kill()
    assert worked() - before < 3
