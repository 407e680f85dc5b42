// @ts-check
/**
 * Splits ink into digits, from left to right.
 *
 * It finds the connected parts, and joins those that lie above each other: the bar of a 5, a 4 in
 * two strokes, the two rings of an 8.
 */

import { FAINT } from "./digit.js";

/** Two parts form one digit if this share of the narrower one lies above or below the other. */
const OVERLAP = 0.4;

/** Shares of the tallest part: a flatter part is no digit, and joins a digit that is so near. */
const FLAT = 0.3;
const NEAR = 0.25;

/**
 * @typedef {{y: number, from: number, to: number}} Run  pixels of one row, all of them inked
 * @typedef {{runs: Run[], left: number, right: number, top: number, bottom: number}} Part
 * @typedef {{ink: Uint8Array, width: number, height: number, left: number, right: number, top: number}} Digit
 *   its own ink, cut out: width * height values, 0 (paper) to 255 (ink); left, right (exclusive) and
 *   top are its position on the pad
 */

/**
 * @param {Digit} whole  all ink
 * @returns {Digit[]}  from left to right; none if there is no ink
 */
export function splitDigits(whole) {
  return group(partsOf(whole)).map((part) => cut(part, whole));
}

/**
 * The connected parts of the ink, from left to right. Pixels that touch at a corner are connected.
 * @param {Digit} whole
 * @returns {Part[]}  in coordinates of the whole
 */
function partsOf({ ink, width, height }) {
  /** @type {Set<Part>} */
  const parts = new Set();
  /** @type {Map<Run, Part>} */
  const partOf = new Map();
  /** @type {Run[]} */
  let above = [];
  for (let y = 0; y < height; y++) {
    const row = runsOf(ink, width, y);
    for (const run of row) {
      let part = /** @type {Part} */ ({ runs: [run], ...sides(run) });
      for (const touching of above) {
        if (touching.from > run.to || touching.to < run.from) continue;
        const other = /** @type {Part} */ (partOf.get(touching));
        if (other === part) continue;
        const [large, small] = part.runs.length > other.runs.length ? [part, other] : [other, part];
        for (const moved of small.runs) partOf.set(moved, large);
        parts.delete(small);
        part = join(large, small);
      }
      parts.add(part);
      partOf.set(run, part);
    }
    above = row;
  }
  const inked = [...parts].filter(({ runs }) =>
    runs.some(({ y, from, to }) =>
      ink.subarray(y * width + from, y * width + to).some((value) => value >= FAINT),
    ),
  );
  return inked.sort((a, b) => a.left - b.left);
}

/**
 * @param {Uint8Array} ink
 * @param {number} width
 * @param {number} y
 * @returns {Run[]}
 */
function runsOf(ink, width, y) {
  /** @type {Run[]} */
  const runs = [];
  for (let x = 0, at = y * width; x < width; x++, at++) {
    if (!ink[at]) continue;
    const last = runs.at(-1);
    if (last?.to === x) last.to = x + 1;
    else runs.push({ y, from: x, to: x + 1 });
  }
  return runs;
}

/** @param {Run} run */
const sides = ({ y, from, to }) => ({ left: from, right: to, top: y, bottom: y + 1 });

/**
 * @param {Part} part  absorbs the other, and is returned
 * @param {Part} other
 */
function join(part, other) {
  for (const run of other.runs) part.runs.push(run);
  part.left = Math.min(part.left, other.left);
  part.right = Math.max(part.right, other.right);
  part.top = Math.min(part.top, other.top);
  part.bottom = Math.max(part.bottom, other.bottom);
  return part;
}

/**
 * @param {Part[]} parts  from left to right
 * @returns {Part[]}  one for each digit
 */
function group(parts) {
  const high = (/** @type {Part} */ { top, bottom }) => bottom - top;
  const wide = (/** @type {Part} */ { left, right }) => right - left;
  /** How far two parts overlap. A negative number is the gap between them. */
  const overlap = (/** @type {Part} */ a, /** @type {Part} */ b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const tallest = Math.max(...parts.map(high));
  const flat = (/** @type {Part} */ part) => high(part) < FLAT * tallest;
  /** @type {Part[]} */
  const digits = [];
  for (const part of parts.filter((part) => !flat(part))) {
    const last = digits.at(-1);
    const shared = last && overlap(last, part) > OVERLAP * Math.min(wide(last), wide(part));
    if (shared) join(last, part);
    else digits.push(part);
  }
  for (const part of parts.filter(flat)) {
    const [nearest] = digits.toSorted((a, b) => overlap(b, part) - overlap(a, part));
    // Otherwise it is a stray dot, or the beginning of the next digit.
    if (overlap(nearest, part) >= -NEAR * tallest) join(nearest, part);
  }
  return digits;
}

/**
 * @param {Part} part
 * @param {Digit} whole
 * @returns {Digit}
 */
function cut({ runs, left, right, top, bottom }, whole) {
  const [width, height] = [right - left, bottom - top];
  const ink = new Uint8Array(width * height);
  for (const { y, from, to } of runs) {
    const row = whole.ink.subarray(y * whole.width + from, y * whole.width + to);
    ink.set(row, (y - top) * width + from - left);
  }
  const [across, down] = [whole.left, whole.top];
  return { ink, width, height, left: across + left, right: across + right, top: down + top };
}
