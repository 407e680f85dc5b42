// @ts-check
/**
 * Digits that touch are one part of the ink (split.js), which is taken apart into its strokes: a hand
 * seldom draws two digits in one. Neighbouring strokes are put together in every way; the network
 * says how much each piece looks like a digit, and the most likely row of them is the answer.
 * (Segmentation by recognition: R. G. Casey and E. Lecolinet, A Survey of Methods and Strategies in
 * Character Segmentation, 1996.)
 *
 * Cuts through a stroke are not tried. Where its columns hold the least ink they found 12 % of the
 * numbers drawn without lifting the pen, and took one in six flat, wide digits for two.
 */

import { FAINT } from "./digit.js";

/**
 * @typedef {import("./split.js").Digit} Digit
 * @typedef {{from: number, to: number, digit: Digit}} Piece  strokes from (inclusive) to (exclusive)
 */

/** Width of a part, as a share of its height, from which on it may be several digits. */
const WIDE = 0.35;

/** Shares of the height of the part: no digit in a row is wider, nor flatter. */
const WIDEST = 1.2;
const FLATTEST = 0.5;

/** Two digits share at most this much of the width of the narrower one; a 7's bar shares more. */
const OVERLAP = 0.6;

/** Strokes of a part, at most: what is scribbled is no number, and each piece is asked about. */
const MOST = 9;

/** A digit costs as much as it is unlikely, and this for each width beyond the usual one. */
const WIDE_COST = 4;
const USUAL = 0.8;

/** What to leave together costs: below this width less than nothing, beyond it more. */
const WHOLE = 0.7;

/**
 * The pieces of a part that could each be a digit.
 * @param {Digit} part
 * @param {Digit[]} strokes  the ink of each stroke alone
 * @returns {Piece[]}  the whole part alone where there is no doubt
 */
export function piecesOf(part, strokes) {
  const own = part.width < WIDE * part.height ? [] : strokes.flatMap((each) => shared(part, each));
  const count = own.length;
  if (count < 2 || count > MOST) return [{ from: 0, to: count, digit: part }];
  own.sort((a, b) => a.left + a.right - b.left - b.right);
  /** @type {Piece[]} */
  const pieces = [];
  for (let from = 0; from < count; from++) {
    for (let to = from + 1; to <= count; to++) {
      const whole = to - from === count;
      const digit = whole ? part : together(own.slice(from, to));
      const fits = digit.width <= WIDEST * part.height && digit.height >= FLATTEST * part.height;
      if (whole || fits) pieces.push({ from, to, digit });
    }
  }
  return inRows(pieces, count);
}

/**
 * Those that belong to a row from the first stroke to the last.
 * @param {Piece[]} pieces  in the order of `from`
 * @param {number} count
 * @returns {Piece[]}
 */
function inRows(pieces, count) {
  /** @type {Set<Piece>} */
  const begun = new Set();
  for (const piece of pieces) {
    if (piece.from === 0 || [...begun].some((before) => follows(before, piece))) begun.add(piece);
  }
  /** @type {Set<Piece>} */
  const ended = new Set();
  for (const piece of [...begun].reverse()) {
    if (piece.to === count || [...ended].some((after) => follows(piece, after))) ended.add(piece);
  }
  return [...ended].reverse();
}

/**
 * May the second be the digit after the first?
 * @param {Piece} one
 * @param {Piece} other
 */
function follows({ to, digit: one }, { from, digit: other }) {
  const overlap = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  return to === from && overlap <= OVERLAP * Math.min(one.width, other.width);
}

/**
 * The most likely row of digits.
 * @param {Digit} part
 * @param {Piece[]} pieces  of piecesOf()
 * @param {number[][]} shares  of each piece: the probability of each digit
 * @returns {number[]}  the places of its pieces, from left to right
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
  const whole = to - from === count ? WIDE_COST * (width - WHOLE) : 0;
  return unlikely + WIDE_COST * Math.max(0, width - USUAL) + whole;
}

/**
 * What is left of a stroke in a part, after the eraser.
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
      const at = (y - stroke.top) * stroke.width + x - stroke.left;
      const there = part.ink[(y - part.top) * part.width + x - part.left];
      ink[at] = Math.min(stroke.ink[at], there);
      found ||= ink[at] >= FAINT;
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
