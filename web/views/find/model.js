// @ts-check
/** The choice of the model: one that the site has, or files of the visitor's. */

import { words, wordsOf } from "../../i18n/messages.js";
import { show } from "../../i18n/show.js";
import { digest, hex } from "../../shared/bytes.js";
import { published } from "../../site/published.js";

/** Of the files' size: what a model of them holds; weights of 16 bits are widened. */
const MEMORY = 2;

/** The value of the option for files of the visitor's. */
const OWN = "";

export class ModelChoice {
  #find;
  #changed;
  /** @type {import("../../site/published.js").Published[]} */
  #published = [];
  /** The visitor's files. @type {File[]} */
  #files = [];
  #chose = false;

  /**
   * @param {(name: string) => any} hook
   * @param {() => void} changed  called when another model is chosen
   */
  constructor(hook, changed) {
    this.#find = hook;
    this.#changed = changed;
    hook("model").append(
      show(Object.assign(document.createElement("option"), { value: OWN }), words("findOwnModel")),
    );
    hook("model").addEventListener("change", () => this.#choose());
    hook("model-files").addEventListener("change", () => {
      this.#files = [...hook("model-files").files];
      this.#choose();
    });
    this.#describe();
    void this.#list();
  }

  /** Whether there is a model to load. */
  get chosen() {
    return this.#model !== undefined || this.#files.length > 0;
  }

  get #model() {
    return this.#published.find(({ name }) => name === this.#find("model").value);
  }

  /** What the worker opens, and a name that tells the model from others. */
  async source() {
    const model = this.#model;
    if (model) {
      const sums = model.files.map(({ sha256 }) => sha256);
      return { source: { files: model.files }, name: await sumOf(sums) };
    }
    const sums = this.#files.map(async (file) =>
      hex(await digest(new Uint8Array(await file.arrayBuffer()))),
    );
    return { source: { blobs: this.#files }, name: await sumOf(await Promise.all(sums)) };
  }

  /** Ask the site for its models; the first one is chosen, unless the visitor was faster. */
  async #list() {
    try {
      this.#published = await published("find");
    } catch (error) {
      console.error(error);
      show(this.#find("model-info"), words("findNoModels", /** @type {any} */ (wordsOf(error))));
      return;
    }
    const options = this.#published.map(({ name, title }) => new Option(title, name));
    this.#find("model").prepend(...options);
    if (!this.#chose && options.length) {
      options[0].selected = true;
      this.#describe();
      this.#changed();
    }
  }

  #choose() {
    this.#chose = true;
    this.#describe();
    this.#changed();
  }

  /** Say what the model needs, before anything is fetched. */
  #describe() {
    const model = this.#model;
    const line = this.#find("model-info");
    this.#find("model-files").parentElement.hidden = model !== undefined;
    if (model) {
      const { title, bytes, memory, licence } = model;
      show(line, words("findNeeds", title, bytes, memory, licence));
    } else if (this.#files.length) {
      let bytes = 0;
      for (const { size } of this.#files) bytes += size;
      show(line, words("findOwnNeeds", bytes, bytes * MEMORY));
    } else show(line, "");
  }
}

/** One hash of several, in any order. @param {string[]} sums */
const sumOf = async (sums) => hex(await digest(new TextEncoder().encode(sums.sort().join())));
