// @ts-check
/** The Listen view's own: subtitles, and sounds at another rate. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Slower } from "../../web/widgets/sound/slower.js";
import { clock, plain, srt, vtt } from "../../web/views/listen/subtitles.js";

const SAID = [
  { start: 0, end: 1.5, text: " Hello <there> & you." },
  { start: 3725.0426, end: 3725.9999, text: " Two\n\nlines" },
];

test("SubRip has numbers, commas and no blank line in a text", () => {
  assert.equal(
    srt(SAID),
    "1\n00:00:00,000 --> 00:00:01,500\nHello <there> & you.\n\n" +
      "2\n01:02:05,043 --> 01:02:06,000\nTwo\nlines\n",
  );
  assert.equal(srt([]), "");
});

test("WebVTT has a head, points, and signs that are escaped", () => {
  assert.equal(
    vtt(SAID),
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello &lt;there&gt; &amp; you.\n\n" +
      "01:02:05.043 --> 01:02:06.000\nTwo\nlines\n",
  );
  assert.equal(vtt([]), "WEBVTT\n");
});

test("plain text is a line for each piece", () => {
  assert.equal(plain(SAID.slice(0, 1)), "Hello <there> & you.\n");
});

test("a clock shows hours only if there are any", () => {
  assert.equal(clock(59.99), "0:59");
  assert.equal(clock(61), "1:01");
  assert.equal(clock(3661.5), "1:01:01");
  assert.equal(clock(59.9999, "."), "00:01:00.000");
});

/** @param {number} rate @param {number} hertz @param {number} seconds */
const tone = (rate, hertz, seconds) =>
  Float32Array.from({ length: rate * seconds }, (_, at) =>
    Math.sin((2 * Math.PI * hertz * at) / rate),
  );

/** @param {Slower} slower @param {Float32Array} sound @param {number} length  of pieces */
function inPieces(slower, sound, length) {
  const found = [];
  for (let at = 0; at < sound.length; at += length)
    found.push(...slower.add(sound.subarray(at, at + length)));
  return found;
}

for (const rate of [44_100, 48_000, 96_000, 16_000, 8000]) {
  test(`a tone of ${rate} samples a second is the same tone at 16,000`, () => {
    const found = inPieces(new Slower(rate, 16_000), tone(rate, 1000, 0.5), 2048);
    const wanted = tone(16_000, 1000, 0.5);
    assert.ok(found.length > 7900 && found.length <= 8000, String(found.length));
    for (let at = 100; at < found.length; at++)
      assert.ok(Math.abs(found[at] - wanted[at]) < 0.01, `${at}: ${found[at]} ${wanted[at]}`);
  });
}

test("what 16,000 samples a second cannot express is gone", () => {
  const found = inPieces(new Slower(48_000, 16_000), tone(48_000, 11_000, 0.3), 999);
  assert.ok(Math.max(...found.slice(100).map(Math.abs)) < 0.01);
});

test("pieces of any length give the sound of the whole", () => {
  const sound = tone(44_100, 700, 0.2);
  const whole = inPieces(new Slower(44_100, 16_000), sound, sound.length);
  for (const length of [1, 37, 2048])
    assert.deepEqual(inPieces(new Slower(44_100, 16_000), sound, length), whole);
});
