// @ts-check
/**
 * A button that tunes the kernels of the page's model for this device, and a text with the result.
 */

import { DEVICES } from "../../shared/devices.js";
import { follow, show } from "../../i18n/show.js";
import { NotReady } from "../../engine/engine.js";
import { say, words, wordsOf } from "../../i18n/messages.js";
import { text } from "../../i18n/text.js";

/** @typedef {import("../../shared/contract.js").Warned} Warning */

export class Tuning {
  #root;
  #button;
  #bar;
  #status;
  #warned;
  #engine;
  #listener;
  /** The model that can be tuned now. @type {(() => Promise<string>) | null} */
  #find = null;
  /** @type {Warning[]} */
  #warnings = [];
  #running = false;
  #stop = new AbortController();
  /** The result of the last tuning, and its device. */
  #result = { words: () => "", device: "" };

  /**
   * @param {HTMLElement} root
   * @param {import("../../engine/engine.js").Engine} engine
   * @param {object} listener
   * @param {() => void} listener.started
   * @param {(reloaded: boolean) => void} listener.ended  reloaded: whether the model was loaded
   *   again, or will be when it is used
   */
  constructor(root, engine, listener) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#root = root;
    this.#engine = engine;
    this.#listener = listener;
    this.#button = /** @type {HTMLButtonElement} */ (find("button"));
    this.#bar = /** @type {HTMLProgressElement} */ (find("progress"));
    this.#status = /** @type {HTMLElement} */ (find(".said"));
    this.#warned = /** @type {HTMLElement} */ (find(".warned"));
    follow(root, () => {
      this.#show();
      this.#showWarnings();
    });
    this.#button.addEventListener(
      "click",
      () => void (this.#running ? this.#cancel() : this.#run()),
    );
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

  /** Show each warning once. */
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
    const { onGpu, elsewhere } = DEVICES[device];
    const nothing = elsewhere ? text.tunedThere : text.nothingToTune;
    const result = this.#result.device === device ? this.#result.words() : "";
    this.#root.dataset.state = "idle";
    show(this.#button, words("tune"));
    this.#button.disabled = !onGpu || !this.#find;
    this.#button.title = !onGpu ? nothing : this.#find ? "" : text.noTuningYet;
    show(this.#status, () => (onGpu ? result || text.tuning : nothing));
  }

  async #run() {
    const find = this.#find;
    if (!find) return;
    const { device } = this.#engine;
    this.#running = true;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#root.dataset.state = "running";
    show(this.#button, words("cancel"));
    this.#warnings = [];
    this.#showWarnings();
    this.#bar.removeAttribute("value");
    show(this.#status, words("preparing"));
    this.#listener.started();
    let reloaded = false;
    let result = () => text.tuningCancelled;
    try {
      const model = await find();
      const tuned = await this.#engine.tune(model, signal, (soFar) => {
        reloaded = soFar.measured > 0; // if it is stopped now, the next use loads the model
        result = () => text.tuned(model, soFar);
        this.#progress(soFar);
      });
      reloaded = Boolean(tuned.facts);
      this.warn(tuned.warnings);
      result = () => text.tuned(model, tuned);
    } catch (error) {
      const why = wordsOf(error);
      if (!signal.aborted) {
        reloaded = false;
        result = () => (error instanceof NotReady ? "" : text.tuningFailed(say(why)));
      }
    }
    this.#running = false;
    this.#result = { words: result, device };
    this.#show();
    this.#listener.ended(reloaded);
  }

  /** @param {import("../../engine/types.js").Tuned} soFar */
  #progress({ measured, ops, warnings }) {
    this.#bar.max = ops;
    this.#bar.value = measured;
    this.warn(warnings);
    if (this.#stop.signal.aborted) return;
    show(this.#status, words("tuningOp", Math.min(measured + 1, ops), ops));
  }

  #cancel() {
    this.#stop.abort();
    show(this.#status, words("cancelling"));
  }
}
