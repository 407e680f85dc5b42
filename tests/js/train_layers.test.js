// @ts-check
/** The Train view's table of layers, as a value, and names of files that are taken home. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { choose } from "../../web/i18n/languages.js";
import {
  changed,
  converted,
  fresh,
  inserted,
  moved,
  removed,
} from "../../web/views/train/network/rows.js";
import { reason } from "../../web/views/train/network/layers.js";
import { fileName } from "../../web/views/train/use/take.js";
import "./support/english.js";

choose("en");

/** @param {string} name @param {number} value */
const field = (name, value) => ({ name, value, least: 1, most: 64, whole: true });
const CONV = { kind: "conv2d", fields: [field("out", 16), field("kernel", 3)] };
const LINEAR = { kind: "linear", fields: [field("out", 10)] };
const RELU = { kind: "relu", fields: [] };

const ROWS = [{ kind: "conv2d", out: 6, kernel: 5 }, { kind: "relu" }, { kind: "linear", out: 4 }];

test("a new row has what its fields are if nothing is said", () => {
  assert.deepEqual(fresh(CONV), { kind: "conv2d", out: 16, kernel: 3 });
  assert.deepEqual(fresh(RELU), { kind: "relu" });
});

test("rows are added, removed and moved, and the table before stays as it was", () => {
  const before = structuredClone(ROWS);
  assert.deepEqual(
    inserted(ROWS, 3, fresh(RELU)).map(({ kind }) => kind),
    ["conv2d", "relu", "linear", "relu"],
  );
  assert.deepEqual(removed(ROWS, 0), ROWS.slice(1));
  assert.deepEqual(moved(ROWS, 0, 1), [ROWS[1], ROWS[0], ROWS[2]]);
  assert.deepEqual(moved(ROWS, 2, -1), [ROWS[0], ROWS[2], ROWS[1]]);
  assert.deepEqual(moved(ROWS, 0, -1), ROWS);
  assert.deepEqual(moved(ROWS, 2, 1), ROWS);
  assert.deepEqual(ROWS, before);
});

test("a row of another kind keeps the numbers that both have", () => {
  assert.deepEqual(converted(ROWS, 0, LINEAR)[0], { kind: "linear", out: 6 });
  assert.deepEqual(converted(ROWS, 1, CONV)[1], { kind: "conv2d", out: 16, kernel: 3 });
  assert.deepEqual(converted(ROWS, 2, RELU)[2], { kind: "relu" });
});

test("what is typed becomes a number, or null", () => {
  const typed = (/** @type {string} */ value) => changed(ROWS, 0, "kernel", value)[0].kernel;
  assert.deepEqual(["7", " 2.5 ", "-1", "0"].map(typed), [7, 2.5, -1, 0]);
  assert.deepEqual(["", "  ", "x", "1e999"].map(typed), [null, null, null, null]);
  assert.equal(ROWS[0].kernel, 5);
});

test("a reason names layers and fields as the page does", () => {
  const whole = { row: 0, code: "WHOLE", details: ["kernel", 1, 64] };
  assert.equal(reason(whole), "Window must be a whole number from 1 to 64.");
  const heads = { row: 1, code: "HEADS", details: [4, 10] };
  assert.equal(reason(heads), "4 heads do not divide the width of 10.");
  const none = { row: 0, code: "NO_FIELD", details: ["flatten", "out"] };
  assert.equal(reason(none), "A layer of the kind Flatten has no Outputs.");
});

test("a file is named after its run, without signs that systems refuse", () => {
  assert.equal(fileName("MNIST 1"), "MNIST 1");
  assert.equal(fileName('a/b\\c:"d"\n'), "a-b-c-d");
  assert.equal(fileName("../.."), "network");
  assert.equal(fileName("  "), "network");
  assert.equal(fileName("猫".repeat(200)).length, 100);
});
