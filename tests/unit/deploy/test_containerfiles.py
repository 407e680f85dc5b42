"""The Containerfiles: hadolint, what it can't know, the names of images, the pinned packages."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.unit.deploy.manifests import (
    COMPOSE,
    CONTAINERFILES,
    DEPLOY,
    KUBERNETES,
    PORTS,
    instructions,
    options,
    parsed,
    pods,
    read,
    served,
)
from yamllint import linter
from yamllint.config import YamlLintConfig

from tallow_build.page.wheels import version
from tallow_build.paths import REQUIREMENTS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = ("serve", "webgpu", "wasm", "onnx", "telemetry")
"""Of the wheel, those that the image has the packages of."""

YAML = """
extends: default
rules:
  document-start: disable
  line-length: {max: 120}
"""


@pytest.fixture(params=CONTAINERFILES)
def name(request):
    return request.param


def lint(path):
    program = Path(sys.executable).with_name("hadolint")
    found = shutil.which(program) or pytest.skip("hadolint has no program for this system")
    return subprocess.run([found, "-f", "json", path], capture_output=True, text=True, timeout=60)


def test_hadolint(name, tmp_path):
    done = lint(CONTAINERFILES[name])
    assert json.loads(done.stdout) == []
    wrong = tmp_path / "Containerfile"
    text = CONTAINERFILES[name].read_text("utf-8")
    wrong.write_text(re.sub(r"^ENTRYPOINT .*", "ENTRYPOINT sh", text, flags=re.M), "utf-8")
    assert [each["code"] for each in json.loads(lint(wrong).stdout)] == ["DL3025"]


def test_yamllint():
    config = YamlLintConfig(YAML)
    files = sorted(DEPLOY.rglob("*.yaml"))
    assert len(files) > 10
    for path in files:
        assert list(linter.run(path.read_text("utf-8"), config)) == [], path


def test_bases_are_pinned(name):
    for image in parsed(name).parent_images:
        registry, _, tag = image.rpartition(":")
        if registry:
            assert registry.startswith("docker.io/")
            assert re.match(r"\d+\.\d|\d+-", tag), image  # a version, so not `latest`
        else:
            assert image == "scratch"


def test_the_last_stage(name):
    (user,) = instructions(name, "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)  # a number, so that runAsNonRoot can tell
    assert pods()[f"tallow-{name}"]["securityContext"]["runAsUser"] == int(user.split(":")[0])
    (entry,) = instructions(name, "ENTRYPOINT")
    assert json.loads(entry)[0] in ("python", "caddy")  # itself, and no shell, gets SIGTERM
    exposed = instructions(name, "EXPOSE")[0].split()
    assert exposed == [str(PORTS[each]) for each in ("http", "grpc")[: len(exposed)]]
    for run in instructions(name, "RUN"):
        assert not re.search(r"\b(gcc|g\+\+|make|build-essential|git|nodejs|pip|curl)\b", run)


def test_the_service_starts_python():
    assert json.loads(instructions("serve", "ENTRYPOINT")[0]) == ["python", "-m", "tallow", "serve"]


def test_images_have_the_project_s_version():
    """One name each, everywhere, and the wheel's version."""
    labels = {
        name: dict(re.findall(r"image\.(\w+)=\"(.*?)\"", instructions(name, "LABEL")[0]))
        for name in CONTAINERFILES
    }
    images = {name: f"{label['title']}:{label['version']}" for name, label in labels.items()}
    assert images == {name: f"tallow-{name}:{version()}" for name in CONTAINERFILES}
    services = read(COMPOSE)["services"]
    transformed = {
        each["name"]: f"{each['newName']}:{each['newTag']}"
        for each in read(KUBERNETES / "kustomization.yaml")["images"]
    }
    for name, image in images.items():
        assert services[name]["image"] == image
        assert pods()[f"tallow-{name}"]["containers"][0]["image"] == image
        assert transformed[f"tallow-{name}"].endswith(f"/{image}")
        assert f"-t {image} ." in CONTAINERFILES[name].read_text("utf-8")
    assert pods()["kserve"]["containers"][0]["image"] == transformed["tallow-serve"]


@pytest.mark.parametrize("who", served())
def test_the_ports_that_the_service_is_told(who):
    given = options(served()[who])
    assert (given["host"], given["port"], given["grpc-port"]) == ("0.0.0.0", "8080", "8081")


@cache
def helped():
    """What `python -m tallow serve --help` prints."""
    run = [sys.executable, "-m", "tallow", "serve", "--help"]
    return subprocess.run(run, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize("who", served())
def test_the_command_knows_its_arguments(who):
    for option, value in options(served()[who]).items():
        assert re.search(rf"--{option}\b", helped())
        choices = re.search(rf"--{option} {{(.*?)}}", helped())
        assert choices is None or value in choices[1].split(",")


def test_the_first_model_is_in_the_image():
    """What is served without a word of the user's."""
    copied = [each.split() for each in instructions("serve", "COPY") if "--from" not in each]
    files = {f"{to.rstrip('/')}/{Path(each).name}" for *several, to in copied for each in several}
    assert all((ROOT / each).is_file() for *several, _ in copied for each in several)
    for who in ("Containerfile", "compose", "kubernetes"):
        assert served()[who][0] in files


def test_where_the_image_writes_is_a_volume():
    variables = dict(re.findall(r"(\w+)=(\S+)", instructions("serve", "ENV")[0]))
    (volume,) = json.loads(instructions("serve", "VOLUME")[0])
    assert variables["HOME"] == variables["XDG_CACHE_HOME"] == volume
    mounted = {
        name: {each["mountPath"] for each in pods()[name]["containers"][0]["volumeMounts"]}
        for name in ("tallow-serve", "kserve")
    }
    assert all(places == {volume, "/tmp"} for places in mounted.values())
    assert f"cache:{volume}" in read(COMPOSE)["services"]["serve"]["volumes"]


def test_the_packages_are_those_of_the_wheel_s_extras():
    pins = dict(
        re.findall(r"^([\w.-]+)==([^\s;]+)", (REQUIREMENTS / "serve.txt").read_text("utf-8"), re.M)
    )
    extras = PROJECT["optional-dependencies"]
    asked = [Requirement(each) for extra in EXTRAS for each in extras.get(extra, ())]
    assert asked
    for each in asked:
        assert each.name in pins, f"{each}: make serve.txt anew, as requirements/README.md says"
        assert pins[each.name] in each.specifier, each


def test_what_no_image_needs_is_not_sent():
    ignored = set((ROOT / ".containerignore").read_text("utf-8").split("\n"))
    assert {".git", ".venv", "build", "dist", "node_modules"} <= ignored
    assert (ROOT / ".dockerignore").read_text("utf-8") == (ROOT / ".containerignore").read_text(
        "utf-8"
    )
