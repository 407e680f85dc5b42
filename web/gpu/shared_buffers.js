// @ts-check
/**
 * Buffers that programs have in common: weights, and what plans compute from them at their start. A
 * language model runs as several plans, and each of them alone would hold all weights. Python knows
 * what is the same, and gives it a number.
 */

/**
 * @typedef {object} SharedBuffer
 * @property {GPUBuffer} buffer
 * @property {number} programs  that use it
 * @property {boolean} filled  whether its content is written, or its writing is submitted
 */

export class SharedBuffers {
  constructor() {
    /** @type {Map<number, SharedBuffer>} */
    this.byNumber = new Map();
  }

  /**
   * Whether the content is there for everything that is submitted from now on.
   * @param {number | undefined} number
   */
  isFilled(number) {
    return this.#get(number)?.filled ?? false;
  }

  /**
   * Use what is there: one program more.
   * @param {number | undefined} number
   */
  take(number) {
    const shared = this.#get(number);
    if (shared) shared.programs += 1;
    return shared?.buffer;
  }

  /**
   * Share a buffer, which one program uses.
   * @param {number} number
   * @param {GPUBuffer} buffer
   */
  add(number, buffer) {
    this.byNumber.set(number, { buffer, programs: 1, filled: false });
  }

  /** @param {number | undefined} number */
  noteFilled(number) {
    const shared = this.#get(number);
    if (shared) shared.filled = true;
  }

  /**
   * One program less; the last one's buffer is destroyed.
   * @param {number} number
   */
  release(number) {
    const shared = this.#get(number);
    if (!shared) return;
    shared.programs -= 1;
    if (shared.programs) return;
    shared.buffer.destroy();
    this.byNumber.delete(number);
  }

  /** @param {number | undefined} number */
  #get(number) {
    return number === undefined ? undefined : this.byNumber.get(number);
  }
}
