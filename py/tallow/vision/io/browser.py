"""Pictures that the browser decodes, where Pillow is not installed."""

from __future__ import annotations

from typing import Any

from pyodide.ffi import JsException, run_sync, to_js  # type: ignore[import-not-found]

import js  # type: ignore[import-not-found]

from ...errors import DataError, RealizeError


class decoded:  # noqa: N801  # a request, called like a function
    """Requests a picture's pixels: the answer is the bytes of RGBA, its width and its height."""

    def __init__(self, content: bytes, turned: bool, where: str) -> None:
        self._content, self._turned, self._where = content, turned, where

    def run_sync(self) -> tuple[bytes, int, int]:
        """The pixels; blocks. Raises RealizeError where the browser cannot."""
        try:
            found: tuple[bytes, int, int] = run_sync(self.run_async())
        except DataError:
            raise
        except RuntimeError as error:
            raise RealizeError(
                "decoding a picture cannot block here; await decode_image_async, or install Pillow"
            ) from error
        return found

    async def run_async(self) -> tuple[bytes, int, int]:
        """The pixels. Raises DataError for a damaged picture."""
        blob = js.Blob.new(to_js([to_js(self._content)]))
        options: Any = js.Object.new()
        options.premultiplyAlpha = options.colorSpaceConversion = "none"
        options.imageOrientation = "from-image" if self._turned else "none"
        try:
            bitmap = await js.createImageBitmap(blob, options)
        except JsException as error:
            raise DataError(
                f"the picture in {self._where} is damaged, or of a kind that this browser does not "
                f"know: {error.message}"
            ) from error
        width, height = int(bitmap.width), int(bitmap.height)
        context = js.OffscreenCanvas.new(width, height).getContext("2d")
        context.drawImage(bitmap, 0, 0)
        bitmap.close()
        pixels = context.getImageData(0, 0, width, height).data
        return bytes(pixels.to_bytes()), width, height
