"""Compares screenshots of the page with those in looks/, and renews these on request.

Pictures are stored at half size and with few colours: the set stays small, and still shows what one
notices on a page of 1920 pixels. TALLOW_UPDATE_LOOKS=1 writes the set again, with the pictures of
the documents: look at them before committing.
"""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page

from tallow_build.paths import BUILD, NODE_MODULES, ROOT, shown

UPDATE = bool(os.environ.get("TALLOW_UPDATE_LOOKS"))
KEPT = ROOT / "tests" / "e2e" / "page" / "looks"
FOUND = BUILD / "looks"  # what was seen where it differs, and the difference
DOCUMENTS = ROOT / "docs" / "images"

SIZES = {360: 740, 1024: 768, 1920: 1080}
THEMES = ("light", "dark")

# One typeface on every machine, so that pages are compared, not the systems' fonts.
_FONT = NODE_MODULES / "@fontsource-variable" / "inter" / "files" / "inter-latin-wght-normal.woff2"
_SET = """async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    document.fonts.add(await new FontFace("Looks", bytes.buffer, { weight: "100 900" }).load());
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("body { font-family: Looks; text-rendering: geometricPrecision }");
    document.adoptedStyleSheets = [sheet];
}"""

# Both pictures are reduced by this factor, so that the edges of letters, which systems draw
# differently, disappear. NumPy does that in three lines, so no package for comparing is needed.
_PART = 2
_NOTICED = 20  # of 255, by which a pixel's most different colour differs
_ALLOWED = 30  # such pixels, each of 4 by 4 of the page's


def typeset(page: Page) -> None:
    """Sets this page in the typeface of the stored pictures."""
    page.evaluate(_SET, base64.b64encode(_FONT.read_bytes()).decode())


class Looks:
    """Pictures of states of one page. In the end, `wrong` lists those that differ."""

    def __init__(self, page: Page) -> None:
        self.wrong: list[str] = []
        self._page = page

    def see(self, state: str, *, of: Locator | None = None, mask: Locator | None = None) -> None:
        """Compares a state, of the page or an element, at each width and in each theme."""
        for width, height in SIZES.items():
            self._page.set_viewport_size({"width": width, "height": height})
            for theme in THEMES:
                self._page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                whole = {} if of else {"full_page": True}
                bytes_ = (of or self._page).screenshot(
                    **whole, animations="disabled", mask=[mask] if mask else [], mask_color="#888"
                )
                self._compare(f"{state}-{width}-{theme}.png", bytes_)

    def _compare(self, name: str, picture: bytes) -> None:
        seen = Image.open(io.BytesIO(picture)).convert("RGB").reduce(2)
        if UPDATE:
            KEPT.mkdir(exist_ok=True)
            _save(seen, KEPT / name)
            return
        if not (KEPT / name).exists():
            self._tell(name, seen, "is new")
            return
        kept = Image.open(KEPT / name).convert("RGB")
        if kept.size != seen.size:
            self._tell(name, seen, f"has {seen.size} instead of {kept.size} pixels, at half size")
            return
        before, now = (np.asarray(i.reduce(_PART), np.int16) for i in (kept, seen))
        far = np.abs(before - now).max(axis=2)
        count = int((far > _NOTICED).sum())
        if count > _ALLOWED:
            shades = Image.fromarray((255 - np.minimum(4 * far, 255)).astype(np.uint8))
            FOUND.mkdir(parents=True, exist_ok=True)
            shades.save(FOUND / name.replace(".png", ".difference.png"))
            self._tell(name, seen, f"differs in {count} of {far.size} parts")

    def _tell(self, name: str, seen: Image.Image, what: str) -> None:
        FOUND.mkdir(parents=True, exist_ok=True)
        seen.save(FOUND / name)
        self.wrong.append(f"{name} {what}: see {shown(FOUND / name)}")


def document(page: Page, name: str, *parts: Locator) -> None:
    """Takes the picture docs/images/NAME.png of the area of these elements."""
    boxes = [box for part in parts if (box := part.bounding_box())]
    assert boxes, f"nothing of {name} can be seen"
    left, top = (min(box[side] for box in boxes) - 24 for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes) + 24
    bottom = max(box["y"] + box["height"] for box in boxes) + 24
    scrolled = page.evaluate("scrollY")
    taken = page.screenshot(
        full_page=True,
        animations="disabled",
        clip={"x": left, "y": top + scrolled, "width": right - left, "height": bottom - top},
    )
    path = DOCUMENTS / f"{name}.png"
    _save(Image.open(io.BytesIO(taken)).convert("RGB"), path)


def _save(picture: Image.Image, path: Path) -> None:
    """Stores a picture with 256 colours; the most frequent ones are exact."""
    few = picture.quantize(256, Image.Quantize.MEDIANCUT, kmeans=4, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
