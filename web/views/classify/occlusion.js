// @ts-check
/**
 * What mattered for an answer: the picture is asked about again and again, each time with a grey
 * square over another place. Where the square makes the answer less probable, something mattered.
 * (M. D. Zeiler and R. Fergus, Visualizing and Understanding Convolutional Networks, 2014.)
 */

/** The square's side, as a share of the picture's. */
const SHARE = 1 / 4;

/** Places along each side; the squares overlap, so that the map is finer than they are. */
export const PLACES = 9;

const GREY = 128;

/**
 * @typedef {object} Heat
 * @property {number} size
 * @property {Float32Array} drop  size * size: by how much the answer's probability falls, on the mean
 *   of the squares that cover the pixel; 0 where it rises
 * @property {number} most        the largest fall by one square
 * @property {number} row         of that square, 0 to PLACES - 1
 * @property {number} column
 */

/**
 * @param {Uint8ClampedArray<ArrayBuffer>} pixels  RGBA, size * size, as the model takes them
 * @param {number} probability  of the class, with nothing covered
 * @param {(covered: Uint8ClampedArray<ArrayBuffer>) => Promise<number>} ask  its probability now
 * @param {(done: number, total: number) => boolean} progress  false ends it
 * @returns {Promise<Heat | null>}  null if it was ended
 */
export async function occlude(pixels, probability, ask, progress) {
  const size = Math.sqrt(pixels.length / 4);
  const side = Math.round(size * SHARE);
  const starts = Array.from({ length: PLACES }, (_, i) =>
    Math.round((i * (size - side)) / (PLACES - 1)),
  );
  const drop = new Float32Array(size * size);
  const squares = new Uint16Array(size * size);
  let [most, row, column] = [0, 0, 0];
  let done = 0;
  for (const [i, top] of starts.entries()) {
    for (const [j, left] of starts.entries()) {
      const fall = Math.max(0, probability - (await ask(cover(pixels, size, left, top, side))));
      if (fall > most) [most, row, column] = [fall, i, j];
      for (let y = top; y < top + side; y++) {
        for (let x = left; x < left + side; x++) {
          drop[y * size + x] += fall;
          squares[y * size + x] += 1;
        }
      }
      if (!progress(++done, PLACES * PLACES)) return null;
    }
  }
  drop.forEach((sum, at) => (drop[at] = sum / squares[at]));
  return { size, drop, most, row, column };
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
