// @ts-check
/**
 * Finds what mattered for an answer: classifies the picture many times, each time with a grey
 * square over another part. Where the square lowers the probability, something mattered. (M. D.
 * Zeiler and R. Fergus, Visualizing and Understanding Convolutional Networks, 2014.)
 */

/** The square's side, as a share of the picture's. */
const SHARE = 1 / 4;

/** Positions along each side. The squares overlap, so the map is finer than they are. */
export const PLACES = 9;

const GREY = 128;

/**
 * @typedef {object} Heat
 * @property {number} size
 * @property {Float32Array} drop  size * size: how far the probability falls, as the mean over the
 *   squares that cover the pixel; 0 where it rises
 * @property {number} largest     the largest fall by one square
 * @property {number} row         of that square, 0 to PLACES - 1
 * @property {number} column
 */

/**
 * @param {Uint8ClampedArray<ArrayBuffer>} pixels  RGBA, size * size: the input of the model
 * @param {number} probability  of the class, with nothing covered
 * @param {(covered: Uint8ClampedArray<ArrayBuffer>) => Promise<number>} ask  for its probability
 * @param {(done: number, total: number) => boolean} progress  returns false to stop
 * @returns {Promise<Heat | null>}  null if stopped
 */
export async function occlude(pixels, probability, ask, progress) {
  const size = Math.sqrt(pixels.length / 4);
  const side = Math.round(size * SHARE);
  const starts = Array.from({ length: PLACES }, (_, i) =>
    Math.round((i * (size - side)) / (PLACES - 1)),
  );
  const drop = new Float32Array(size * size);
  const squares = new Uint16Array(size * size);
  let [largest, row, column] = [0, 0, 0];
  let done = 0;
  for (const [i, top] of starts.entries()) {
    for (const [j, left] of starts.entries()) {
      const fall = Math.max(0, probability - (await ask(cover(pixels, size, left, top, side))));
      if (fall > largest) [largest, row, column] = [fall, i, j];
      for (let y = top; y < top + side; y++) {
        for (let x = left; x < left + side; x++) {
          drop[y * size + x] += fall;
          squares[y * size + x] += 1;
        }
      }
      if (!progress(++done, PLACES * PLACES)) return null;
    }
  }
  drop.forEach((sum, i) => (drop[i] = sum / squares[i]));
  return { size, drop, largest, row, column };
}

/**
 * @param {Uint8ClampedArray} pixels
 * @param {number} size
 * @param {number} left
 * @param {number} top
 * @param {number} side
 */
function cover(pixels, size, left, top, side) {
  const covered = new Uint8ClampedArray(pixels);
  for (let y = top; y < top + side; y++) {
    for (let at = (y * size + left) * 4, end = at + side * 4; at < end; at += 4) {
      covered.fill(GREY, at, at + 3);
    }
  }
  return covered;
}
