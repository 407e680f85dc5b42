"""Writes web/prepare/weighing.js: the WebAssembly with which the page scales photographs.

    PYTHONPATH=py python -m tallow_build.content.resampling

`down` makes a row of pixels of several rows, `across` makes each pixel of a new row of several
neighbours; web/prepare/resample.js decides of which and by which weights. A pixel is a vector, so
that its colours take one instruction.
"""

from __future__ import annotations

import base64

from tallow.devices.wasm.codegen.assembler import Function, encode

from ..paths import WEB

FILE = WEB / "prepare" / "weighing.js"

_TEXT = """// @ts-check
/** WebAssembly that resample.js runs, from py/tallow_build/content/resampling.py. */

export const WEIGHING =
  "{code}";
"""

_PIXEL, _WEIGHT = 16, 4  # bytes of a vector and of a weight
_GROUP = 4  # pixels that are read at once


class _Code(Function):
    """A function with a few more words."""

    def get(self, *numbers: int) -> None:
        for number in numbers:
            self.emit("local.get", number)

    def put(self, number: int) -> None:
        self.emit("local.set", number)

    def add(self, number: int, step: int) -> None:
        """Increases a local."""
        self.get(number)
        self.emit("i32.const", step)
        self.emit("i32.add")
        self.put(number)

    def zero(self, *numbers: int) -> None:
        for number in numbers:
            self.emit("i32.const", 0)
            self.emit("i32x4.splat")
            self.put(number)

    def gather(self, total: int) -> None:
        """Adds the vector on the stack, times the one below it, to a local."""
        self.emit("f32x4.mul")
        self.get(total)
        self.emit("f32x4.add")
        self.put(total)

    def again(self, left: int) -> None:
        """Repeats the innermost loop while a local, which it decreases, is not 0."""
        self.get(left)
        self.emit("i32.const", -1)
        self.emit("i32.add")
        self.emit("local.tee", left)
        self.emit("br_if", 0)
        self.emit("end")


def _down() -> Function:
    """down(pixels, row, taps, weights, groups, out): groups of four pixels, each a weighted sum of
    what lies `row` bytes apart; as vectors of floats."""
    pixels, row, taps, weights, groups, out = range(6)
    code = _Code(["i32"] * 6, exported="down")
    at, weight, left = (code.local("i32") for _ in range(3))
    read, words, by, *totals = (code.local("v128") for _ in range(3 + _GROUP))
    code.emit("loop")
    code.zero(*totals)
    for source, local in ((pixels, at), (weights, weight), (taps, left)):
        code.get(source)
        code.put(local)
    code.emit("loop")
    code.get(at)
    code.emit("v128.load", 0)
    code.put(read)
    code.get(weight)
    code.emit("v128.load32_splat", 0)
    code.put(by)
    halves = ("low", "high")
    for number, total in enumerate(totals):
        if number % 2 == 0:
            code.get(read)
            code.emit(f"i16x8.extend_{halves[number // 2]}_i8x16_u")
            code.put(words)
        code.get(by, words)
        code.emit(f"i32x4.extend_{halves[number % 2]}_i16x8_u")
        code.emit("f32x4.convert_i32x4_u")
        code.gather(total)
    code.get(at, row)
    code.emit("i32.add")
    code.put(at)
    code.add(weight, _WEIGHT)
    code.again(left)
    for number, total in enumerate(totals):
        code.get(out, total)
        code.emit("v128.store", number * _PIXEL)
    code.add(pixels, 4 * _GROUP)
    code.add(out, _PIXEL * _GROUP)
    code.again(groups)
    return code


def _across() -> Function:
    """across(pixels, firsts, taps, weights, count, out): pixels of four bytes, each a weighted sum
    of so many vectors from the one at its offset in `firsts` on."""
    pixels, firsts, taps, weights, count, out = range(6)
    code = _Code(["i32"] * 6, exported="across")
    at, left = (code.local("i32") for _ in range(2))
    total = code.local("v128")
    code.emit("loop")
    code.zero(total)
    code.get(pixels, firsts)
    code.emit("i32.load", 0)
    code.emit("i32.add")
    code.put(at)
    code.get(taps)
    code.put(left)
    code.emit("loop")
    code.get(weights)
    code.emit("v128.load32_splat", 0)
    code.get(at)
    code.emit("v128.load", 0)
    code.gather(total)
    code.add(at, _PIXEL)
    code.add(weights, _WEIGHT)
    code.again(left)
    code.get(out, total)
    for name in ("f32x4.nearest", "i32x4.trunc_sat_f32x4_s"):
        code.emit(name)
    code.emit("local.tee", total)
    code.get(total)
    code.emit("i16x8.narrow_i32x4_s")
    code.emit("local.tee", total)
    code.get(total)
    code.emit("i8x16.narrow_i16x8_u")
    code.emit("i32x4.extract_lane", 0)
    code.emit("i32.store", 0)
    code.add(firsts, 4)
    code.add(out, 4)
    code.again(count)
    return code


def module() -> bytes:
    """The module; it imports its memory."""
    return encode([_down(), _across()])


def text() -> str:
    """The content of the file."""
    return _TEXT.format(code=base64.b64encode(module()).decode())


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
