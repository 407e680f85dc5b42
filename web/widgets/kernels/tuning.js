// @ts-check
/**
 * Tuning: a button that has the kernels of the model on the page timed on this device, and what came
 * of it, in words.
 */

import { follow, show } from "../../i18n/show.js";
import { NotReady } from "../../engine/engine.js";
import { say, words, wordsOf } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

/** @typedef {{kind: keyof typeof text.tuningWarnings, kernel: string, why: string}} Warning  see py/tallow/runtime/tuning.py */

export class Tuning {
  #root;
  #button;
  #bar;
  #said;
  #warned;
  #engine;
  #hear;
  /** The model that could be tuned now. @type {(() => Promise<string>) | null} */
  #find = null;
  /** @type {Warning[]} */
  #warnings = [];
  #running = false;
  #stopping = false;
  /** What came of the last tuning, and on which device. */
  #result = { words: () => "", device: "" };

  /**
   * @param {HTMLElement} root
   * @param {import("../../engine/engine.js").Engine} engine
   * @param {object} hear
   * @param {() => void} hear.begun
   * @param {(reloaded: boolean) => void} hear.over  whether the model was loaded again
   */
  constructor(root, engine, hear) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#root = root;
    this.#engine = engine;
    this.#hear = hear;
    this.#button = /** @type {HTMLButtonElement} */ (find("button"));
    this.#bar = /** @type {HTMLProgressElement} */ (find("progress"));
    this.#said = /** @type {HTMLElement} */ (find(".said"));
    this.#warned = /** @type {HTMLElement} */ (find(".warned"));
    follow(root, () => {
      this.#show();
      this.#showWarnings();
    });
    this.#button.addEventListener("click", () => void (this.#running ? this.#stop() : this.#run()));
  }

  get running() {
    return this.#running;
  }

  /**
   * @param {(() => Promise<string>) | null} find  the model to tune; null while something else runs
   */
  offer(find) {
    this.#find = find;
    this.#show();
  }

  /** @param {Warning[]} warnings */
  warn(warnings) {
    this.#warnings.push(...warnings);
    this.#showWarnings();
  }

  /** Each once, however often it came. */
  #showWarnings() {
    const words = this.#warnings.map(({ kind, kernel, why }) =>
      text.tuningWarnings[kind](why, kernel),
    );
    this.#warned.replaceChildren(
      ...[...new Set(words)].map((textContent) =>
        Object.assign(document.createElement("p"), { textContent }),
      ),
    );
  }

  #show() {
    if (this.#running) return;
    const { device } = this.#engine;
    const numpy = device === "numpy";
    const said = this.#result.device === device ? this.#result.words() : "";
    this.#root.dataset.state = "idle";
    show(this.#button, words("tune"));
    this.#button.disabled = numpy || !this.#find;
    this.#button.title = numpy ? text.nothingToTune : this.#find ? "" : text.noTuningYet;
    show(this.#said, () => (numpy ? text.nothingToTune : said || text.tuning));
  }

  async #run() {
    const find = this.#find;
    if (!find) return;
    const { device } = this.#engine;
    this.#running = true;
    this.#stopping = false;
    this.#root.dataset.state = "running";
    show(this.#button, words("cancel"));
    this.#warnings = [];
    this.#showWarnings();
    this.#bar.removeAttribute("value");
    show(this.#said, words("preparing"));
    this.#hear.begun();
    let reloaded = false;
    let result = () => "";
    try {
      const model = await find();
      const tuned = await this.#engine.tune(model, (done, total) => this.#progress(done, total));
      reloaded = Boolean(tuned.facts);
      this.warn(tuned.warnings);
      result = () => text.tuned(model, tuned);
    } catch (error) {
      const why = wordsOf(error);
      if (!(error instanceof NotReady)) result = () => text.tuningFailed(say(why));
    }
    this.#running = false;
    this.#result = { words: result, device };
    this.#show();
    this.#hear.over(reloaded);
  }

  /**
   * @param {number} done
   * @param {number} total
   */
  #progress(done, total) {
    this.#bar.max = total;
    this.#bar.value = done;
    if (!this.#stopping) show(this.#said, words("tuningOp", Math.min(done + 1, total), total));
  }

  async #stop() {
    this.#stopping = true;
    show(this.#said, words("cancelling"));
    await this.#engine.stopTuning().catch(() => {}); // the tuning itself tells what went wrong
  }
}
