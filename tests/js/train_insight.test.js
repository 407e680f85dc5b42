// @ts-check
/** What the Train view shows of a run, as far as it needs no document. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Changes } from "../../web/views/train/seen/changes.js";
import { nextCell, strengths } from "../../web/views/train/seen/confusion.js";
import { linePoints } from "../../web/views/train/seen/filters.js";
import { casesOf, decided } from "../../web/views/train/seen/review.js";
import { rgba, unpacked } from "../../web/views/train/seen/thumbs.js";
import { rowsOf } from "../../web/views/train/use/use.js";

test("pictures are unpacked wherever they lie in a buffer, grey and in colour", () => {
  const words = new Uint32Array([2, 1, 2, 1, 2, 1, 3]);
  const pixels = [9, 8, 1, 2, 3, 4, 5, 6];
  const packed = new Uint8Array([77, 77, 77, 77, ...new Uint8Array(words.buffer), ...pixels]);
  const [grey, colour] = unpacked(packed.subarray(4));
  assert.deepEqual(
    { ...grey, pixels: [...grey.pixels] },
    {
      ...{ height: 1, width: 2, channels: 1 },
      pixels: [9, 8],
    },
  );
  assert.deepEqual([...rgba(grey)], [9, 9, 9, 255, 8, 8, 8, 255]);
  assert.deepEqual([...rgba(colour)], [1, 2, 3, 255, 4, 5, 6, 255]);
  assert.deepEqual(unpacked(new Uint8Array(4)), []);
});

const MATRIX = [
  [5, 0, 2],
  [0, 0, 0],
  [1, 0, 8],
];

test("arrows lead to the next cell that has samples, and not beyond the last", () => {
  assert.deepEqual(nextCell(MATRIX, 0, 0, [0, 1]), [0, 2]);
  assert.deepEqual(nextCell(MATRIX, 0, 0, [1, 0]), [2, 0]);
  assert.deepEqual(nextCell(MATRIX, 2, 2, [-1, 0]), [0, 2]);
  assert.equal(nextCell(MATRIX, 0, 2, [0, 1]), null);
  assert.equal(nextCell(MATRIX, 0, 0, [-1, 0]), null);
});

test("mistakes are coloured beside the most frequent one, what is right by its share", () => {
  assert.deepEqual(strengths(MATRIX), [
    [5 / 7, 0, 1],
    [0, 0, 0],
    [0.5, 0, 8 / 9],
  ]);
});

test("a line of norms is on a scale of powers of ten, without what is not finite", () => {
  assert.equal(linePoints([1, 10, null, 100], 1, 100), "0.000,1.000 0.333,0.500 1.000,0.000");
  assert.equal(linePoints([2, 2], 2, 2), "0.000,1.000 1.000,1.000");
});

/** @type {any} */
const REVIEWED = {
  classes: ["a", "b"],
  counts: [3, 4],
  parts: [
    {
      part: "train",
      doubts: [{ index: 4, number: 14, label: 0, guess: 1, probability: 0.9, own: 0.1 }],
      duplicates: [
        { index: 4, number: 14, label: 0, of: 1, other: 1, alike: 1, same: true },
        { index: 5, number: 15, label: 1, of: 2, other: 0, alike: 0.99, same: false },
      ],
    },
    {
      part: "valid",
      doubts: [{ index: 4, number: 24, label: 1, guess: 0, probability: null, own: null }],
      duplicates: [],
    },
  ],
};

test("doubts come before duplicates, and no sample is listed twice", () => {
  const cases = casesOf(REVIEWED);
  assert.deepEqual(
    cases.map(({ part, number, guess, share, other }) => [part, number, guess, share, other]),
    [
      ["train", 14, 1, 0.9, null],
      ["valid", 24, 0, 0, null],
      ["train", 15, null, 0.99, 0],
    ],
  );
});

test("a key relabels, throws out or keeps; a duplicate cannot be relabelled by one", () => {
  const [doubt, , twin] = casesOf(REVIEWED);
  assert.equal(decided("r", doubt), 1);
  assert.equal(decided("x", doubt), null);
  assert.equal(decided("Delete", doubt), null);
  assert.equal(decided("k", doubt), 0);
  assert.equal(decided("q", doubt), undefined);
  assert.equal(decided("r", twin), undefined);
  assert.equal(decided("k", twin), 1);
});

/** @param {Record<string, string>} [held] @returns {any} */
const storageOf = (held = {}) => ({
  held,
  getItem: (/** @type {string} */ key) => held[key] ?? null,
  setItem: (/** @type {string} */ key, /** @type {string} */ value) => (held[key] = value),
  removeItem: (/** @type {string} */ key) => delete held[key],
});

test("changes are kept for each data set, and undone", () => {
  const storage = storageOf();
  const changes = new Changes(() => storage, "/here");
  assert.ok(changes.open("mnist"));
  assert.ok(changes.add({ number: 3, label: "7" }));
  assert.ok(changes.add({ number: 4, label: null }));
  assert.ok(changes.open("signs"));
  assert.deepEqual(changes.all, []);
  const later = new Changes(() => storage, "/here");
  later.open("mnist");
  assert.deepEqual(later.all, [
    { number: 3, label: "7" },
    { number: 4, label: null },
  ]);
  later.undo();
  later.undo();
  assert.deepEqual(storage.held, {});
  later.undo();
  assert.deepEqual(later.all, []);
});

for (const damaged of ["{", "{}", '[{"number":"3","label":null}]', '[{"number":3}]'])
  test(`changes that are damaged are said, and none count: ${damaged}`, () => {
    const storage = storageOf({ "tallow.train.changes /here mnist": damaged });
    const changes = new Changes(() => storage, "/here");
    assert.equal(changes.open("mnist"), false);
    assert.deepEqual(changes.all, []);
  });

test("without storage changes count all the same, and it is said that they are not kept", () => {
  const changes = new Changes(() => {
    throw new DOMException("refused", "SecurityError");
  }, "/here");
  assert.ok(changes.open("mnist"));
  assert.equal(changes.add({ number: 3, label: null }), false);
  assert.deepEqual(changes.all, [{ number: 3, label: null }]);
});

test("an answer of many classes shows the most probable ones", () => {
  const classes = Array.from({ length: 12 }, (_, i) => `c${i}`);
  const probabilities = classes.map((_, i) => i / 66);
  const rows = rowsOf({ classes, probabilities });
  assert.deepEqual(
    rows.map(({ index }) => index),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
  );
  assert.deepEqual(rowsOf({ classes: ["a", "b"], probabilities: [0.1, 0.9] }), [
    { index: 0, label: "a", probability: 0.1 },
    { index: 1, label: "b", probability: 0.9 },
  ]);
});
