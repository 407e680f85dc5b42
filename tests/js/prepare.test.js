// @ts-check
/** The preparation of ink and pictures for a model (web/prepare/). */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { SIDE, prepareDigit } from "../../web/prepare/digit.js";
import { scaleAndCrop } from "../../web/prepare/resample.js";
import { splitDigits } from "../../web/prepare/split.js";
import { blank, box, line, ring } from "./support/ink.js";

// ---- digits -----------------------------------------------------------------------------------

/** @param {import("./support/ink.js").Ink} ink */
function digit({ ink, width, height }) {
  const picture = prepareDigit(ink, width, height);
  assert.ok(picture);
  return picture;
}

/** The inked pixels, as [x, y, ink]. @param {Float32Array} picture */
const inked = (picture) =>
  [...picture].flatMap((ink, at) => (ink ? [[at % SIDE, Math.floor(at / SIDE), ink]] : []));

/** The columns and rows that the ink spans. @param {Float32Array} picture */
function extent(picture) {
  const spans = (/** @type {number} */ axis) => {
    const places = inked(picture).map((pixel) => pixel[axis]);
    return Math.max(...places) - Math.min(...places) + 1;
  };
  return [spans(1), spans(0)];
}

test("no ink, no picture", () => {
  const { ink } = blank(50, 50);
  assert.equal(prepareDigit(ink, 50, 50), null);
});

for (const [name, corners, spans] of /** @type {[string, number[], number[]][]} */ ([
  ["tall: its aspect is kept", [10, 10, 49, 89], [20, 10]],
  ["flat", [5, 60, 94, 79], [4, 20]],
  ["tiny: enlarged", [40, 40, 41, 41], [20, 20]],
  ["all of the pad", [0, 0, 99, 99], [20, 20]],
  ["a hairline is still there", [50, 5, 50, 95], [20, 1]],
])) {
  test(`ink fits twenty by twenty: ${name}`, () => {
    const [left, top, right, bottom] = corners;
    const picture = digit(box(blank(100, 100), left, top, right, bottom));
    assert.deepEqual(extent(picture), spans);
    assert.ok(Math.abs(Math.max(...picture) - 1) < 1e-6);
  });
}

test("the centre of mass lies in the pixel after the middle, as in all of MNIST", () => {
  let seed = 3;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  let checked = 0;
  for (let i = 0; i < 10; i++) {
    const points = Array.from({ length: 6 }, () => [20 + 160 * random(), 20 + 160 * random()]);
    const picture = digit(line(blank(200, 200), points, 14));
    const pixels = inked(picture);
    if (pixels.some(([x, y]) => [x, y].includes(0) || [x, y].includes(SIDE - 1))) continue;
    checked += 1;
    const mass = pixels.reduce((sum, [, , ink]) => sum + ink, 0);
    for (const axis of [0, 1]) {
      const centre = pixels.reduce((sum, pixel) => sum + (pixel[axis] + 0.5) * pixel[2], 0) / mass;
      assert.ok(centre >= 14 && centre <= 15, `${centre}`);
    }
  }
  assert.ok(checked > 3);
});

test("shrinking averages the area: stripes of one pixel become an even grey", () => {
  const pad = blank(60, 60);
  for (let y = 10; y < 50; y += 2) box(pad, 10, y, 49, y);
  box(pad, 10, 49, 49, 49); // so that the box spans 40 rows
  const picture = digit(pad);
  const pixels = inked(picture);
  const last = Math.max(...pixels.map(([, y]) => y));
  for (const [, y, ink] of pixels) if (y < last) assert.ok(Math.abs(ink - 0.5) < 1e-6);
});

test("an enlarged picture of MNIST's form is restored", () => {
  const small = blank(20, 20);
  line(
    small,
    [
      [3, 1],
      [16, 1],
      [8, 18],
    ],
    2,
  );
  box(small, 3, 0, 16, 0);
  box(small, 8, 19, 8, 19);
  const factor = 9;
  const pad = blank(300, 300);
  small.ink.forEach((value, at) => {
    const [x, y] = [77 + factor * (at % 20), 40 + factor * Math.floor(at / 20)];
    if (value) box(pad, x, y, x + factor - 1, y + factor - 1, value);
  });
  const cut = (/** @type {number[][]} */ pixels) => {
    const [left, top] = [0, 1].map((axis) => Math.min(...pixels.map((pixel) => pixel[axis])));
    return pixels.map(([x, y, ink]) => [x - left, y - top, Number(ink.toFixed(5))]);
  };
  const wanted = [...small.ink].flatMap((ink, at) =>
    ink ? [[at % 20, Math.floor(at / 20), ink / 255]] : [],
  );
  assert.deepEqual(cut(inked(digit(pad))), cut(wanted));
});

// ---- several digits ---------------------------------------------------------------------------

/**
 * Ink whose left edge is at 1000 on the pad.
 * @param {...((pad: import("./support/ink.js").Ink) => void)} marks
 */
function split(...marks) {
  const pad = blank(300, 200);
  for (const mark of marks) mark(pad);
  const whole = { ...pad, left: 1000, right: 1300, top: 0 };
  return splitDigits(whole).map((found) => ({
    ...found,
    left: found.left - 1000,
    right: found.right - 1000,
  }));
}

/** @param {number[][]} points @param {number} [width] @param {number} [ink] */
const stroke =
  (points, width = 12, ink = 255) =>
  (/** @type {import("./support/ink.js").Ink} */ pad) =>
    void line(pad, points, width, ink);

test("parts above each other form one digit; digits are sorted from left to right", () => {
  assert.deepEqual(split(), []);
  const stem = stroke([
    [40, 20],
    [40, 180],
  ]);
  const other = stroke([
    [200, 20],
    [200, 180],
  ]);
  const two = split(other, stem);
  assert.equal(two.length, 2);
  assert.ok(two[0].left < 40 && two[0].right > 40 && two[1].left < 200 && two[1].right > 200);
  const body = stroke([
    [60, 60],
    [50, 100],
    [110, 130],
    [50, 180],
  ]);
  assert.equal(
    split(
      body,
      stroke([
        [60, 25],
        [120, 20],
      ]),
    ).length,
    1,
  );
  const far = stroke([
    [128, 25],
    [150, 20],
  ]); // a 5's bar that begins right of its body, but near
  assert.equal(split(body, far).length, 1);
  const rings = [
    (/** @type {any} */ pad) => void ring(pad, [110, 45], [30, 35], 10),
    (/** @type {any} */ pad) => void ring(pad, [110, 142], [40, 47], 10),
  ];
  assert.equal(split(...rings).length, 1);
  const four = [
    stroke([
      [60, 20],
      [40, 110],
      [130, 110],
    ]),
    stroke([
      [110, 128],
      [110, 190],
    ]),
  ];
  assert.equal(split(...four).length, 1);
  assert.equal(split(...four, other).length, 2);
  // A dot far from every digit may be the beginning of the next one, but is no digit yet.
  assert.equal(
    split(
      stem,
      other,
      stroke([
        [260, 30],
        [264, 30],
      ]),
    ).length,
    2,
  );
  assert.equal(
    split(
      stroke([
        [100, 100],
        [180, 100],
      ]),
    ).length,
    1,
  ); // but alone it is all there is
});

test("each digit has only its own ink: a 7 that reaches over the next digit", () => {
  const found = split(
    stroke([
      [20, 30],
      [120, 30],
      [60, 180],
    ]),
    (pad) => void box(pad, 124, 90, 134, 180),
  );
  assert.equal(found.length, 2);
  const [seven, stem] = found;
  assert.ok(seven.right > stem.left, "they share columns");
  assert.equal(seven.width, seven.right - seven.left);
  assert.deepEqual([stem.width, stem.height], [11, 91]);
  assert.ok(stem.ink.every((value) => value === 255));
});

test("nearly erased ink does not count", () => {
  assert.deepEqual(
    split(
      stroke(
        [
          [40, 20],
          [40, 180],
        ],
        3,
        15,
      ),
    ),
    [],
  );
  assert.equal(
    split(
      stroke(
        [
          [40, 20],
          [40, 180],
        ],
        3,
        16,
      ),
    ).length,
    1,
  );
});

// ---- pictures ---------------------------------------------------------------------------------

const RESAMPLED = JSON.parse(
  await readFile(new URL("../data/resampled.json", import.meta.url), "utf8"),
);

test("a browser without SIMD says so when a photograph is scaled", async (t) => {
  t.mock.method(WebAssembly, "validate", () => false);
  const again = "../../web/prepare/resample.js?again"; // a module that has compiled nothing yet
  const { scaleAndCrop: fresh } = await import(again);
  assert.throws(() => fresh(new Uint8ClampedArray(4), 1, 1, 1), {
    name: "PhotoError",
    words: { entry: "noSimd", about: [] },
  });
});

/** A triangle wave of whole numbers. @param {number} at @param {number} half */
const wave = (at, half) => half - Math.abs((at % (2 * half)) - half);

for (const [name, wanted] of Object.entries(RESAMPLED)) {
  test(`scaling is Pillow's bicubic, from a side of ${name}`, () => {
    const side = Number(name);
    const rgba = new Uint8ClampedArray(4 * side * side).fill(255);
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        for (let channel = 0; channel < 3; channel++) {
          const value = wave(5 * x + 40 * channel, 127) + wave(3 * y + x, 100);
          rgba[4 * (y * side + x) + channel] = value & 255;
        }
      }
    }
    const found = scaleAndCrop(rgba, side, 256, 224);
    let next = 0;
    for (let y = 0; y < 224; y += 31) {
      for (let x = 0; x < 224; x += 31) {
        const at = 4 * (y * 224 + x);
        for (let channel = 0; channel < 3; channel++) {
          const difference = Math.abs(found[at + channel] - wanted[next++]);
          assert.ok(difference <= 2, `${difference} at ${x}, ${y}`); // Pillow rounds in between
        }
        assert.equal(found[at + 3], 255);
      }
    }
    assert.equal(next, wanted.length);
  });
}
