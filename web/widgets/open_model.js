// @ts-check
/**
 * The model that the visitor opened, as the worker knows it: by a number, under which a worker that
 * was replaced knows nothing; so its files, and what it was fed, are held here.
 */

/**
 * @typedef {{file: File, others: File[]}} Files  the model's own, and those beside it
 */

export class OpenModel {
  #engine;
  /** The worker's number of the model; another for every opening. */
  #id = 0;
  /** @type {Files | null} */
  #files = null;
  /** @type {import("../worker/opened.js").Feed[]} */
  #feeds = [];

  /** Whether it could not be opened for what the other files are, or are not. */
  lacking = false;

  /** @param {import("../engine.js").Engine} engine */
  constructor(engine) {
    this.#engine = engine;
  }

  get id() {
    return this.#id;
  }

  get files() {
    return this.#files;
  }

  /**
   * What there is to open when these files come: the model among them. Files without one join the
   * model that lacks some.
   * @param {File[]} files
   * @returns {Files | null}  null where no file is a model
   */
  among(files) {
    const model = files.find(({ name }) => /\.onnx$/i.test(name));
    const joined = !model && this.lacking ? this.#files : null;
    const file = model ?? joined?.file ?? (files.length === 1 && files[0]);
    if (!file) return null;
    const names = new Set(files.map(({ name }) => name));
    const kept = joined?.others.filter(({ name }) => !names.has(name)) ?? [];
    return { file, others: [...kept, ...files.filter((each) => each !== file)] };
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
    return this.#engine.opened("openModel", { id: this.#id, ...this.#files });
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
      return await this.#engine.opened(action, args);
    } catch (error) {
      const { type } = /** @type {{type?: string}} */ (error);
      const id = this.#id;
      if (type !== "NotOpenError" || args.id !== id || !this.#files) throw error;
      await this.open();
      if (action === "timeModel" || action === "compareModel") {
        await this.#engine.opened("runModel", { id, feeds: this.#feeds });
      }
      return this.#engine.opened(action, args);
    }
  }
}
