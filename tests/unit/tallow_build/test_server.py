"""The static server: types, revalidation, ranges, paths outside its folder."""

import http.client
from urllib.parse import urlsplit

import pytest

from tallow_build.content import published
from tallow_build.errors import BuildError
from tallow_build.page.headers import headers_for
from tallow_build.paths import ROOT
from tallow_build.serving import server
from tallow_build.serving.server import running

PLAIN = b"let number = 1;"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Serves a small folder under /deep/er/; beside it is a secret that it must not serve."""
    root = tmp_path_factory.mktemp("site")
    folder = root / "dist"
    (folder / "models").mkdir(parents=True)
    (root / "secret").write_text("secret")
    (folder / "index.html").write_text("<p>hello")
    (folder / "models" / "index.html").write_text("<p>models")
    for name in ("a.mjs", "a.js", "a.wasm", "a.json", "a.onnx", "a.whl", "a.css", "a.svg"):
        (folder / name).write_bytes(b"0123456789")
    (folder / "link").symlink_to(root / "secret")
    (folder / "linked.js").write_bytes(PLAIN)
    (folder / "linked.js.br").symlink_to(root / "secret")
    for name in ("code-0123456789.js", "kept-0123456789/fixed.js", "packed.js"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(PLAIN)
    (folder / "packed.js.br").write_bytes(b"brotli")
    (folder / "packed.js.gz").write_bytes(b"gzipped")
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


def test_ranges_that_no_file_has(site):
    status, headers, _ = ask(site, "a.onnx", {"Range": "bytes=10-"})
    assert (status, headers["content-range"]) == (416, "bytes */10")
    status, headers, body = ask(site, "a.onnx", {"Range": "bytes=-3"})
    assert (status, body, headers["content-range"]) == (206, b"789", "bytes 7-9/10")


def test_a_range_of_what_has_changed_since_is_all_of_it(site):
    _, headers, _ = ask(site, "a.onnx")
    asked = {"Range": "bytes=2-4", "If-Range": headers["etag"]}
    assert ask(site, "a.onnx", asked)[::2] == (206, b"234")
    assert ask(site, "a.onnx", {**asked, "If-Range": '"another"'})[::2] == (200, b"0123456789")


@pytest.mark.parametrize(
    ("asked", "coding", "body"),
    [
        ("gzip, deflate, br, zstd", "br", b"brotli"),
        ("GZIP", "gzip", b"gzipped"),
        ("br;q=0, gzip; q=0.5", "gzip", b"gzipped"),
        ("br;q=none, *", "gzip", b"gzipped"),
        ("*", "br", b"brotli"),
        ("*;q=0", None, PLAIN),
        ("deflate", None, PLAIN),
        ("", None, PLAIN),
        (None, None, PLAIN),
    ],
)
def test_the_smallest_form_that_the_browser_takes(site, asked, coding, body):
    wished = {} if asked is None else {"Accept-Encoding": asked}
    status, headers, got = ask(site, "packed.js", wished)
    assert (status, headers["content-encoding"], got) == (200, coding, body)
    assert headers["content-length"] == str(len(body))
    assert headers.get_content_type() == "text/javascript"
    assert headers["vary"] == "Accept-Encoding"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert ask(site, "packed.js", wished, "HEAD")[0::2] == (200, b"")


def test_each_form_has_an_etag_of_its_own(site):
    tags = set()
    for coding in ("br", "gzip", "identity"):
        wished = {"Accept-Encoding": coding}
        tag = ask(site, "packed.js", wished)[1]["etag"]
        tags.add(tag)
        status, headers, body = ask(site, "packed.js", {**wished, "If-None-Match": tag})
        assert (status, headers["vary"], body) == (304, "Accept-Encoding", b"")
        assert headers["content-encoding"] is None
    assert len(tags) == 3


def test_ranges_are_of_the_plain_file(site):
    wished = {"Accept-Encoding": "br", "Range": "bytes=4-9"}
    status, headers, body = ask(site, "packed.js", wished)
    assert (status, body, headers["vary"]) == (206, b"number", "Accept-Encoding")
    assert headers["content-encoding"] is None
    brotli = ask(site, "packed.js", {"Accept-Encoding": "br"})[1]["etag"]
    assert ask(site, "packed.js", {**wished, "If-Range": brotli})[::2] == (200, PLAIN)


def test_a_form_that_lies_elsewhere_is_not_given(site):
    assert ask(site, "linked.js", {"Accept-Encoding": "br"})[::2] == (200, PLAIN)


@pytest.mark.parametrize("name", ["code-0123456789.js", "kept-0123456789/fixed.js"])
def test_what_has_a_hash_in_its_name_is_kept_for_good(site, name):
    _, headers, _ = ask(site, name)
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["x-content-type-options"] == "nosniff"


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


def test_a_published_model_is_fetched_when_it_is_first_asked_for(tmp_path, monkeypatch):
    site = tmp_path / "dist"
    site.mkdir()
    kept = tmp_path / "kept"
    kept.write_bytes(b"weights")
    asked = []

    def ensure_one(name):
        asked.append(name)
        if name == "broken":
            raise BuildError("Fetching it", "no network", "try again")
        return {"a/f.gguf": kept} if name == "a" else {}

    monkeypatch.setattr(server, "DIST", site)
    monkeypatch.setattr(published, "ensure_one", ensure_one)
    with running(site) as address:
        for _ in range(2):
            assert ask(address, "models/published/a/f.gguf")[::2] == (200, b"weights")
        assert asked == ["a"]
        for other in ("a/g.gguf", "none/f", "broken/f"):
            assert ask(address, f"models/published/{other}")[0] == 404
        assert ask(address, "models/published/a")[0] == 404
    assert asked == ["a", "a", "none", "broken"]
