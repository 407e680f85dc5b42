// @ts-check
/** Draws ink without a canvas: 0 is paper, 255 ink. */

/** @typedef {{ink: Uint8Array<ArrayBuffer>, width: number, height: number}} Ink */

/** @param {number} width @param {number} height @returns {Ink} */
export const blank = (width, height) => ({ ink: new Uint8Array(width * height), width, height });

/**
 * Draw a filled box. right and bottom are inclusive.
 * @param {Ink} pad
 * @param {number} left
 * @param {number} top
 * @param {number} right
 * @param {number} bottom
 * @param {number} [value]
 */
export function box(pad, left, top, right, bottom, value = 255) {
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) pad.ink[y * pad.width + x] = value;
  }
  return pad;
}

/**
 * Set every pixel for which `within` is true.
 * @param {Ink} pad
 * @param {(x: number, y: number) => boolean} within
 * @param {number} value
 */
function fill(pad, within, value) {
  pad.ink.forEach((_, i) => {
    if (within(i % pad.width, Math.floor(i / pad.width))) pad.ink[i] = value;
  });
  return pad;
}

/**
 * Draw a line through points, with round ends.
 * @param {Ink} pad
 * @param {number[][]} points
 * @param {number} width
 * @param {number} [value]
 */
export function line(pad, points, width, value = 255) {
  for (let i = 1; i < points.length; i++) {
    const [[x1, y1], [x2, y2]] = [points[i - 1], points[i]];
    const [dx, dy] = [x2 - x1, y2 - y1];
    const long = dx * dx + dy * dy || 1;
    const near = (/** @type {number} */ x, /** @type {number} */ y) => {
      const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / long));
      return Math.hypot(x - x1 - along * dx, y - y1 - along * dy) <= width / 2;
    };
    fill(pad, near, value);
  }
  return pad;
}

/**
 * Draw the outline of an ellipse.
 * @param {Ink} pad
 * @param {number[]} middle
 * @param {number[]} radii  outer ones
 * @param {number} width
 */
export function ring(pad, [x0, y0], [rx, ry], width) {
  const within = (/** @type {number} */ x, /** @type {number} */ y) => {
    const at = (/** @type {number} */ less) =>
      Math.hypot((x - x0) / (rx - less), (y - y0) / (ry - less));
    return at(0) <= 1 && at(width) >= 1;
  };
  return fill(pad, within, 255);
}
