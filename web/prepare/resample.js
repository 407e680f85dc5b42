// @ts-check
/**
 * Bicubic resampling with antialiasing, as in the training of the image models: when an image
 * shrinks, the cubic is widened so that every old pixel counts. (The scaling of canvases differs
 * between browsers.)
 */

import { words } from "../i18n/messages.js";
import { PhotoError } from "./photo_error.js";
import { WEIGHING } from "./weighing.js";

/** Sharpness of the cubic. -0.5 is Catmull-Rom, which Pillow and the training of the models use. */
const A = -0.5;

/** @param {number} x */
function cubic(x) {
  const t = Math.abs(x);
  if (t < 1) return ((A + 2) * t - (A + 3)) * t * t + 1;
  if (t < 2) return (((t - 5) * t + 8) * t - 4) * A;
  return 0;
}

/**
 * @typedef {object} Taps  the old pixels that make each new one
 * @property {number} length  how many they are
 * @property {Int32Array} firsts
 * @property {Float32Array} weights  so many for each new pixel
 */

/**
 * @param {number} before  pixels on this axis
 * @param {number} after   pixels on this axis of the whole scaled image
 * @param {number} start   the first of the new pixels to compute
 * @param {number} count   how many
 * @returns {Taps}
 */
function taps(before, after, start, count) {
  const scale = before / after;
  const widen = Math.max(scale, 1);
  const length = Math.min(Math.ceil(4 * widen) + 1, before);
  const firsts = new Int32Array(count);
  const weights = new Float32Array(count * length);
  for (let i = 0; i < count; i++) {
    const middle = (start + i + 0.5) * scale;
    const from = Math.max(Math.floor(middle - 2 * widen + 0.5), 0);
    const end = Math.min(Math.floor(middle + 2 * widen + 0.5), before);
    const first = (firsts[i] = Math.min(from, before - length));
    const own = weights.subarray(i * length, (i + 1) * length);
    let sum = 0;
    for (let j = from; j < end; j++) sum += own[j - first] = cubic((j - middle + 0.5) / widen);
    for (let j = 0; j < length; j++) own[j] /= sum;
  }
  return { length, firsts, weights };
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

/** Bytes of a pixel, of one of floats, and of those that `down` reads at once. */
const [PIXEL, VECTOR, GROUP] = [4, 16, 16];

const memory = new WebAssembly.Memory({ initial: 0, maximum: 1 << 16 });

/** @type {Record<"down" | "across", (...about: number[]) => void> | undefined} */
let code;

/** The functions of weighing.js, compiled. @throws {PhotoError}  where that has no SIMD */
function compiled() {
  const bytes = Uint8Array.from(atob(WEIGHING), (letter) => letter.charCodeAt(0));
  if (!WebAssembly.validate(bytes)) throw new PhotoError(words("noSimd"));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    tallow: { memory },
  });
  return /** @type {NonNullable<typeof code>} */ (/** @type {unknown} */ (exports));
}

/**
 * @param {Uint8ClampedArray} rgba
 * @param {number} side   pixels of a row
 * @param {Taps} columns
 * @param {Taps} rows
 * @returns {Uint8ClampedArray<ArrayBuffer>}
 */
function weighed(rgba, side, columns, rows) {
  const [width, height] = [columns.firsts.length, rows.firsts.length];
  // Columns that a crop leaves out are not read.
  const left = columns.firsts[0];
  const groups = Math.ceil(((columns.firsts.at(-1) ?? 0) + columns.length - left) / 4);
  // The image, the new one, a row of floats, and what the columns and the rows are made of.
  const sizes = [rgba.length + GROUP, width * height * PIXEL, groups * 4 * VECTOR];
  sizes.push(width * 4, columns.weights.byteLength, rows.weights.byteLength);
  let end = 0;
  const offsets = sizes.map(
    (size) => (end += Math.ceil(size / 16) * 16) - Math.ceil(size / 16) * 16,
  );
  const [image, result, row, firsts, across, down] = offsets;
  const more = end - memory.buffer.byteLength;
  if (more > 0) memory.grow(Math.ceil(more / (1 << 16)));
  const { buffer } = memory;
  new Uint8ClampedArray(buffer, image).set(rgba);
  new Int32Array(buffer, firsts).set(columns.firsts.map((first) => (first - left) * VECTOR));
  new Float32Array(buffer, across).set(columns.weights);
  new Float32Array(buffer, down).set(rows.weights);
  code ??= compiled();
  for (let y = 0; y < height; y++) {
    const from = image + (rows.firsts[y] * side + left) * PIXEL;
    code.down(from, side * PIXEL, rows.length, down + y * rows.length * 4, groups, row);
    code.across(row, firsts, columns.length, across, width, result + y * width * PIXEL);
  }
  return new Uint8ClampedArray(buffer, result, width * height * PIXEL).slice();
}
