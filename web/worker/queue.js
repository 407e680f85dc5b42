// @ts-check
/** Runs jobs one after the other, and knows when there are none. */

export class Queue {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * Run a job after all earlier ones, even if those failed.
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

/** Resolves after the messages that have arrived by now, and what they ask for at once. */
export function letMessagesIn() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(0); // a timer would wait for 4 ms
  });
}

/** A worker counts as idle after this many milliseconds without a question. */
const QUIET_MS = 500;

/** Waits until the worker is idle. */
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

  /** Resolves when there has been nothing to do for a while. */
  async idle() {
    for (;;) {
      const before = this.#asked;
      await this.#ended();
      await this.#pause(QUIET_MS);
      if (before === this.#asked) return;
    }
  }
}
