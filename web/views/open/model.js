// @ts-check
/**
 * The model that the visitor opened, as the worker knows it: by a number, under which a worker that
 * was replaced knows nothing; so its files, and what it was fed, are held here.
 */

/** @typedef {import("./files.js").Files} Files */

export class OpenModel {
  #engine;
  /** The worker's number of the model; another for every opening. */
  #id = 0;
  /** @type {Files | null} */
  #files = null;
  /** @type {import("../../worker/models/user_model.js").Feed[]} */
  #feeds = [];

  /** Whether it could not be opened for what the other files are, or are not. */
  lacking = false;

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

  /** Its files, if it waits for others. */
  get incomplete() {
    return this.lacking ? this.#files : null;
  }

  /** From now on the model is another. @param {Files} files */
  choose(files) {
    this.#id++;
    this.#files = files;
    this.lacking = false;
  }

  /** There is none any more. */
  forget() {
    this.#files = null;
  }

  /** Have the worker read its files. */
  open() {
    return this.#engine.userModel("openModel", { id: this.#id, ...this.#files });
  }

  /**
   * An action on the model. A worker that has been replaced is given the files once more, and what
   * the model was fed.
   * @param {"surveyModel" | "runModel" | "timeModel" | "compareModel"} action
   * @param {{id: number, [name: string]: any}} args  id: of the model that is meant
   */
  async ask(action, args) {
    if (action === "runModel") this.#feeds = args.feeds;
    try {
      return await this.#engine.userModel(action, args);
    } catch (error) {
      const { type } = /** @type {{type?: string}} */ (error);
      const id = this.#id;
      if (type !== "NotOpenError" || args.id !== id || !this.#files) throw error;
      await this.open();
      if (action === "timeModel" || action === "compareModel") {
        await this.#engine.userModel("runModel", { id, feeds: this.#feeds });
      }
      return this.#engine.userModel(action, args);
    }
  }
}
