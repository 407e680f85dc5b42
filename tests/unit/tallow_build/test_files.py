"""Files and folders are complete or absent; stamps notice every change; one set-up at a time."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallow_build.errors import BuildError, explained
from tallow_build.files import file_sha256, only_one, publish, replace_folder, scratch
from tallow_build.paths import ROOT
from tallow_build.stamps import Stamp, digest

OTHER = "0" * 64


def test_publish_moves_a_file_with_the_right_content(tmp_path):
    made, target = tmp_path / "made", tmp_path / "folder" / "target"
    made.write_bytes(b"abc")
    publish(made, target, file_sha256(made), "Fetching")
    assert target.read_bytes() == b"abc"
    assert not made.exists()


def test_publish_removes_a_wrong_file_and_keeps_what_was_there(tmp_path):
    made, target = tmp_path / "made", tmp_path / "target"
    made.write_bytes(b"cut of")
    target.write_bytes(b"as before")
    with pytest.raises(BuildError) as caught:
        publish(made, target, OTHER, "Fetching it")
    assert str(caught.value).startswith("Fetching it failed: target (6 bytes) has sha256 ")
    assert OTHER in caught.value.why
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
    assert target.read_bytes() == b"as before"


def test_scratch_is_empty_at_first_and_gone_after_an_interruption(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "left by a killed process").touch()
    with pytest.raises(KeyboardInterrupt), scratch("job", tmp_path) as folder:
        assert list(folder.iterdir()) == []
        (folder / "half").write_bytes(b"...")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_replace_folder_swaps_and_leaves_nothing_else(tmp_path):
    old, new = tmp_path / "dist", tmp_path / "tmp" / "dist"
    old.mkdir()
    (old / "old").touch()
    new.mkdir(parents=True)
    (new / "new").touch()
    replace_folder(new, old)
    assert [path.name for path in old.iterdir()] == ["new"]
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("error", [PermissionError(13, "held open"), KeyboardInterrupt()])
@pytest.mark.parametrize("there", [True, False])
def test_replace_folder_keeps_the_old_one_where_the_new_one_cannot_come(
    tmp_path, monkeypatch, error, there
):
    old, new = tmp_path / "dist", tmp_path / "tmp" / "dist"
    if there:
        old.mkdir()
        (old / "old").touch()
    new.mkdir(parents=True)
    rename = Path.rename

    def refuse(path, target):
        if path == new:
            raise error
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(type(error)):
        replace_folder(new, old)
    assert [path.name for path in tmp_path.glob("dist/*")] == (["old"] if there else [])
    assert old.exists() == there
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["dist"]


def test_digest_tells_content_names_and_presence(tmp_path):
    folder = tmp_path / "in"
    absent = digest(folder)
    folder.mkdir()
    (folder / "a").write_text("1")
    first = digest(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").touch()
    assert digest(folder) == first != absent
    (folder / "a").write_text("2")
    second = digest(folder)
    (folder / "a").rename(folder / "b")
    assert len({first, second, digest(folder), digest(folder, "text")}) == 4


@pytest.fixture
def finished(tmp_path):
    """The stamp of a step that made out/file from the input "in"."""
    output = tmp_path / "out"
    output.mkdir()
    (output / "file").write_text("made")
    stamp = Stamp("step", tmp_path / "stamps")
    stamp.write("in", [output])
    return stamp, output / "file"


def test_a_stamp_is_fresh_for_its_inputs_only(finished):
    stamp, _ = finished
    assert stamp.fresh("in")
    assert stamp.fresh("other", "in")
    assert not stamp.fresh("other")
    stamp.clear()
    assert not stamp.fresh("in")


@pytest.mark.parametrize("harm", ["removed", "changed", "note damaged"])
def test_a_stamp_is_not_fresh_after_harm(finished, harm):
    stamp, made = finished
    if harm == "removed":
        made.unlink()
    elif harm == "changed":
        made.write_text("made by hand")
    else:
        stamp.path.write_text(stamp.path.read_text()[:20])
    assert not stamp.fresh("in")


def test_the_lock_makes_a_second_process_wait(tmp_path):
    lock = tmp_path / "lock"
    script = (
        "import sys; from pathlib import Path; from tallow_build.files import only_one\n"
        f"with only_one(Path({str(lock)!r})): print('in', flush=True)"
    )
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT / 'py')!r})\n{script}",
    ]
    with only_one(lock):
        other = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert other.stderr is not None
        assert "waiting for it" in other.stderr.readline()
        time.sleep(0.3)
        assert other.poll() is None
    assert other.communicate(timeout=20)[0] == "in\n"


def test_an_error_of_the_system_is_explained():
    with pytest.raises(BuildError) as caught, explained("Writing it", "make room"):
        raise OSError(28, "No space left on device", "dist")
    assert str(caught.value) == (
        "Writing it failed: [Errno 28] No space left on device: 'dist'\nWhat to do: make room"
    )
