// @ts-check
/**
 * The buttons that copy what is shown, as JSON or as CSV.
 */

import { toCsv, toJson } from "../results.js";
import { text } from "../text.js";

/** How long a button says what it has done, in milliseconds. */
const SAID = 2000;

export class Copies {
  #buttons;
  #results;
  #area;

  /**
   * @param {HTMLElement} root
   * @param {() => import("../results.js").Result[]} results  what is shown
   */
  constructor(root, results) {
    const find = (/** @type {string} */ selector) =>
      /** @type {any} */ (root.querySelector(selector));
    this.#results = results;
    this.#area = /** @type {HTMLTextAreaElement} */ (find("textarea"));
    this.#buttons = [
      { button: /** @type {HTMLButtonElement} */ (find("[data-testid=copy-json]")), write: toJson },
      { button: /** @type {HTMLButtonElement} */ (find("[data-testid=copy-csv]")), write: toCsv },
    ];
    for (const { button, write } of this.#buttons) {
      button.addEventListener("click", () => void this.#copy(button, write));
    }
    this.relabel();
    this.update();
  }

  /** Say it again, in another language; or what the buttons do, after what one has done. */
  relabel() {
    const [json, csv] = this.#buttons;
    json.button.textContent = text.copyJson;
    csv.button.textContent = text.copyCsv;
  }

  /** What is shown has changed. */
  update() {
    const none = !this.#results().length;
    for (const { button } of this.#buttons) button.disabled = none;
    this.#area.hidden = true;
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {(results: import("../results.js").Result[]) => string} write
   */
  async #copy(button, write) {
    const content = write(this.#results());
    let words = text.copied;
    try {
      await navigator.clipboard.writeText(content);
      this.#area.hidden = true;
    } catch {
      // Not allowed here: show the text, marked, so that the keyboard can copy it.
      this.#area.value = content;
      this.#area.hidden = false;
      this.#area.select();
      words = text.copyByKeys;
    }
    button.textContent = words;
    setTimeout(() => this.relabel(), SAID);
  }
}
