"""tl.files: sources, parts, checks, space, and several at once; against a server of its own."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.files.serving import Server, running

import tallow as tl
from tallow.core import context
from tallow.core.drivers import run_sync
from tallow.errors import ChecksumError, FetchError, OptionError
from tallow.files import File, Local, Npm, desktop, fetch, fetch_async, fetching, set_mirror
from tallow.files.fetching import fetching_all
from tallow_build.paths import ROOT

CONTENT = bytes(range(256)) * 4000
SUM = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("TALLOW_MIRROR", raising=False)
    with running() as served:
        served.files["/a.bin"] = CONTENT
        yield served


def file(server: Server, folder: Path, *paths: str, checksum: str = SUM) -> File:
    sources = tuple(server.address + path for path in paths or ("/a.bin",))
    return File("a.bin", sources, folder, checksum)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_once(server: Server, tmp_path: Path) -> None:
    wanted = file(server, tmp_path / "new" / "folder")
    seen: list[tuple[int, int | None]] = []
    found = fetch(wanted, lambda done, total: seen.append((done, total)))
    assert found.path == tmp_path / "new" / "folder" / "a.bin"
    assert found.read() == fetch(wanted).read() == CONTENT
    assert server.asked == [("/a.bin", None)]
    assert names(wanted.place) == ["a.bin"]
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert seen == sorted(seen)


def test_the_async_form(server: Server, tmp_path: Path, run_async: Callable[..., Any]) -> None:
    found = run_async(fetch_async(file(server, tmp_path)))
    assert found.path.read_bytes() == CONTENT


def test_a_file_is_fetched_again_where_a_server_answers(server: Server, tmp_path: Path) -> None:
    wanted = File("a.bin", (server.address + "/a.bin",), tmp_path)
    assert run_sync(fetching(wanted, again=True)).read() == CONTENT
    server.files["/a.bin"] = b"newer"
    assert fetch(wanted).read() == CONTENT
    assert run_sync(fetching(wanted, again=True)).read() == b"newer"
    server.files.clear()
    assert run_sync(fetching(wanted, again=True)).read() == b"newer"


def test_several_files_have_one_progress(server: Server, tmp_path: Path) -> None:
    server.files["/b.bin"] = b"b" * 10
    sizes = {"a.bin": len(CONTENT), "b.bin": 10}
    seen: list[tuple[int, int | None, str]] = []

    def arrive(into: str, known: bool) -> dict[str, bytes]:
        seen.clear()
        files = {
            name: File(
                name,
                (f"{server.address}/{name}",),
                tmp_path / into,
                size=size if known else None,
            )
            for name, size in sizes.items()
        }
        found = run_sync(fetching_all(files, lambda *report: seen.append(report)))
        return {name: each.read() for name, each in found.items()}

    assert arrive("one", known=True) == {"a.bin": CONTENT, "b.bin": b"b" * 10}
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    whole = len(CONTENT) + 10
    assert [seen[-1]] == [(whole, whole, "b.bin")]
    arrive("two", known=False)
    assert [seen[-1]] == [(whole, None, "b.bin")]
    arrive("two", known=False)
    assert not seen  # all are kept


def test_a_cut_connection_goes_on(server: Server, tmp_path: Path) -> None:
    server.cut = [300_000, 200_000]
    assert fetch(file(server, tmp_path)).read() == CONTENT
    assert [wanted for _, wanted in server.asked] == [None, "bytes=300000-", "bytes=500000-"]


def test_a_later_run_goes_on(server: Server, tmp_path: Path) -> None:
    server.cut = [300_000, 0]
    with pytest.raises(FetchError, match=r"cut at 300,000 of 1,024,000 bytes"):
        fetch(file(server, tmp_path))
    assert names(tmp_path) == [".a.bin.part"]
    server.asked.clear()
    assert fetch(file(server, tmp_path)).read() == CONTENT
    assert server.asked == [("/a.bin", "bytes=300000-")]
    assert names(tmp_path) == ["a.bin"]


def test_a_fetch_that_is_stopped_goes_on_later(server: Server, tmp_path: Path) -> None:
    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(file(server, tmp_path), stop)
    kept = (tmp_path / ".a.bin.part").stat().st_size
    assert 0 < kept < len(CONTENT)
    assert fetch(file(server, tmp_path)).read() == CONTENT
    assert server.asked[-1] == ("/a.bin", f"bytes={kept}-")
    assert names(tmp_path) == ["a.bin"]


def test_without_a_checksum_a_later_run_begins_anew(server: Server, tmp_path: Path) -> None:
    server.cut = [300_000, 0]
    wanted = file(server, tmp_path, checksum="")
    with pytest.raises(FetchError, match="cut"):
        fetch(wanted)
    server.asked.clear()
    assert fetch(wanted).read() == CONTENT
    assert server.asked == [("/a.bin", None)]


def test_a_server_that_ignores_ranges_begins_anew(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.cut = [300_000]
    assert fetch(file(server, tmp_path)).read() == CONTENT
    assert server.asked[1] == ("/a.bin", "bytes=300000-")


def test_a_server_that_always_cuts_is_given_up(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.cut = [300_000] * 10
    with pytest.raises(FetchError, match="cut"):
        fetch(file(server, tmp_path))
    assert len(server.cut) == 8, "two tries that come equally far"


@pytest.mark.parametrize("left", [b"x" * 1000, b"x" * len(CONTENT)])
def test_a_part_of_another_file_is_forgotten(server: Server, tmp_path: Path, left: bytes) -> None:
    (tmp_path / ".a.bin.part").write_bytes(left)
    assert fetch(file(server, tmp_path)).read() == CONTENT
    assert names(tmp_path) == ["a.bin"]


def test_a_wrong_checksum_says_which_and_nothing_is_kept(server: Server, tmp_path: Path) -> None:
    server.files["/a.bin"] = b"another"
    with pytest.raises(ChecksumError) as caught:
        fetch(file(server, tmp_path))
    said = str(caught.value)
    assert "a.bin from http" in said
    assert SUM.removeprefix("sha256:") in said
    assert hashlib.sha256(b"another").hexdigest() in said
    assert names(tmp_path) == []


def test_the_second_source_is_asked_when_the_first_fails(server: Server, tmp_path: Path) -> None:
    server.files["/bad.bin"] = b"bad"
    wanted = file(server, tmp_path, "/missing.bin", "/bad.bin", "/a.bin")
    assert fetch(wanted).read() == CONTENT
    assert [path for path, _ in server.asked] == ["/missing.bin", "/bad.bin", "/a.bin"]


def test_all_sources_that_fail_are_named(server: Server, tmp_path: Path) -> None:
    wanted = file(server, tmp_path, "/one", "/two")
    with pytest.raises(FetchError, match=r"(?s)/one: .*404.*/two: .*404.*TALLOW_MIRROR"):
        fetch(wanted)
    with pytest.raises(OSError, match="no answer"):
        fetch(File("x", ("http://127.0.0.1:9/x",), tmp_path))
    with pytest.raises(FetchError, match="it has no source"):
        fetch(File("x", (), tmp_path))


def test_what_is_packed_is_unpacked(server: Server, tmp_path: Path) -> None:
    server.files["/a.bin.gz"] = gzip.compress(CONTENT)
    server.files["/twice/a.bin.gz"] = CONTENT  # as a browser gets it that has unpacked it
    assert fetch(file(server, tmp_path, "/a.bin.gz")).read() == CONTENT
    assert names(tmp_path) == ["a.bin"]
    assert fetch(file(server, tmp_path / "b", "/twice/a.bin.gz")).read() == CONTENT


def test_a_packed_part_is_not_continued_by_a_plain_source(server: Server, tmp_path: Path) -> None:
    server.files["/a.bin.gz"] = gzip.compress(CONTENT)
    server.cut = [1000, 0]
    assert fetch(file(server, tmp_path, "/a.bin.gz", "/a.bin")).read() == CONTENT
    assert server.asked[-1] == ("/a.bin", None)


def test_a_damaged_packed_file(server: Server, tmp_path: Path) -> None:
    server.files["/a.bin.gz"] = gzip.compress(CONTENT)[:1000]
    with pytest.raises(FetchError, match="cannot be unpacked"):
        fetch(file(server, tmp_path, "/a.bin.gz"))
    assert names(tmp_path) == []


def test_no_space_is_said_before_and_the_bytes_are_given(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop, "free_space", lambda folder: 1000)
    begun: list[int] = []
    with pytest.warns(UserWarning, match=r"not kept.* needs 1,024,000 bytes, and 1,000 are free"):
        found = fetch(file(server, tmp_path), lambda done, total: begun.append(done))
    assert found.path is None
    assert found.read() == CONTENT
    assert names(tmp_path) == []


def test_space_that_runs_out_on_the_way(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = desktop.FolderPart.write

    def full(part: desktop.FolderPart, chunk: bytes) -> None:
        if part.size > 500_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(part, chunk)

    monkeypatch.setattr(desktop.FolderPart, "write", full)
    with pytest.warns(UserWarning, match="the space has run out"):
        found = fetch(file(server, tmp_path))
    assert (found.path, found.read()) == (None, CONTENT)
    assert len(server.asked) == 1
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="not kept"):
        found = fetch(file(server, tmp_path / "file"))
    assert (found.path, found.read()) == (None, CONTENT)


def test_two_processes_do_not_disturb_each_other(server: Server, tmp_path: Path) -> None:
    code = (
        "import sys; from tallow.files import File, fetch\n"
        f"print(len(fetch(File('a.bin', ({server.address + '/a.bin'!r},), "
        f"{str(tmp_path)!r}, {SUM!r})).read()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "py")}
    command = [sys.executable, "-c", code]
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [each.communicate()[0] for each in started] == [f"{len(CONTENT)}\n"] * 3
    assert names(tmp_path) == ["a.bin"]


def test_the_part_of_another_one_is_left_alone(server: Server, tmp_path: Path) -> None:
    other = desktop.FolderPart(tmp_path, "a.bin", resumes=True)
    other.write(b"begun")
    assert fetch(file(server, tmp_path)).read() == CONTENT
    assert server.asked == [("/a.bin", None)]
    other.close()
    assert (tmp_path / ".a.bin.part").read_bytes() == b"begun"
    assert names(tmp_path) == [".a.bin.part", "a.bin"]


def test_a_mirror_is_asked_first(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://example.org/some/a.bin?version=1"
    server.files["/mirror/example.org/some/a.bin"] = CONTENT
    mirrored = tmp_path / "mirror" / "example.org" / "some" / "a.bin"
    mirrored.parent.mkdir(parents=True)
    mirrored.write_bytes(CONTENT)
    set_mirror(f"{server.address}/mirror/")
    try:
        assert fetch(File("a.bin", (address,), tmp_path / "1", SUM)).read() == CONTENT
        set_mirror(tmp_path / "mirror")
        assert fetch(File("a.bin", (address,), tmp_path / "2", SUM)).read() == CONTENT
    finally:
        set_mirror(None)
    monkeypatch.setenv("TALLOW_MIRROR", str(tmp_path / "mirror"))
    assert fetch(File("a.bin", (address,), tmp_path / "3", SUM)).read() == CONTENT
    assert len(server.asked) == 1


def test_sources_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "here.gz"
    packed.write_bytes(gzip.compress(CONTENT))
    sources = (Local(str(tmp_path / "absent")), Local(str(packed)))
    assert fetch(File("a.bin", sources, tmp_path / "x", SUM)).read() == CONTENT
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match=r"npm pack a@1: npm is not installed"):
        fetch(File("b.bin", (Npm("a@1", "b.bin"),), tmp_path))


def test_where_files_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TALLOW_HOME", str(tmp_path))
    assert File("a", ()).place == tl.files.home() == tmp_path
    monkeypatch.delenv("TALLOW_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert tl.files.home() == tmp_path / "tallow"


def test_files_that_cannot_be() -> None:
    with pytest.raises(OptionError, match="must begin with sha256: or md5:"):
        File("a", (), checksum="abc")
    with pytest.raises(OptionError, match="no name of a file"):
        File("../a", ())


def test_hub_fetches_weights(server: Server, tmp_path: Path) -> None:
    with context.pytorch.override(True):  # its habits stay within
        import tallow.torch as torch

    path = tmp_path / "made.pt"
    torch.save({"w": torch.ones(2)}, path)
    digits = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    server.files[f"/net-{digits}.pt"] = server.files["/net-00000000.pt"] = path.read_bytes()
    for _ in range(2):
        found = torch.hub.load_state_dict_from_url(
            f"{server.address}/net-{digits}.pt", str(tmp_path / "hub"), check_hash=True
        )
        assert found["w"].tolist() == [1.0, 1.0]
    assert len(server.asked) == 1
    with pytest.raises(ChecksumError, match="00000000"):
        torch.hub.load_state_dict_from_url(
            f"{server.address}/net-00000000.pt", str(tmp_path / "hub"), check_hash=True
        )
    torch.hub.download_url_to_file(f"{server.address}/net-{digits}.pt", str(tmp_path / "x.pt"))
    assert torch.load(tmp_path / "x.pt")["w"].shape == (2,)
