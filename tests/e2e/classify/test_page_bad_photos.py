"""Odd and broken picture files: each is opened or refused with a clear message; the next works."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect
from tests.e2e.classify.colours import LABELS, add_colours, most, small

from tallow_build.environment.browser import until


def file(name: str, content: bytes, kind: str = "") -> dict[str, Any]:
    """A file to choose; its type is what the browser makes of its name."""
    return {"name": name, "mimeType": kind, "buffer": content}


def saved(image: Image.Image, kind: str, **how: Any) -> bytes:
    """The bytes of an image in a format."""
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def plain_png(width: int, height: int) -> bytes:
    """A PNG of one colour with one bit per pixel: a small file, whatever its size in pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    squeeze = zlib.compressobj(9)
    row = bytes(1 + (width + 7) // 8)
    data = b"".join(squeeze.compress(row) for _ in range(height)) + squeeze.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


RED, BLUE, CLEAR = (220, 30, 30), (20, 20, 230), (0, 0, 0, 0)


def frames(kind: str) -> bytes:
    """An animation: a red frame, then blue ones."""
    first, *others = [Image.new("RGB", (60, 40), c) for c in (RED, BLUE, BLUE)]
    return saved(first, kind, save_all=True, append_images=others, duration=10, loop=0)


def cmyk() -> bytes:
    return saved(Image.new("RGB", (60, 40), RED).convert("CMYK"), "JPEG", quality=95)


def sixteen_bits() -> bytes:
    return saved(Image.new("I;16", (60, 40), 30000), "PNG")


SVG = '<svg xmlns="http://www.w3.org/2000/svg" {}><rect width="90%" height="90%" fill="{}"/></svg>'


def svg(attributes: str) -> bytes:
    return SVG.format(attributes, f"rgb{RED}").encode()


# name: bytes, and the colour near the middle of what is shown.
GOOD = {
    "moving.gif": (lambda: frames("GIF"), RED),
    "moving.webp": (lambda: frames("WEBP"), RED),
    "dot.png": (lambda: saved(Image.new("RGB", (1, 1), RED), "PNG"), RED),
    "clear.png": (lambda: saved(Image.new("RGBA", (60, 40), CLEAR), "PNG"), (255, 255, 255)),
    "print.jpg": (cmyk, RED),
    "deep.png": (sixteen_bits, (117, 117, 117)),
    "sized.svg": (lambda: svg('width="60" height="40"'), RED),
    "boxed.svg": (lambda: svg('viewBox="0 0 30 20"'), RED),
    "unsized.svg": (lambda: svg(""), RED),
    "relative.svg": (lambda: svg('width="100%" height="5em"'), RED),
}


def cut_jpeg(share: float) -> bytes:
    """The first part of a JPEG."""
    whole = saved(Image.effect_noise((300, 200), 80), "JPEG")
    return whole[: int(len(whole) * share)]


BAD = {
    "words.png": (lambda: b"just words", "is not a picture that this browser can open"),
    "half.jpg": (lambda: cut_jpeg(0.5), "looks like a JPEG, but can’t be decoded"),
    "cut.jpg": (
        lambda: cut_jpeg(0.01),
        "looks like a JPEG, but can’t be decoded: it is damaged or incomplete",
    ),
    "huge.png": (lambda: plain_png(20_000, 20_000), "too large: 20000 × 20000 pixels"),
    "phone.heic": (
        lambda: struct.pack(">I", 24) + b"ftypheic" + bytes(4) + b"mif1heic" + bytes(500),
        "is a HEIC picture, which this browser can’t open",
    ),
    "words.svg": (lambda: b"<p>no drawing</p>", "is not a picture"),
    "broken.svg": (
        lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><g></svg>",
        "is not a picture",
    ),
    "<img src=x onerror=alert(1)>.png": (lambda: b"<b>x</b>", "is not a picture"),
}

MIDDLE = """() => {
    const { width, height } = document.querySelector(".photo canvas");
    const brush = document.querySelector(".photo canvas").getContext("2d");
    const at = brush.getImageData(Math.floor(width / 3), Math.floor(height / 3), 1, 1);
    return [...at.data];
}"""


def test_odd_pictures_are_opened_and_broken_ones_named(visitor):
    add_colours(visitor.page)
    visitor.open("./?device=numpy&model=colours#classify")
    alert = visitor.page.locator("#view-classify").get_by_role("alert")
    for name, (content, words) in BAD.items():
        visitor.choose(file(name, content()))
        expect(alert).to_contain_text(f"“{name}”")
        expect(alert).to_contain_text(words)
        assert visitor.result.get_attribute("data-source") is None
        expect(visitor.status).to_have_attribute("data-state", "ready")
    assert visitor.page.locator("img[src=x]").count() == 0
    for name, (content, colour) in GOOD.items():
        visitor.choose(file(name, content()))
        assert len(visitor.answer(name)) == len(LABELS)
        expect(alert.locator("span")).to_be_empty()
        until(visitor.page, f"({MIDDLE})()[3] === 255")  # the picture is painted after the answer
        assert visitor.page.evaluate(MIDDLE)[:3] == pytest.approx(colour, abs=12), name

    # All at once: broken ones do not stop the others, and show the reason in their tile.
    everything = {**{n: c for n, (c, _) in BAD.items()}, **{n: c for n, (c, _) in GOOD.items()}}
    visitor.choose([file(name, content()) for name, content in everything.items()])
    gallery = visitor.hook("image-gallery")
    expect(gallery).to_have_attribute("data-state", "done", timeout=120_000)
    states = {
        tile.get_attribute("data-name"): tile.get_attribute("data-state")
        for tile in gallery.locator(".tile").all()
    }
    assert states == {**dict.fromkeys(BAD, "failed"), **dict.fromkeys(GOOD, "answered")}
    visitor.choose(small(7))
    assert visitor.answer("7.png")[0]["label"] == most(7)


def test_headers_tell_sizes(module):
    """For every format that Pillow writes, whatever else is in the file."""
    image = Image.new("RGB", (321, 123), RED)
    alpha = Image.new("RGBA", (321, 123), CLEAR)
    files = {
        "PNG": [saved(image, "PNG")],
        "GIF": [saved(image, "GIF")],
        "BMP": [saved(image, "BMP")],
        "JPEG": [
            saved(image, "JPEG"),
            saved(image, "JPEG", progressive=True, icc_profile=bytes(70_000)),
        ],
        "WebP": [
            saved(image, "WEBP"),
            saved(image, "WEBP", lossless=True),
            saved(alpha, "WEBP"),
            saved(image, "WEBP", icc_profile=bytes(100)),
        ],
    }
    read = "(m, bytes) => m.readHeader(new Blob([new Uint8Array(bytes)]))"
    for name, contents in files.items():
        for content in contents:
            found = module("./prepare/header.js", read, list(content))
            assert found == {"format": name, "width": 321, "height": 123}
    assert module("./prepare/header.js", read, list(b"\x89PNG")) is None
    assert module("./prepare/header.js", read, list(b"no picture at all")) is None
    cut = module("./prepare/header.js", read, list(b"\xff\xd8\xff\xe0\x00\x10" + bytes(40)))
    assert cut == {"format": "JPEG", "width": 0, "height": 0}
