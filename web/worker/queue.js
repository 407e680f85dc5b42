// @ts-check
/** Jobs, one after the other. */

export class Queue {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * Run a job after all earlier ones, whether those failed or not.
   * @template T
   * @param {() => Promise<T>} job
   * @returns {Promise<T>}
   */
  add(job) {
    const mine = this.#last.then(job);
    this.#last = mine.catch(() => {});
    return mine;
  }

  /** Resolves when all jobs so far have ended. @returns {Promise<unknown>} */
  ended() {
    return this.#last;
  }
}
