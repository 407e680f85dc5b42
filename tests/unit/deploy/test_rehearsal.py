"""`build.py rehearse`, without a container: what it would build on, and what it would allow."""

from __future__ import annotations

import pytest
from tests.unit.deploy.manifests import COMPOSE, CONTAINERFILES, parsed, read

from tallow_build.environment import debian
from tallow_build.errors import BuildError
from tallow_build.rehearsal import __main__ as rehearsal
from tallow_build.rehearsal import bases, podman


@pytest.fixture
def built(monkeypatch):
    """What is built, in order: (image, arguments)."""
    made = []
    monkeypatch.setattr(bases, "ensure", lambda image: made.append((image, ())))
    monkeypatch.setattr(
        podman, "build", lambda file, image, context, *arguments: made.append((image, arguments))
    )
    return made


@pytest.mark.parametrize("name", CONTAINERFILES)
def test_each_image_has_a_stand_in_for_its_base(name, built):
    service = read(COMPOSE)["services"][name]
    rehearsal._build(name, service)
    (base, _), (image, _) = built
    assert base == parsed(name).parent_images[-1]
    assert base.rpartition(":")[0] in bases._STEPS
    assert image == service["image"]


def test_the_page_is_not_built_twice(built):
    rehearsal._build("page", read(COMPOSE)["services"]["page"])
    assert built[-1][1][0] == "--build-context"


@pytest.mark.parametrize("name", CONTAINERFILES)
def test_a_container_may_do_what_compose_lets_it(name):
    service = read(COMPOSE)["services"][name]
    given = rehearsal._confined(service)
    assert {"--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"} <= set(given)
    assert given[given.index("--memory") + 1] == service["mem_limit"]
    assert given[given.index("--network") + 1] == "none"
    assert not any("TALLOW_TOKEN" in each for each in given)  # the shell would have put it there


def test_elsewhere_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(debian, "available", lambda: False)
    with pytest.raises(BuildError, match=r"deploy/README\.md"):
        podman.ensure()


def test_what_is_missing_is_installed(monkeypatch):
    installed: list[str] = []
    monkeypatch.setattr(debian.shutil, "which", lambda name: None if name == "runc" else "/bin/x")
    monkeypatch.setattr(debian, "install", installed.append)
    debian.require("podman", "runc")
    assert installed == ["runc"]
