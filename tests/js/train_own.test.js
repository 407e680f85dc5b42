// @ts-check
/** The Train view's own data: clips of sounds, files in folders and zips, networks for them. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { givenAs } from "../../web/prepare/files.js";
import { networkOf, recipeOf } from "../../web/views/train/own/own.js";
import { found } from "../../web/views/train/own/pictures.js";
import { Clips } from "../../web/views/train/own/sounds.js";
import { LENET } from "../../web/views/train/training.js";

/** @param {number} seconds @param {number} loud */
const sound = (seconds, loud) => new Float32Array(Math.round(16_000 * seconds)).fill(loud);

/** @param {Iterable<Uint8Array<ArrayBuffer>>} clips */
const samplesOf = (clips) => [...clips].map(({ buffer }) => new Int16Array(buffer));

test("a sound is cut into seconds, whatever pieces it comes in", () => {
  const clips = new Clips();
  const whole = [...samplesOf(clips.add(sound(0.4, 0.5))), ...samplesOf(clips.add(sound(2, -0.5)))];
  assert.deepEqual(
    whole.map(({ length }) => length),
    [16_000, 16_000],
  );
  assert.deepEqual([whole[0][0], whole[0][6399], whole[0][6400]], [16_384, 16_384, -16_383]);
  assert.deepEqual(samplesOf(clips.end()), []); // less than half a second is left
  assert.equal(samplesOf(clips.add(sound(1, 1)))[0][15_000], 32_767);
});

test("half a second and more at the end becomes a clip, and silence none", () => {
  const clips = new Clips();
  assert.deepEqual(samplesOf(clips.add(sound(3, 0.001))), []);
  assert.deepEqual(samplesOf(clips.add(sound(0.6, 2))), []);
  const [last] = samplesOf(clips.end());
  assert.deepEqual([last.length, last[9599], last[9600]], [16_000, 32_767, 0]);
});

/** @param {string} name @param {string} [path] @param {string} [type] @returns {any} */
const file = (name, path = "", type = "") => ({ name, webkitRelativePath: path, type });

/** @param {AsyncIterable<{file: {name: string}, label: string}>} all */
async function listed(all) {
  const list = [];
  for await (const { file, label } of all) list.push([file.name, label]);
  return list;
}

test("a file's class is its folder, and none if it is in none", async () => {
  const files = [
    file("a.png", "things/cups/a.png"),
    file("b.png"),
    file("c.png", "pens/c.png"),
    file(".x", "pens/.x"),
  ];
  assert.deepEqual(await listed(found(files.map(givenAs), /** @type {any} */ (null))), [
    ["a.png", "cups"],
    ["b.png", ""],
    ["c.png", "pens"],
  ]);
});

test("a zip's pictures are read one after the other, without what systems add", async () => {
  const paths = [
    "x/cups/a.jpg",
    "x/cups/.hidden.jpg",
    "__MACOSX/x/cups/a.jpg",
    "x/read.me",
    "b.PNG",
  ];
  /** @type {any[]} */
  const asked = [];
  const engine = {
    ask: async (/** @type {string} */ action, /** @type {any} */ args) => {
      asked.push([action, args.number]);
      return action === "train.zip" ? paths : new Uint8Array([args.number]);
    },
  };
  const given = [file("things.zip"), file("c.png")].map(givenAs);
  const files = found(given, /** @type {any} */ (engine));
  assert.deepEqual(await listed(files), [
    ["x/cups/a.jpg", "cups"],
    ["b.PNG", ""],
    ["c.png", ""],
  ]);
  assert.deepEqual(asked, [
    ["train.zip", undefined],
    ["train.unzip", 0],
    ["train.unzip", 4],
  ]);
});

test("every kind has a network that ends with a score for each class, and a recipe", () => {
  for (const kind of /** @type {const} */ (["signs", "pictures", "sounds", "text"])) {
    assert.deepEqual(networkOf(kind, 7).at(-1), { kind: "linear", out: 7 });
    const { batch, epochs, optimizer } = recipeOf(kind);
    assert.ok(batch > 0 && batch <= 8 && epochs > 0 && optimizer.lr > 0);
  }
  assert.deepEqual(networkOf("signs", 10), LENET);
});
