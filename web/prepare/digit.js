// @ts-check
/**
 * Turns ink into the input of the digit model, in the same way as MNIST: cropped to the ink, fitted
 * into 20×20 with its aspect ratio, and centred in 28×28 by its centre of mass.
 */

/** Side of the picture, and of the box that the digit is fitted into. */
export const SIDE = 28;
const BOX = 20;

/** Fainter ink is only the soft edge of a stroke. */
export const FAINT = 16;

/**
 * @param {Uint8Array | Uint8ClampedArray} ink  width * height values, 0 (paper) to 255 (ink)
 * @param {number} width
 * @param {number} height
 * @returns {Float32Array<ArrayBuffer> | null}  28 * 28 values, 0 (paper) to 1 (ink); null if there
 *   is no ink
 */
export function prepareDigit(ink, width, height) {
  const box = boundingBox(ink, width, height);
  if (!box) return null;
  const scale = BOX / Math.max(box.width, box.height);
  const columns = Math.max(1, Math.round(box.width * scale));
  const rows = Math.max(1, Math.round(box.height * scale));
  const digit = shrink(ink, width, box, columns, rows);
  return centre(digit, columns, rows);
}

/** @typedef {{left: number, top: number, width: number, height: number}} Box */

/**
 * @param {Uint8Array | Uint8ClampedArray} ink
 * @param {number} width
 * @param {number} height
 * @returns {Box | null}
 */
function boundingBox(ink, width, height) {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (ink[at] < FAINT) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/**
 * Scale the box to columns × rows. Each new pixel is the mean of the area that it covers.
 * @param {Uint8Array | Uint8ClampedArray} ink
 * @param {number} stride  width of the whole picture
 * @param {Box} box
 * @param {number} columns
 * @param {number} rows
 * @returns {Float32Array}  0..1
 */
function shrink(ink, stride, box, columns, rows) {
  const across = coverage(box.width, columns);
  const down = coverage(box.height, rows);
  const digit = new Float32Array(columns * rows);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      let sum = 0;
      for (const [dy, high] of down[y]) {
        const line = (box.top + dy) * stride + box.left;
        for (const [dx, wide] of across[x]) sum += high * wide * ink[line + dx];
      }
      digit[y * columns + x] = sum / 255;
    }
  }
  return digit;
}

/**
 * For each new pixel on one axis, the old pixels that it covers with their shares, which add up to
 * 1.
 * @param {number} before
 * @param {number} after
 * @returns {[at: number, share: number][][]}
 */
function coverage(before, after) {
  const step = before / after;
  return Array.from({ length: after }, (_, i) => {
    const [from, to] = [i * step, (i + 1) * step];
    /** @type {[number, number][]} */
    const shares = [];
    for (let at = Math.floor(from); at < Math.min(to, before); at++) {
      const share = (Math.min(at + 1, to) - Math.max(at, from)) / step;
      if (share > 0) shares.push([at, share]);
    }
    return shares;
  });
}

/**
 * @param {Float32Array} digit  0..1
 * @param {number} columns
 * @param {number} rows
 * @returns {Float32Array<ArrayBuffer>}
 */
function centre(digit, columns, rows) {
  let [sum, sumX, sumY] = [0, 0, 0];
  for (let y = 0, at = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++, at++) {
      sum += digit[at];
      sumX += digit[at] * (x + 0.5);
      sumY += digit[at] * (y + 0.5);
    }
  }
  const left = startOf(sumX / sum, columns);
  const top = startOf(sumY / sum, rows);
  const picture = new Float32Array(SIDE * SIDE);
  for (let y = 0; y < rows; y++) {
    const row = digit.subarray(y * columns, (y + 1) * columns);
    picture.set(row, (top + y) * SIDE + left);
  }
  return picture;
}

/**
 * The start of the digit on one axis. In all of MNIST the centre of mass lies in the pixel just
 * after the middle, 14 to 15, hence the ceiling. A lopsided digit is not moved beyond the edge.
 * @param {number} mass  the centre of mass, from the digit's own start
 * @param {number} length  of the digit
 */
function startOf(mass, length) {
  return Math.min(Math.max(Math.ceil(SIDE / 2 - mass), 0), SIDE - length);
}
