"""The static server: types, revalidation, ranges, paths outside of its folder."""

import http.client
from urllib.parse import urlsplit

import pytest

from tallow_build.headers import headers_for
from tallow_build.paths import ROOT
from tallow_build.server import running


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server of a small folder under /deep/er/, beside a secret that it must not give."""
    root = tmp_path_factory.mktemp("site")
    folder = root / "dist"
    (folder / "models").mkdir(parents=True)
    (root / "secret").write_text("secret")
    (folder / "index.html").write_text("<p>hello")
    (folder / "models" / "index.html").write_text("<p>models")
    for name in ("a.mjs", "a.js", "a.wasm", "a.json", "a.onnx", "a.whl", "a.css", "a.svg"):
        (folder / name).write_bytes(b"0123456789")
    (folder / "link").symlink_to(root / "secret")
    with running(folder, prefix="/deep/er") as address:
        assert urlsplit(address).path == "/deep/er/"
        yield address


def ask(site, path, headers=None, method="GET"):
    """Status, headers and body; the path is sent exactly as it is."""
    parts = urlsplit(site)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request(method, parts.path + path, headers=headers or {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.headers, body


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("", "text/html"),
        ("models/", "text/html"),
        ("a.mjs", "text/javascript"),
        ("a.js", "text/javascript"),
        ("a.wasm", "application/wasm"),
        ("a.json", "application/json"),
        ("a.onnx", "application/octet-stream"),
        ("a.whl", "application/octet-stream"),
        ("a.css", "text/css"),
        ("a.svg", "image/svg+xml"),
    ],
)
def test_types(site, name, kind):
    status, headers, _ = ask(site, name)
    assert (status, headers.get_content_type()) == (200, kind)
    assert headers["cache-control"] == "no-cache"
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]


def test_a_file_that_has_not_changed_is_not_sent_again(site):
    _, headers, _ = ask(site, "a.wasm")
    status, _, body = ask(site, "a.wasm", {"If-None-Match": headers["etag"]})
    assert (status, body) == (304, b"")


def test_a_range(site):
    status, headers, body = ask(site, "a.onnx", {"Range": "bytes=2-4"})
    assert (status, body, headers["content-range"]) == (206, b"234", "bytes 2-4/10")


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "models/../../secret",
        "link",
        "/etc/passwd",
        "no",
    ],
)
def test_nothing_outside_of_the_folder(site, path):
    status, _, body = ask(site, path)
    assert status == 404
    assert b"secret" not in body


def test_only_reading(site):
    assert ask(site, "a.json", method="PUT")[0] == 405


def test_the_guide_names_the_headers():
    guide = (ROOT / "docs" / "guide.md").read_text("utf-8")
    for name, value in headers_for("index.html").items():
        assert f"{name}: {value}" in guide
