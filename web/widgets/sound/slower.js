// @ts-check
/** A sound at another number of samples a second, piece by piece. */

/** Zeros of the filter on either side of its middle. */
const ZEROS = 12;
/** The highest frequency that is kept, as a share of the highest that there can be. */
const KEPT = 0.95;

/**
 * Resamples by a sinc under Hann's window (Smith, "Digital Audio Resampling Home Page"). The pieces
 * may have any length: the result is that of the whole.
 */
export class Slower {
  /** So many old samples take the time of so many new ones. */
  #old;
  #new;
  #reach;
  /** The filter at each place that a new sample has between two old ones. @type {Float32Array[]} */
  #filters = [];
  /** What later samples still depend on; the first stands #begin samples from the sound's begin. */
  #kept;
  #begin;
  /** How many new samples there were. */
  #count = 0;

  /** @param {number} from  samples a second @param {number} to  the same of the result */
  constructor(from, to) {
    const common = divisor(from, to);
    this.#old = from / common;
    this.#new = to / common;
    const band = KEPT * Math.min(1, to / from);
    this.#reach = Math.ceil(ZEROS / band);
    for (let phase = 0; phase < this.#new; phase++) {
      const weigh = (/** @type {number} */ at) =>
        weight((at + 1 - this.#reach - phase / this.#new) * band) * band;
      this.#filters.push(Float32Array.from({ length: 2 * this.#reach }, (_, at) => weigh(at)));
    }
    this.#kept = new Float32Array(this.#reach);
    this.#begin = -this.#reach;
  }

  /**
   * @param {Float32Array} samples
   * @returns {Float32Array<ArrayBuffer>}  the new samples that depend on no later ones
   */
  add(samples) {
    const all = new Float32Array(this.#kept.length + samples.length);
    all.set(this.#kept);
    all.set(samples, this.#kept.length);
    const found = [];
    for (;;) {
      const time = this.#count * this.#old;
      const phase = time % this.#new;
      const first = (time - phase) / this.#new - this.#reach + 1 - this.#begin;
      const filter = this.#filters[phase];
      if (first + filter.length > all.length) {
        this.#kept = all.slice(first);
        this.#begin += first;
        return Float32Array.from(found);
      }
      let sum = 0;
      for (let at = 0; at < filter.length; at++) sum += all[first + at] * filter[at];
      found.push(sum);
      this.#count++;
    }
  }
}

/** @param {number} a @param {number} b @returns {number}  the largest that divides both */
const divisor = (a, b) => (b ? divisor(b, a % b) : a);

/** @param {number} time  from the filter's middle, in its zeros */
function weight(time) {
  if (Math.abs(time) >= ZEROS) return 0;
  const sinc = time ? Math.sin(Math.PI * time) / (Math.PI * time) : 1;
  return sinc * Math.cos((Math.PI * time) / ZEROS / 2) ** 2;
}
