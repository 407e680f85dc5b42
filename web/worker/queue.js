// @ts-check
/** Jobs, one after the other; and when there are none. */

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

/** Milliseconds without a question after which a worker counts as idle. */
const QUIET_MS = 500;

/** Whether anything is asked. */
export class Quiet {
  #asked = 0;
  #ended;
  #pause;

  /**
   * @param {() => Promise<unknown>} ended  resolves when all jobs so far have ended
   * @param {(ms: number) => Promise<unknown>} [pause]
   */
  constructor(ended, pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))) {
    this.#ended = ended;
    this.#pause = pause;
  }

  /** A question was asked. */
  asked() {
    this.#asked += 1;
  }

  /** Resolves when nothing is to be done, and was not for a while. */
  async idle() {
    for (;;) {
      const before = this.#asked;
      await this.#ended();
      await this.#pause(QUIET_MS);
      if (before === this.#asked) return;
    }
  }
}
