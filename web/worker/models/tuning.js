// @ts-check
/** Tunes one model at a time, while answers continue. Tuning can be stopped. */

/**
 * @typedef {object} Tuned  the result of tune in py/tallow_page/app.py, in part
 * @property {number} measured
 *
 * @typedef {object} Worker  provided by main.js
 * @property {() => Promise<unknown>} settled  resolves when no change of the device is under way
 * @property {() => number} deviceChanges  how often the device was changed
 * @property {(model: string, progress: (done: number, total: number) => boolean) => Promise<Tuned>} tune
 *   times the kernels that could serve a model, op by op, until `progress` returns false
 * @property {(model: string, wanted: () => boolean) => Promise<object | null>} reload  loads the
 *   model again in turn, if it is still wanted then
 * @property {(done: number, total: number) => void} progress
 */

export class Tuning {
  #worker;
  /** @type {{stop: boolean, ended: Promise<Tuned>} | null} */
  #current = null;

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /**
   * Tune a model, then load it again with the fastest kernels.
   * @param {string} model
   * @returns {Promise<Tuned & {stopped: boolean, facts: object | null}>}
   */
  async run(model) {
    if (this.#current) throw new Error("A model is being tuned already.");
    const worker = this.#worker;
    /** @type {{stop: boolean, ended: Promise<any>}} */
    const run = { stop: false, ended: Promise.resolve() };
    this.#current = run;
    let tuned;
    let changesBefore = worker.deviceChanges();
    try {
      await worker.settled(); // a change of the device waits until the tuning is over
      changesBefore = worker.deviceChanges();
      run.ended = worker.tune(model, (done, total) => {
        worker.progress(done, total);
        return !run.stop;
      });
      tuned = /** @type {Tuned} */ (await run.ended);
    } finally {
      this.#current = null;
    }
    const { stop: stopped } = run;
    const wanted = () => tuned.measured > 0 && changesBefore === worker.deviceChanges();
    return { ...tuned, stopped, facts: await worker.reload(model, wanted) };
  }

  /** Stop, and resolve when tuning has ended. Keeps what was measured so far. */
  async stop() {
    if (!this.#current) return;
    this.#current.stop = true;
    await this.#current.ended.catch(() => {}); // handled by the caller of run()
  }
}
