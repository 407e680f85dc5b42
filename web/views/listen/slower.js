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
  #step;
  #band;
  #reach;
  /** What later samples still depend on. */
  #kept;
  /** Where in #kept the next new sample lies. */
  #at;

  /** @param {number} from  samples a second @param {number} to  the same of the result */
  constructor(from, to) {
    this.#step = from / to;
    this.#band = KEPT * Math.min(1, to / from);
    this.#reach = Math.ceil(ZEROS / this.#band);
    this.#kept = new Float32Array(this.#reach);
    this.#at = this.#reach;
  }

  /**
   * @param {Float32Array} samples
   * @returns {Float32Array<ArrayBuffer>}  the new samples that depend on no later ones
   */
  add(samples) {
    const all = new Float32Array(this.#kept.length + samples.length);
    all.set(this.#kept);
    all.set(samples, this.#kept.length);
    const room = all.length - this.#reach - this.#at;
    const found = new Float32Array(Math.max(0, Math.ceil(room / this.#step)));
    for (let index = 0; index < found.length; index++, this.#at += this.#step) {
      const middle = Math.floor(this.#at);
      let sum = 0;
      for (let near = middle - this.#reach + 1; near <= middle + this.#reach; near++)
        sum += all[near] * this.#weight(near - this.#at);
      found[index] = sum;
    }
    const first = Math.max(0, Math.floor(this.#at) - this.#reach);
    this.#kept = all.slice(first);
    this.#at -= first;
    return found;
  }

  /** @param {number} time  in old samples */
  #weight(time) {
    const turn = time * this.#band;
    if (Math.abs(turn) >= ZEROS) return 0;
    const sinc = turn ? Math.sin(Math.PI * turn) / (Math.PI * turn) : 1;
    return this.#band * sinc * Math.cos((Math.PI * turn) / ZEROS / 2) ** 2;
  }
}
