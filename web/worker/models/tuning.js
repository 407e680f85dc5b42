// @ts-check
/** Tunes one model at a time, while answers continue. */

/**
 * @typedef {import("../serve.js").Context} Context
 * @typedef {import("../../engine/types.js").Tuned} Tuned
 *
 * @typedef {object} Worker  provided by main.js
 * @property {() => Promise<unknown>} settled  resolves when no change of the device is under way
 * @property {() => number} deviceChanges  how often the device was changed
 * @property {(model: string, context: Context) => Promise<Tuned>} tune  times the kernels that
 *   could serve a model, op by op, and reports what was measured so far
 * @property {(model: string, wanted: () => boolean) => Promise<object | null>} reload  loads the
 *   model again in turn, if it is still wanted then
 */

export class Tuning {
  #worker;
  /** @type {{stop: AbortController, ended: Promise<unknown>} | null} */
  #current = null;

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /**
   * Tune a model, then load it again with the fastest kernels.
   * @param {string} model
   * @param {Context} context
   * @returns {Promise<Tuned & {facts: object | null}>}
   * @throws  the signal's reason if the page stopped it: what was measured is kept, and the model
   *   is as it was
   */
  async run(model, { signal, progress }) {
    if (this.#current) throw new Error("A model is being tuned already.");
    const worker = this.#worker;
    const stop = new AbortController();
    const run = { stop, ended: /** @type {Promise<unknown>} */ (Promise.resolve()) };
    this.#current = run;
    /** What was measured so far. @type {any} */
    let tuned;
    let changesBefore = worker.deviceChanges();
    try {
      await worker.settled(); // a change of the device waits until the tuning is over
      changesBefore = worker.deviceChanges();
      const working = worker.tune(model, {
        signal: AbortSignal.any([signal, stop.signal]),
        progress: (report) => progress((tuned = report)),
      });
      run.ended = working;
      tuned = await working;
    } catch (error) {
      if (error !== stop.signal.reason || !tuned) throw error;
    } finally {
      this.#current = null;
    }
    const wanted = () => tuned.measured > 0 && changesBefore === worker.deviceChanges();
    return { ...tuned, facts: await worker.reload(model, wanted) };
  }

  /** Stop, and resolve when tuning has ended. Keeps what was measured so far. */
  async stop() {
    if (!this.#current) return;
    this.#current.stop.abort();
    await this.#current.ended.catch(() => {}); // handled by the caller of run()
  }
}
