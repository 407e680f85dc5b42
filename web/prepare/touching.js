// @ts-check
/**
 * Separates digits that touch, which are one part of the ink (split.js), by their strokes: people
 * seldom draw two digits in one stroke. Neighbouring strokes are combined in every way, the network
 * rates how much each piece looks like a digit, and the most likely row of pieces is the answer.
 * (Segmentation by recognition: R. G. Casey and E. Lecolinet, A Survey of Methods and Strategies in
 * Character Segmentation, 1996.)
 *
 * Cuts through a stroke are not tried. Cutting at the columns with the least ink found only 12 % of
 * the numbers drawn without lifting the pen, and split one in six flat, wide digits.
 */

import { FAINT } from "./digit.js";

/**
 * @typedef {import("./split.js").Digit} Digit
 * @typedef {{from: number, to: number, digit: Digit}} Piece  strokes from (inclusive) to (exclusive)
 */

/** A part may contain several digits if its width is at least this share of its height. */
const MIN_WIDTH = 0.35;

/** Limits for a digit in a row, as shares of the height of the part. */
const MAX_DIGIT_WIDTH = 1.2;
const MIN_DIGIT_HEIGHT = 0.5;

/** Two digits overlap by at most this share of the narrower one; the bar of a 7 overlaps more. */
const MAX_OVERLAP = 0.6;

/** A part with more strokes is a scribble, and would need too many calls of the network. */
const MAX_STROKES = 9;

/**
 * The cost of a digit is its unlikelihood, plus this for every unit of width beyond the usual one.
 */
const WIDE_COST = 4;
const USUAL_WIDTH = 0.8;

/** A part that stays whole gets a bonus below this width, and a penalty above. */
const WHOLE_WIDTH = 0.7;

// Why: docs/decisions/page.md, "Touching digits are separated by strokes, never through one"
/**
 * The pieces of a part that could each be a digit.
 * @param {Digit} part
 * @param {Digit[]} strokes  the ink of each stroke alone
 * @returns {Piece[]}  only the whole part if there is no doubt
 */
export function piecesOf(part, strokes) {
  const own =
    part.width < MIN_WIDTH * part.height ? [] : strokes.flatMap((each) => shared(part, each));
  const count = own.length;
  if (count < 2 || count > MAX_STROKES) return [{ from: 0, to: count, digit: part }];
  own.sort((a, b) => a.left + a.right - b.left - b.right);
  /** @type {Piece[]} */
  const pieces = [];
  for (let from = 0; from < count; from++) {
    for (let to = from + 1; to <= count; to++) {
      const whole = to - from === count;
      const digit = whole ? part : together(own.slice(from, to));
      const fits =
        digit.width <= MAX_DIGIT_WIDTH * part.height &&
        digit.height >= MIN_DIGIT_HEIGHT * part.height;
      if (whole || fits) pieces.push({ from, to, digit });
    }
  }
  return inRows(pieces, count);
}

/**
 * The pieces that belong to a row from the first stroke to the last.
 * @param {Piece[]} pieces  in the order of `from`
 * @param {number} count
 * @returns {Piece[]}
 */
function inRows(pieces, count) {
  /** @type {Set<Piece>} */
  const reachable = new Set();
  for (const piece of pieces) {
    if (piece.from === 0 || [...reachable].some((before) => follows(before, piece)))
      reachable.add(piece);
  }
  /** @type {Set<Piece>} */
  const complete = new Set();
  for (const piece of [...reachable].reverse()) {
    if (piece.to === count || [...complete].some((after) => follows(piece, after)))
      complete.add(piece);
  }
  return [...complete].reverse();
}

/**
 * Whether the second piece may be the digit after the first.
 * @param {Piece} one
 * @param {Piece} other
 */
function follows({ to, digit: one }, { from, digit: other }) {
  const overlap = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  return to === from && overlap <= MAX_OVERLAP * Math.min(one.width, other.width);
}

/**
 * The most likely row of digits.
 * @param {Digit} part
 * @param {Piece[]} pieces  of piecesOf()
 * @param {number[][]} shares  of each piece: the probability of each digit
 * @returns {number[]}  the indices of its pieces, from left to right
 */
export function likeliest(part, pieces, shares) {
  const count = Math.max(...pieces.map(({ to }) => to));
  /** The best row that ends with each piece. @type {{cost: number, row: number[]}[]} */
  const rows = [];
  pieces.forEach((piece, i) => {
    const before = rows.filter(({ row }) => follows(pieces[row[row.length - 1]], piece));
    const best = piece.from === 0 ? { cost: 0, row: [] } : before.sort(byCost)[0];
    rows.push({ cost: best.cost + costOf(part, piece, count, shares[i]), row: [...best.row, i] });
  });
  return rows.filter(({ row }) => pieces[row[row.length - 1]].to === count).sort(byCost)[0].row;
}

/** @param {{cost: number}} a @param {{cost: number}} b */
const byCost = (a, b) => a.cost - b.cost;

/**
 * @param {Digit} part
 * @param {Piece} piece
 * @param {number} count  of the part's strokes
 * @param {number[]} shares
 */
function costOf(part, { from, to, digit }, count, shares) {
  const width = digit.width / part.height;
  const unlikely = -Math.log(Math.max(...shares, Number.MIN_VALUE));
  const whole = to - from === count ? WIDE_COST * (width - WHOLE_WIDTH) : 0;
  return unlikely + WIDE_COST * Math.max(0, width - USUAL_WIDTH) + whole;
}

/**
 * The ink of a stroke in a part, without what was erased.
 * @param {Digit} part
 * @param {Digit} stroke
 * @returns {Digit[]}  one, or none
 */
function shared(part, stroke) {
  const ink = new Uint8Array(stroke.ink.length);
  let found = false;
  const right = Math.min(stroke.right, part.right);
  const bottom = Math.min(stroke.top + stroke.height, part.top + part.height);
  for (let y = Math.max(stroke.top, part.top); y < bottom; y++) {
    for (let x = Math.max(stroke.left, part.left); x < right; x++) {
      const index = (y - stroke.top) * stroke.width + x - stroke.left;
      const value = part.ink[(y - part.top) * part.width + x - part.left];
      ink[index] = Math.min(stroke.ink[index], value);
      found ||= ink[index] >= FAINT;
    }
  }
  return found ? [{ ...stroke, ink }] : [];
}

/**
 * @param {Digit[]} strokes
 * @returns {Digit}
 */
function together(strokes) {
  const left = Math.min(...strokes.map((stroke) => stroke.left));
  const top = Math.min(...strokes.map((stroke) => stroke.top));
  const right = Math.max(...strokes.map((stroke) => stroke.right));
  const width = right - left;
  const height = Math.max(...strokes.map((stroke) => stroke.top + stroke.height)) - top;
  const ink = new Uint8Array(width * height);
  for (const stroke of strokes) {
    for (let y = 0; y < stroke.height; y++) {
      const to = (y + stroke.top - top) * width + stroke.left - left;
      const from = y * stroke.width;
      for (let x = 0; x < stroke.width; x++) {
        ink[to + x] = Math.max(ink[to + x], stroke.ink[from + x]);
      }
    }
  }
  return { ink, width, height, left, right, top };
}
