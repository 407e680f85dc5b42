// @ts-check
/**
 * The visitor's model, which the worker knows by an id. Its files and its last inputs are kept
 * here, because a replaced worker has lost them.
 */

/** @typedef {import("./files.js").Files} Files */

export class OpenModel {
  #engine;
  /** The worker's id of the model, new for every opening. */
  #id = 0;
  /** @type {Files | null} */
  #files = null;
  /** @type {import("../../engine/types.js").Feed[]} */
  #feeds = [];

  /** Whether the model lacks files, or could not be opened with the ones it has. */
  mayNeedFiles = false;

  /** Whether the last question can be stopped without a new worker. */
  stopsSoon = false;

  /** @param {import("../../engine/engine.js").Engine} engine */
  constructor(engine) {
    this.#engine = engine;
  }

  get id() {
    return this.#id;
  }

  get files() {
    return this.#files;
  }

  /** Its files if more files may complete them, otherwise null. */
  get filesToComplete() {
    return this.mayNeedFiles ? this.#files : null;
  }

  /** Take another model. @param {Files} files */
  choose(files) {
    this.#id++;
    this.#files = files;
    this.mayNeedFiles = false;
  }

  /** Forget the model. */
  forget() {
    this.#files = null;
  }

  /** Open the model in the worker. @param {AbortSignal} [signal] */
  open(signal) {
    return this.#engine.ask("open.openModel", { id: this.#id, ...this.#files }, { signal });
  }

  /**
   * Call an action on the model. A replaced worker gets the files and the last inputs again.
   * @param {"surveyModel" | "runModel" | "timeModel" | "compareModel"} action
   * @param {{id: number, [name: string]: any}} args  id: of the model
   * @param {AbortSignal} [signal]  of an action that stops between two of its steps
   */
  async ask(action, args, signal) {
    if (action === "runModel") this.#feeds = args.feeds;
    this.stopsSoon = Boolean(signal);
    try {
      return await this.#call(action, args, signal);
    } catch (error) {
      const { type } = /** @type {{type?: string}} */ (error);
      const id = this.#id;
      if (type !== "NotOpenError" || args.id !== id || !this.#files) throw error;
      await this.open(signal);
      if (action === "timeModel" || action === "compareModel") {
        await this.#call("runModel", { id, feeds: this.#feeds });
      }
      return this.#call(action, args, signal);
    }
  }

  /**
   * @param {string} action
   * @param {Record<string, unknown>} args
   * @param {AbortSignal} [signal]
   */
  #call(action, args, signal) {
    return this.#engine.ask(`open.${action}`, args, { signal, proves: action === "runModel" });
  }
}
