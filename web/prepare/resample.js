// @ts-check
/**
 * Bicubic resampling with antialiasing, as in the training of the image models: when an image
 * shrinks, the cubic is widened so that every old pixel counts. (The scaling of canvases differs
 * between browsers.)
 */

/** Sharpness of the cubic. -0.5 is Catmull-Rom, which Pillow and the training of the models use. */
const A = -0.5;

/** @param {number} x */
function cubic(x) {
  const t = Math.abs(x);
  if (t < 1) return ((A + 2) * t - (A + 3)) * t * t + 1;
  if (t < 2) return (((t - 5) * t + 8) * t - 4) * A;
  return 0;
}

/** @typedef {{first: number, weights: Float32Array}} Taps  the old pixels that make a new one */

/**
 * @param {number} before  pixels on this axis
 * @param {number} after   pixels on this axis of the whole scaled image
 * @param {number} start   the first of the new pixels to compute
 * @param {number} count   how many
 * @returns {Taps[]}
 */
function taps(before, after, start, count) {
  const scale = before / after;
  const widen = Math.max(scale, 1);
  return Array.from({ length: count }, (_, i) => {
    const middle = (start + i + 0.5) * scale;
    const first = Math.max(Math.floor(middle - 2 * widen + 0.5), 0);
    const end = Math.min(Math.floor(middle + 2 * widen + 0.5), before);
    const weights = new Float32Array(end - first);
    let sum = 0;
    for (let j = 0; j < weights.length; j++) {
      weights[j] = cubic((first + j - middle + 0.5) / widen);
      sum += weights[j];
    }
    for (let j = 0; j < weights.length; j++) weights[j] /= sum;
    return { first, weights };
  });
}

/**
 * Scale a square image to resized × resized, and return its middle size × size.
 * @param {Uint8ClampedArray} rgba  side * side * 4, opaque
 * @param {number} side
 * @param {number} resized
 * @param {number} size
 * @returns {Uint8ClampedArray<ArrayBuffer>}  size * size * 4, opaque
 */
export function scaleAndCrop(rgba, side, resized, size) {
  const all = taps(side, resized, Math.round((resized - size) / 2), size);
  return weighed(rgba, side, all, all);
}

/**
 * Scale a whole image to any size.
 * @param {ImageData} image  opaque
 * @param {number} width
 * @param {number} height
 * @returns {Uint8ClampedArray<ArrayBuffer>}  width * height * 4, opaque
 */
export function scale(image, width, height) {
  const columns = taps(image.width, width, 0, width);
  return weighed(image.data, image.width, columns, taps(image.height, height, 0, height));
}

/**
 * @param {Uint8ClampedArray} rgba
 * @param {number} side   pixels of a row
 * @param {Taps[]} columns
 * @param {Taps[]} rows
 */
function weighed(rgba, side, columns, rows) {
  const size = columns.length;
  // The rows that a crop leaves out are not scaled across.
  const top = rows[0].first;
  const last = rows[rows.length - 1];
  const bottom = last.first + last.weights.length;
  const across = new Float32Array((bottom - top) * size * 3);
  for (let y = top, to = 0; y < bottom; y++) {
    for (let x = 0; x < size; x++, to += 3) {
      const { first, weights } = columns[x];
      let [red, green, blue] = [0, 0, 0];
      for (let j = 0, from = (y * side + first) * 4; j < weights.length; j++, from += 4) {
        const weight = weights[j];
        red += weight * rgba[from];
        green += weight * rgba[from + 1];
        blue += weight * rgba[from + 2];
      }
      across[to] = red;
      across[to + 1] = green;
      across[to + 2] = blue;
    }
  }
  const result = new Uint8ClampedArray(size * rows.length * 4).fill(255);
  const row = size * 3;
  for (let y = 0, to = 0; y < rows.length; y++) {
    const { first, weights } = rows[y];
    for (let x = 0; x < row; x += 3, to += 4) {
      let [red, green, blue] = [0, 0, 0];
      for (let j = 0, from = (first - top) * row + x; j < weights.length; j++, from += row) {
        const weight = weights[j];
        red += weight * across[from];
        green += weight * across[from + 1];
        blue += weight * across[from + 2];
      }
      result[to] = red; // the array rounds and clamps
      result[to + 1] = green;
      result[to + 2] = blue;
    }
  }
  return result;
}
