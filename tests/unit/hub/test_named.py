"""Models by their names, from a server that behaves like the hub: redirects, ETags, ranges, a
connection that breaks."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.unit.hub import tiny

import tallow as tl
from tallow.core.drivers import run_sync
from tallow.errors import FetchError, FormatError, OptionError
from tallow.files import File
from tallow.files.fetching import fetching_all
from tallow.hub import named
from tallow.hub.listed import listing
from tallow_build.paths import ROOT

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def sibling(path: str, content: bytes) -> dict[str, Any]:
    """What the hub says of a file. It stores large ones apart, and knows their sha256."""
    found: dict[str, Any] = {"rfilename": path, "size": len(content)}
    if path.endswith((".safetensors", ".gguf", ".bin")):
        digits = hashlib.sha256(content).hexdigest()
        found["lfs"] = {"sha256": digits, "size": len(content), "pointerSize": 130}
    return found


class Hub:
    """Repositories by name, each with files; what was asked; the names of files whose first answer
    breaks off."""

    def __init__(self, repositories: dict[str, dict[str, bytes]]) -> None:
        self.repositories, self.asked = repositories, list[str]()
        self.breaking: set[str] = set()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def _answer(self, with_body: bool) -> None:
                hub.asked.append(f"{self.command} {self.path} {self.headers.get('Range', '')}")
                parts = self.path.partition("?")[0].strip("/").split("/")
                if parts[:2] == ["api", "models"]:
                    files = hub.repositories.get("/".join(parts[2:4]))
                    return self._json(files)
                if parts[0] == "cdn":
                    return self._file("/".join(parts[1:3]), "/".join(parts[3:]), with_body)
                name, path = "/".join(parts[:2]), "/".join(parts[4:])
                if path not in hub.repositories.get(name, {}):
                    return self._end(404, {"X-Error-Code": "EntryNotFound"})
                content = hub.repositories[name][path]
                headers = {"Location": f"/cdn/{name}/{path}", "X-Repo-Commit": COMMIT}
                headers["ETag"] = f'"{hashlib.sha256(content).hexdigest()}"'
                return self._end(302, headers)

            def _json(self, files: dict[str, bytes] | None) -> None:
                siblings = [sibling(path, content) for path, content in (files or {}).items()]
                found: Any = {"id": "tiny/model", "sha": COMMIT, "siblings": siblings}
                if "/tree/" in self.path:
                    found = [
                        {"type": "file", "path": path, "size": len(content), "oid": COMMIT}
                        for path, content in (files or {}).items()
                    ]
                content = json.dumps(found)
                if files is None:
                    self._end(404, {"X-Error-Code": "RepoNotFound"})
                else:
                    self._end(200, {"Content-Type": "application/json"}, content.encode())

            def _file(self, name: str, path: str, with_body: bool) -> None:
                content = hub.repositories[name][path]
                headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
                headers |= {"X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
                start = int((self.headers.get("Range") or "bytes=0-")[6:].split("-")[0])
                if start:
                    headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
                rest = content[start:]
                headers["Content-Length"] = str(len(rest))
                if with_body and path in hub.breaking:
                    hub.breaking.discard(path)
                    rest = rest[: len(rest) // 2]
                self._end(206 if start else 200, headers, rest if with_body else b"")

            def _end(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
                self.send_response(status)
                headers.setdefault("Content-Length", str(len(body)))
                for key, value in headers.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    folder = {file.name: file.read_bytes() for file in tiny.folder(tmp_path / "a").iterdir()}
    blocks = tiny.gguf_file()
    made = Hub(
        {
            "tiny/model": folder | {"README.md": b"about", "pytorch_model.bin": b"not this one"},
            "tiny/blocks": {"tiny.gguf": blocks, "README.md": b"about"},
            "tiny/several": {"a.gguf": blocks, "b.gguf": blocks},
            "tiny/nothing": {"README.md": b"about"},
            "tiny/split": tiny.gguf_parts(),
        }
    )
    yield made
    made.close()


PROGRAM = """
import sys
import tallow as tl
tl.set_default_device("numpy")
name, _, file = sys.argv[1].partition(":")
options = {"file": file} if file else {}
try:
    print(tl.zoo.load(name, **options).generate("abc", max_tokens=8).encode())
except tl.TallowError as error:
    print(type(error).__name__, error)
"""


def ran(hub: Hub, home: Path, name: str, **environment: str) -> str:
    """What a program says that loads a model by its name."""
    given = {"HF_ENDPOINT": hub.address, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    given |= {
        "PYTHONPATH": str(ROOT / "py"),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        env=os.environ | given | environment,
        capture_output=True,
        text=True,
        timeout=380,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_model_is_fetched_once_with_the_files_that_are_read(hub: Hub, tmp_path: Path) -> None:
    hub.breaking.add("model.safetensors")
    home = tmp_path / "home"
    text = ran(hub, home, "tiny/model")
    assert text == str(tl.zoo.load(tmp_path / "a").generate("abc", max_tokens=8).encode())
    sent = [line for line in hub.asked if line.startswith("GET /cdn")]
    assert not [line for line in sent if "README" in line or ".bin" in line]
    assert sum("model.safetensors" in line for line in sent) == 2  # once more after the break
    assert (home / "hub" / "models--tiny--model" / "snapshots" / COMMIT / "config.json").is_file()

    hub.asked.clear()
    assert ran(hub, home, "tiny/model") == text
    assert not [line for line in hub.asked if line.startswith("GET /cdn")]
    assert ran(hub, home, "tiny/model", HF_HUB_OFFLINE="1") == text


def test_a_gguf_file_by_name(hub: Hub, tmp_path: Path) -> None:
    text = ran(hub, tmp_path / "home", "tiny/blocks")
    assert text.startswith("b'")
    assert ran(hub, tmp_path / "home", "tiny/several:b.gguf") == text
    for name in ("tiny/split", "tiny/split:tiny-00002-of-00003.gguf"):
        assert ran(hub, tmp_path / "home", name) == text
    said = ran(hub, tmp_path / "home", "tiny/several")
    assert said.endswith("has several GGUF files; choose by file=: a.gguf, b.gguf")
    assert said.startswith("FormatError")


def test_what_the_hub_does_not_have_is_one_line(hub: Hub, tmp_path: Path) -> None:
    for name in ("tiny/unknown", "tiny/blocks:none.gguf"):
        said = ran(hub, tmp_path / "home", name)
        assert said.startswith("FetchError") and len(said.splitlines()) == 1
    assert ran(hub, tmp_path / "home", "tiny/nothing").startswith(
        "FormatError tiny/nothing has neither"
    )


def test_names_are_checked_before_anything_is_asked() -> None:
    for wrong in ("", "alone", "a/b/c", "../x"):
        with pytest.raises(OptionError, match="no name of a model"):
            tl.hub.download(wrong)


def test_of_many_files_those_that_are_read() -> None:
    texts = ["config.json", "tokenizer.json"]
    both = [*texts, "model.safetensors", "onnx/model.onnx", "a.gguf", "README.md"]
    assert named._wanted(both, "it") == [*texts, "model.safetensors"]
    assert named._wanted([*texts, "onnx/model.onnx"], "it") == [*texts, "onnx/model.onnx"]
    parts = [f"a-{part:05}-of-00002.gguf" for part in (1, 2)]
    assert named._wanted([*reversed(parts), "README.md"], "it") == parts
    with pytest.raises(FormatError, match="several GGUF files"):
        named._wanted([*parts, "b.gguf"], "it")
    with pytest.raises(FormatError, match="neither"):
        named._wanted(["README.md"], "it")
    assert issubclass(FetchError, tl.TallowError)


def listed(name: str, *files: str, revision: str | None = None) -> dict[str, File]:
    return run_sync(listing(name, lambda names: list(files or names), revision, blocks=True))


@pytest.fixture
def browsing(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The hub as a page asks it, which has no package for it."""
    monkeypatch.setenv("HF_ENDPOINT", hub.address + "/")
    monkeypatch.setenv("TALLOW_HOME", str(tmp_path / "kept"))
    return hub


def test_the_list_of_a_model_gives_files_to_fetch(browsing: Hub, tmp_path: Path) -> None:
    files = listed("tiny/model")
    weights, config = files["model.safetensors"], files["config.json"]
    content = browsing.repositories["tiny/model"]["model.safetensors"]
    assert weights.checksum == "sha256:" + hashlib.sha256(content).hexdigest()
    assert (weights.size, config.checksum) == (len(content), "")
    assert weights.place == tmp_path / "kept" / "hub" / "tiny" / "model" / COMMIT
    browsing.breaking.add("model.safetensors")
    found = run_sync(fetching_all(files, None, True))
    assert found["model.safetensors"].read() == content
    asked = [line for line in browsing.asked if "/cdn/tiny/model/model.safetensors" in line]
    assert [line.rpartition(" ")[2] for line in asked] == ["", f"bytes={len(content) // 2}-"]


def test_what_was_listed_once_holds_where_the_hub_is_silent(browsing: Hub) -> None:
    files = listed("tiny/blocks")
    by_commit = listed("tiny/blocks", revision=COMMIT)
    assert by_commit == files
    browsing.repositories["tiny/blocks"]["new.gguf"] = b"new"
    assert "new.gguf" in listed("tiny/blocks")
    browsing.asked.clear()
    assert listed("tiny/blocks", revision=COMMIT) == files  # a commit does not change
    assert not browsing.asked
    del browsing.repositories["tiny/blocks"]
    assert "new.gguf" in listed("tiny/blocks")


def test_what_the_list_does_not_have(browsing: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FetchError, match=r"tiny/unknown could not be fetched from the hub: .*404"):
        listed("tiny/unknown")
    with pytest.raises(FetchError, match=r"it has no 'none\.gguf'"):
        listed("tiny/blocks", "none.gguf")
    monkeypatch.setenv("HF_ENDPOINT", browsing.address + "/tiny/model/resolve/main/README.md?")
    with pytest.raises(FetchError, match="it answers something else"):
        listed("tiny/other")
