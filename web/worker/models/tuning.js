// @ts-check
/** Tuning of one model at a time, which goes on while answers do, and can be ended. */

/**
 * @typedef {object} Tuned  what py/tallow/app.py says, in part
 * @property {number} measured
 *
 * @typedef {object} Worker  what main.js lends
 * @property {() => Promise<unknown>} settled  resolves when no change of the device is under way
 * @property {() => number} era  how often the device was changed
 * @property {(model: string, progress: (done: number, total: number) => boolean) => Promise<Tuned>} tune
 *   times the kernels that could serve a model, one op after the other, until progress says no
 * @property {(model: string, wanted: () => boolean) => Promise<object | null>} again  loads it once
 *   more in its turn, if it is wanted then
 * @property {(done: number, total: number) => void} progress  hears how far it is
 */

export class Tuning {
  #worker;
  /** @type {{stop: boolean, over: Promise<Tuned>} | null} */
  #now = null;

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /**
   * Tune a model, then load it again with the kernels that won.
   * @param {string} model
   * @returns {Promise<Tuned & {stopped: boolean, facts: object | null}>}
   */
  async run(model) {
    if (this.#now) throw new Error("A model is being tuned already.");
    const worker = this.#worker;
    /** @type {{stop: boolean, over: Promise<any>}} */
    const mine = { stop: false, over: Promise.resolve() };
    this.#now = mine;
    let tuned;
    let since = worker.era();
    try {
      await worker.settled(); // a change of the device waits until the tuning is over
      since = worker.era();
      mine.over = worker.tune(model, (done, total) => {
        worker.progress(done, total);
        return !mine.stop;
      });
      tuned = /** @type {Tuned} */ (await mine.over);
    } finally {
      this.#now = null;
    }
    const { stop: stopped } = mine;
    const wanted = () => tuned.measured > 0 && since === worker.era();
    return { ...tuned, stopped, facts: await worker.again(model, wanted) };
  }

  /** End it, and wait until it has ended. What was measured so far is kept. */
  async stop() {
    if (!this.#now) return;
    this.#now.stop = true;
    await this.#now.over.catch(() => {}); // who asked for it hears of that
  }
}
