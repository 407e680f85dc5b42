"""deploy/page/Caddyfile beside the project's own server: the same answers, header by header."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import pytest
from tests.unit.deploy import caddy
from tests.unit.deploy.manifests import DEPLOY

from tallow_build.serving.server import running

FILES = (
    "index.html",
    "python.html",
    "app.webmanifest",
    "icon.svg",
    "photo.webp",
    "style-0123456789.css",
    "service-worker.js",
    "models/manifest.json",
    "models/net-0123456789.onnx",
    "runtime/wheel-0123456789/tallow-1.0-py3-none-any.whl",
    "runtime/pyodide-0123456789/pyodide.mjs",
    "runtime/pyodide-0123456789/pyodide.asm.wasm",
    "runtime/snapshot-0123456789.bin",
    "worker/main-0123456789.js",
    "worker/script-0123456789.js",
    "worker/script.js",
    "worker/script-0123456789.py",
)
COMPARED = (
    "Accept-Ranges",
    "Cache-Control",
    "Content-Encoding",
    "Content-Length",
    "Content-Range",
    "Content-Security-Policy",
    "Cross-Origin-Embedder-Policy",
    "Cross-Origin-Opener-Policy",
    "Referrer-Policy",
    "X-Content-Type-Options",
)
EXECUTED = (".html", ".js", ".mjs", ".css", ".wasm", ".json", ".webmanifest", ".svg")
"""What browsers refuse under another type."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("dist")
    for name in FILES:
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"plain" * 10)
        path.with_name(path.name + ".br").write_bytes(b"brotli")
        path.with_name(path.name + ".gz").write_bytes(b"gzipped")
    return made


@pytest.fixture(scope="module")
def ours(folder):
    with running(folder) as address:
        yield urlsplit(address).netloc


@pytest.fixture(scope="module")
def theirs(folder, tmp_path_factory):
    """Caddy, told what the image tells it but for the folder and the port."""
    text = (DEPLOY / "page" / "Caddyfile").read_text("utf-8")
    assert ":8080 {" in text
    assert "root * /srv" in text
    place = tmp_path_factory.mktemp("caddy")
    port = caddy.free_port()
    told = place / "Caddyfile"
    told.write_text(text.replace(":8080", f"http://127.0.0.1:{port}").replace("/srv", str(folder)))
    with caddy.running(told, port, place):
        yield f"127.0.0.1:{port}"


def ask(server, path, headers):
    connection = http.client.HTTPConnection(server, timeout=10)
    connection.request("GET", f"/{path}", headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.headers, body


@pytest.mark.parametrize("asked", [{}, {"Accept-Encoding": "gzip, br"}, {"Accept-Encoding": "gzip"},
                                   {"Accept-Encoding": "br", "Range": "bytes=2-5"}],
                         ids=["plain", "brotli", "gzip", "range"])  # fmt: skip
@pytest.mark.parametrize("path", ["", *FILES])
def test_the_same_answer(ours, theirs, path, asked):
    status, headers, body = ask(ours, path, asked)
    other_status, other, other_body = ask(theirs, path, asked)
    assert (other_status, other_body) == (status, body)
    assert {name: other[name] for name in COMPARED} == {name: headers[name] for name in COMPARED}
    if not path or path.endswith(EXECUTED):
        assert kind(other) == kind(headers)
    if "Content-Encoding" in headers:
        assert "Accept-Encoding" in other["Vary"]
    if "Range" in asked:
        assert other["ETag"].startswith('"')  # strong, or no browser would go on


def kind(headers):
    return headers["Content-Type"].partition(";")[0]


def test_a_copy_that_is_current_is_not_sent_again(theirs):
    _, headers, _ = ask(theirs, "index.html", {})
    status, again, body = ask(theirs, "index.html", {"If-None-Match": headers["ETag"]})
    assert (status, body) == (304, b"")
    assert again["Cache-Control"] == "no-cache"


def test_nothing_else_is_there(theirs):
    assert ask(theirs, "nothing.js", {})[0] == 404
    assert ask(theirs, "../Caddyfile", {})[0] == 404
